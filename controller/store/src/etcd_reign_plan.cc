#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/store/src/etcd_values.h"
#include "plimsoll/core/check.h"
#include "plimsoll/store/etcd_plan.h"

namespace plimsoll {
namespace {

using internal::EtcdKeys;
using internal::EtcdMeta;

// etcd refuses requests above 1.5 MiB by default.
constexpr std::size_t kBytesMax = std::size_t{1} << 20;

std::size_t SizeOf(const EtcdOp& op) {
  if (const auto* put = std::get_if<EtcdPut>(&op)) return put->key.size() + put->value.size();
  if (const auto* erase = std::get_if<EtcdDelete>(&op)) return erase->key.size();
  return 0;
}

}  // namespace

// Splits a batch into steps.
class EtcdReignPlan::Splitter {
 public:
  Splitter(const EtcdReignPlan& plan, const WriteBatch& batch)
      : plan_(plan), batch_(batch), keys_(plan.prefix_) {
    for (const BoundKey& key : batch.erase) bounds_[key] = nullptr;
    for (const Bound& bound : batch.put) bounds_[bound.key] = &bound;
  }

  std::deque<Step> Split() {
    Begin();
    if (FitsInOne()) {
      for (const auto& [key, bound] : bounds_) Write(key, bound);
    } else {
      // C5: what is freed is durable before anybody else may have it.
      for (const auto& [key, bound] : bounds_) WriteLowered(key, bound);
      NextStep();
      for (const auto& [key, bound] : bounds_) WriteRaised(key, bound);
    }
    End();
    return std::move(steps_);
  }

 private:
  // The loss, the longest hold and what operators say: before any bound.
  void Begin() {
    steps_.emplace_back();
    Meta meta{plan_.epoch_, plan_.lost_, plan_.longest_hold_};
    if (batch_.longest_hold.has_value()) {
      meta.longest_hold = std::max(meta.longest_hold, *batch_.longest_hold);
    }
    if (batch_.new_epoch.has_value()) {
      meta.lost = absl::StrCat("Agents hold grants of a later reign than the store knew (",
                               meta.epoch, "): it was older than the fleet");
      meta.epoch = batch_.new_epoch->value;
      Add(EtcdDelete{keys_.Bounds(), EtcdKeys::EndOf(keys_.Bounds())});
      steps_.back().erases_all = true;
    }
    if (batch_.longest_hold.has_value() || batch_.new_epoch.has_value()) WriteMeta(meta);
    WriteDocuments();
    WriteAudit();
    // No key may be written twice in one transaction.
    if (batch_.new_epoch.has_value()) NextStep();
    meta_ = std::move(meta);
  }

  // The bounds tell everything only once all of them are there.
  void End() {
    if (batch_.learned) {
      meta_.lost.clear();
      const bool taken = steps_.back().meta.has_value();
      if (taken && steps_.size() == 1 && !batch_.new_epoch.has_value()) {
        ReplaceMeta();
      } else {
        if (taken) NextStep();
        WriteMeta(meta_);
      }
    }
    std::erase_if(steps_, [](const Step& step) { return step.ops.empty(); });
  }

  void ReplaceMeta() {
    Step& step = steps_.back();
    std::erase_if(step.ops, [this](const EtcdOp& op) {
      const auto* put = std::get_if<EtcdPut>(&op);
      return put != nullptr && put->key == keys_.Epoch();
    });
    WriteMeta(meta_);
  }

  void WriteMeta(const Meta& meta) {
    Add(EtcdPut{keys_.Epoch(),
                internal::EncodeMeta(EtcdMeta{meta.epoch, meta.lost, meta.longest_hold})});
    steps_.back().meta = meta;
  }

  void WriteDocuments() {
    std::map<DocumentKey, const Document*> documents;
    for (const DocumentKey& key : batch_.erase_documents) documents[key] = nullptr;
    for (const Document& document : batch_.put_documents) documents[document.key] = &document;
    for (const auto& [key, document] : documents) {
      if (document == nullptr) {
        Add(EtcdDelete{keys_.Of(key)});
      } else {
        Add(EtcdPut{keys_.Of(key), internal::EncodeDocument(*document)});
      }
    }
  }

  void WriteAudit() {
    if (batch_.audit.empty()) return;
    const auto count = std::min<std::ptrdiff_t>(std::ssize(batch_.audit), kAuditKeep);
    std::int64_t last = plan_.audits_;
    for (auto record = batch_.audit.end() - count; record != batch_.audit.end(); ++record) {
      Add(EtcdPut{keys_.Audit(++last), *record});
      steps_.back().audits = last;
    }
    if (last <= kAuditKeep) return;
    Add(EtcdDelete{keys_.Audit(0), keys_.Audit(last - kAuditKeep + 1)});
  }

