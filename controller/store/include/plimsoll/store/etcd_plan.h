#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/store/etcd_types.h"
#include "plimsoll/store/operator_word.h"

namespace plimsoll {

// The protocol between a controller and etcd, without the network: what to ask next, and what an
// answer means. A store drives it with a client; a simulation may drive it with an etcd of its own.
// All classes here are pure and thread-compatible.

// What a process remembers of the etcd that it has seen, so that it notices if that was lost or
// replaced by an older one while it ran.
struct EtcdMemory {
  std::string log_id;      // empty: none was seen
  std::int64_t epoch = 0;  // the largest that was seen, in etcd or at agents

  void Note(const std::string& seen_log_id, std::int64_t seen_epoch) {
    if (!seen_log_id.empty()) log_id = seen_log_id;
    if (seen_epoch > epoch) epoch = seen_epoch;
  }
};

// What was found at a look around. Nothing is changed by looking.
struct EtcdLook {
  std::optional<Leader> leader;  // with empty addresses if what is there cannot be read
  bool empty = false;            // there is no key at all below the prefix
  std::string log_id;
  std::int64_t epoch_revision = 0;
  std::int64_t epoch = 0;
  std::string lost;        // as it is noted there
  std::string fault = {};  // what cannot be read
  absl::Duration longest_hold;
  std::int64_t audits = 0;  // the number of the last audit record
};
EtcdTxn LookTxn(const std::string& prefix);
absl::StatusOr<EtcdLook> ReadLook(const std::string& prefix, const EtcdTxnResult& result);

// As much of it as shows who leads, and that the log is the one that was: a single range, so that
// one transaction looks at many logs.
struct EtcdSight {
  std::optional<Leader> leader;  // as in EtcdLook
  std::string log_id;
  std::int64_t epoch = 0;
};
EtcdRange SightRange(const std::string& prefix);
EtcdSight ReadSight(const std::string& prefix, const EtcdRangeResult& range);

// How to take over.
struct EtcdTakeOverOptions {
  std::string prefix = {};
  Leader self = {};
  std::int64_t lease = 0;
  std::int64_t first_epoch = 1;   // Unix time in milliseconds
  std::string fresh_log_id = {};  // random
  OperatorWord word = OperatorWord::kNone;
  EtcdMemory memory = {};
};

// Which reign: where its keys are, and the create revision of its leader key, which no other has.
struct EtcdReignToken {
  std::string prefix = {};
  std::int64_t token = 0;
};

// What a reign begins with.
struct EtcdReignStart {
  std::string prefix = {};
  std::int64_t token = 0;  // the create revision of the leader key: what every write is guarded by
  std::int64_t writes = 0;
  std::int64_t audits = 0;
  std::string log_id;
  std::string lost;
  StoreState state;
  int ops_max = kEtcdOpsMax;  // operations that one transaction may have; at least 6
};

// Becomes the leader, after a look that found none: one transaction takes leadership and makes the
// new epoch durable, then all bounds are read. Holds may be counted from when it is done, not
// before.
class EtcdTakeOver {
 public:
  EtcdTakeOver(const EtcdLook& look, EtcdTakeOverOptions options);

  // What to ask now; nothing once it has ended.
  using Request = std::variant<EtcdTxn, EtcdRange>;
  std::optional<Request> Next() const;
  // What came of it: the first for transactions, the second for ranges. Whatever fails ends it.
  void On(const absl::StatusOr<EtcdTxnResult>& result);
  void On(const absl::StatusOr<EtcdRangeResult>& result);

  // Once Next() has nothing more. OK: the reign has begun. kAborted: another controller was faster.
  // Anything else: it is not known who leads, so the lease must not be kept alive any more, and not
  // be used again.
  const absl::Status& outcome() const { return outcome_; }
  // Requires the outcome OK.
  EtcdReignStart TakeStart() { return std::move(start_); }

 private:
  enum class Phase { kTake, kBounds, kDocuments, kMark, kDone };