  bool FitsInOne() const {
    const Step& step = steps_.back();
    std::size_t bytes = step.bytes;
    for (const auto& [key, bound] : bounds_) bytes += BytesOf(key, bound);
    // One more for the end of learning.
    return step.ops.size() + bounds_.size() + 1 <= plan_.ops_max_ && bytes <= kBytesMax;
  }

  std::size_t BytesOf(const BoundKey& key, const Bound* bound) const {
    const std::size_t name = keys_.Of(key).size();
    return bound == nullptr ? name : name + internal::EncodeBound(*bound).size();
  }

  void Write(const BoundKey& key, const Bound* bound) {
    if (bound == nullptr) {
      Add(EtcdDelete{keys_.Of(key)});
      steps_.back().bounds[key] = std::nullopt;
    } else {
      Add(EtcdPut{keys_.Of(key), internal::EncodeBound(*bound)});
      steps_.back().bounds[key] =
          Kept{bound->steps, bound->lease, bound->base_lease, bound->call_deadline};
    }
  }

  // The bound as far as it is no larger than it was.
  void WriteLowered(const BoundKey& key, const Bound* bound) {
    if (bound == nullptr) return Write(key, bound);
    const Kept* const old = Old(key);
    if (old == nullptr) return;
    if (FitsUnder(bound->steps, old->steps)) return Write(key, bound);
    Bound lowered = *bound;
    lowered.steps = Lowest(bound->steps, old->steps);
    if (lowered.steps == old->steps) return;
    lowered.lease = std::max(bound->lease, old->lease);
    lowered.base_lease = std::max(bound->base_lease, old->base_lease);
    lowered.call_deadline = std::max(bound->call_deadline, old->call_deadline);
    Write(key, &lowered);
  }

  void WriteRaised(const BoundKey& key, const Bound* bound) {
    if (bound == nullptr) return;
    const Kept* const old = Old(key);
    if (old == nullptr || !FitsUnder(bound->steps, old->steps)) Write(key, bound);
  }

  const Kept* Old(const BoundKey& key) const {
    if (batch_.new_epoch.has_value()) return nullptr;
    const auto found = plan_.bounds_.find(key);
    return found == plan_.bounds_.end() ? nullptr : &found->second;
  }

  void Add(EtcdOp op) {
    const std::size_t bytes = SizeOf(op);
    const Step& last = steps_.back();
    const bool full = last.ops.size() >= plan_.ops_max_ || last.bytes + bytes > kBytesMax;
    if (full && !last.ops.empty()) NextStep();
    steps_.back().ops.push_back(std::move(op));
    steps_.back().bytes += bytes;
  }

  void NextStep() {
    if (!steps_.back().ops.empty()) steps_.emplace_back();
  }

  const EtcdReignPlan& plan_;
  const WriteBatch& batch_;
  const EtcdKeys keys_;
  std::map<BoundKey, const Bound*> bounds_;  // null: to be erased
  Meta meta_{};
  std::deque<Step> steps_;
};

EtcdReignPlan::EtcdReignPlan(EtcdReignStart start)
    : prefix_(std::move(start.prefix)),
      token_(start.token),
      ops_max_(static_cast<std::size_t>(start.ops_max - 1)),
      epoch_(start.state.epoch.value),
      lost_(std::move(start.lost)),
      longest_hold_(start.state.longest_hold),
      writes_(start.writes),
      audits_(start.audits) {
  for (const Bound& bound : start.state.bounds) {
    bounds_[bound.key] = {bound.steps, bound.lease, bound.base_lease, bound.call_deadline};
  }
}

absl::Status EtcdReignPlan::Begin(const WriteBatch& batch) {
  PLIMSOLL_CHECK(!batch_.has_value() && steps_.empty(), "a batch ends before the next begins");
  if (over_) return outcome_;
  if (batch.new_epoch.has_value() && batch.new_epoch->value <= epoch_) {
    return absl::InvalidArgumentError(
        absl::StrCat("etcd: epoch ", batch.new_epoch->value, " does not follow epoch ", epoch_));
  }
  failed_ = false;
  outcome_ = absl::OkStatus();
  batch_ = batch;
  return outcome_;
}

std::optional<EtcdTxn> EtcdReignPlan::Next() {
  if (over_ || failed_) return std::nullopt;
  if (!under_way_.has_value()) {
    if (batch_.has_value()) PlanBatch();
    if (steps_.empty()) return std::nullopt;
    under_way_ = std::move(steps_.front());
    steps_.pop_front();
    maybe_landed_ = false;
  }
  return ToTxn(*under_way_);
}

void EtcdReignPlan::PlanBatch() {
  const WriteBatch batch = *std::exchange(batch_, std::nullopt);
  steps_ = Splitter(*this, batch).Split();
}

EtcdTxn EtcdReignPlan::ToTxn(const Step& step) const {
  const EtcdKeys keys(prefix_);
  EtcdTxn txn;
  txn.compare = {{keys.Leader(), EtcdCompare::Target::kCreateRevision, token_},
                 {keys.Writes(), EtcdCompare::Target::kValue, 0, absl::StrCat(writes_)}};
  txn.success = step.ops;
  txn.success.push_back(EtcdPut{keys.Writes(), absl::StrCat(writes_ + 1)});
  txn.failure = {EtcdRange{.key = keys.Leader()}, EtcdRange{.key = keys.Writes()}};
  return txn;
}

void EtcdReignPlan::On(const absl::StatusOr<EtcdTxnResult>& result) {
  PLIMSOLL_CHECK(under_way_.has_value(), "an answer belongs to a transaction under way");
  if (result.ok()) return result->succeeded ? Land() : OnFailedGuard(*result);
  if (absl::IsUnavailable(result.status())) {
    maybe_landed_ = true;
  } else if (!maybe_landed_ || absl::IsInvalidArgument(result.status())) {
    // It is as if it had never been: its number is free.
    under_way_.reset();
  }
  Fail(result.status());
}

// Either an earlier sending has landed, or the reign is over.
void EtcdReignPlan::OnFailedGuard(const EtcdTxnResult& result) {
  const bool complete = result.ranges.size() == 2;
  const EtcdRangeResult leader = complete ? result.ranges[0] : EtcdRangeResult{};
  const EtcdRangeResult writes = complete ? result.ranges[1] : EtcdRangeResult{};
  const bool reigns = !leader.kvs.empty() && leader.kvs[0].create_revision == token_;
  const bool landed =
      reigns && !writes.kvs.empty() && writes.kvs[0].value == absl::StrCat(writes_ + 1);
  if (landed) return Land();
  over_ = true;
  Fail(absl::FailedPreconditionError(
      reigns ? "somebody else has written what only the leader may write"
             : "another controller has taken over, or the lease has ended"));
}

void EtcdReignPlan::Land() {
  const Step step = *std::exchange(under_way_, std::nullopt);
  ++writes_;
  if (step.erases_all) bounds_.clear();
  for (const auto& [key, kept] : step.bounds) {
    if (kept.has_value()) {
      bounds_[key] = *kept;
    } else {
      bounds_.erase(key);
    }
  }
  if (step.meta.has_value()) {
    epoch_ = step.meta->epoch;
    lost_ = step.meta->lost;
    longest_hold_ = step.meta->longest_hold;
  }
  if (step.audits.has_value()) audits_ = *step.audits;
}

void EtcdReignPlan::Fail(absl::Status why) {
  failed_ = true;
  outcome_ = std::move(why);
  batch_.reset();
  steps_.clear();
}

// A transaction without a range would be answered by any member from what it has: only a range
// makes etcd ask whether that is the newest.
EtcdTxn EtcdReignPlan::ConfirmTxn(const EtcdReignToken& reign) {
  const EtcdKeys keys(reign.prefix);
  EtcdTxn txn;
  txn.compare = {{keys.Leader(), EtcdCompare::Target::kCreateRevision, reign.token}};
  txn.success = {EtcdRange{.key = keys.Leader(), .keys_only = true}};
  txn.failure = {EtcdRange{.key = keys.Leader()}};
  return txn;
}

absl::Status EtcdReignPlan::ReadConfirm(const EtcdTxnResult& result) {
  if (result.succeeded) return absl::OkStatus();
  const bool led = !result.ranges.empty() && !result.ranges[0].kvs.empty();
  if (!led) return absl::FailedPreconditionError("the lease of this reign has ended");
  const absl::StatusOr<Leader> leader = internal::DecodeLeader(result.ranges[0].kvs[0].value);
  return absl::FailedPreconditionError(
      absl::StrCat("controller ", leader.ok() ? leader->id : "unknown", " has taken over"));
}

}  // namespace plimsoll