  void Judge(const EtcdLook& look);
  EtcdTxn TakeTxn() const;
  EtcdTxn MarkTxn() const;
  EtcdRange Page(const std::string& start) const;
  void ReadPage(const EtcdRangeResult& page);
  bool ReadBound(const EtcdKeyValue& kv);
  void Lose(const std::string& why);
  void End(absl::Status outcome);

  const EtcdTakeOverOptions options_;
  const std::int64_t epoch_revision_;
  Phase phase_ = Phase::kTake;
  bool writes_log_id_ = false;
  // Of the pages that are being read.
  std::string from_;
  std::int64_t at_revision_ = 0;
  EtcdReignStart start_;
  absl::Status outcome_;
};

// The transactions of one reign, and the books of what is durable. At most one is under way. Each
// compares the token, and the number of the last one that landed, and puts its own number: so it
// lands at most once however often it is sent, and never after a later one. One whose outcome is
// unknown is sent again before anything else is.
//
// Batches of more operations than a transaction may have are split: what frees first (rule C5),
// then what is raised. A batch that fails half way may have landed in part; the core treats each
// bound of it as possibly the old, possibly the new one.
class EtcdReignPlan {
 public:
  explicit EtcdReignPlan(EtcdReignStart start);

  // Takes a batch; Next() then says what to send. Requires that Next() has nothing more. Returns
  // kInvalidArgument for an epoch that does not rise, kFailedPrecondition if the reign is over.
  absl::Status Begin(const WriteBatch& batch);
  // The transaction to send now; nothing if the batch has ended.
  std::optional<EtcdTxn> Next();
  // What came of it. kUnavailable: nobody knows. Other errors: it was refused, and did nothing.
  void On(const absl::StatusOr<EtcdTxnResult>& result);
  // Of the batch that has ended. kFailedPrecondition: the reign is over. Otherwise, if not OK, all,
  // part or nothing of it is durable, or will be.
  const absl::Status& outcome() const { return outcome_; }

  // Asks whether this reign still stands. For those of several shards see etcd_round_plan.h.
  static EtcdTxn ConfirmTxn(const EtcdReignToken& reign);
  static EtcdTxn ConfirmTxn(const EtcdReignStart& start) {
    return ConfirmTxn(EtcdReignToken{start.prefix, start.token});
  }
  static absl::Status ReadConfirm(const EtcdTxnResult& result);

  bool over() const { return over_; }
  std::int64_t epoch() const { return epoch_; }

 private:
  // As much of a bound as is needed to tell what is raised.
  struct Kept {
    Steps steps;
    absl::Duration lease;
    absl::Duration base_lease;
    absl::Duration call_deadline;
  };
  using KeptBounds = std::map<BoundKey, std::optional<Kept>>;
  struct Meta {
    std::int64_t epoch;
    std::string lost;
    absl::Duration longest_hold;
  };
  // A transaction to be, and what is true once it has landed.
  struct Step {
    std::vector<EtcdOp> ops = {};
    std::size_t bytes = 0;
    KeptBounds bounds = {};
    bool erases_all = false;
    std::optional<Meta> meta = {};
    std::optional<std::int64_t> audits = {};
  };
  class Splitter;

  void PlanBatch();
  EtcdTxn ToTxn(const Step& step) const;
  void OnFailedGuard(const EtcdTxnResult& result);
  void Land();
  void Fail(absl::Status why);

  const std::string prefix_;
  const std::int64_t token_;
  const std::size_t ops_max_;  // beside the number of the transaction itself
  std::int64_t epoch_;
  std::string lost_;
  absl::Duration longest_hold_;
  std::int64_t writes_;  // the number of the last transaction that has landed
  std::int64_t audits_;
  std::map<BoundKey, Kept> bounds_;

  std::optional<WriteBatch> batch_;  // not yet split
  std::deque<Step> steps_;           // to come
  std::optional<Step> under_way_;
  bool maybe_landed_ = false;  // the one under way
  bool failed_ = false;        // the batch
  bool over_ = false;
  absl::Status outcome_;
};

}  // namespace plimsoll
