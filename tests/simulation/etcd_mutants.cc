#include "tests/simulation/etcd_mutants.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/match.h"

namespace plimsoll::internal {
namespace {

// What is asked of etcd for the writes of a reign: first its token is compared, then the number of
// the write before.
class WriteSaboteur : public Sabotage {
 public:
  void OnEtcdRequest(EtcdRequest& request) override {
    auto* txn = std::get_if<EtcdTxn>(&request.what);
    if (request.purpose == EtcdPurpose::kTake) NoteLeader(request.controller, *txn);
    if (request.purpose == EtcdPurpose::kWrite) Change(request.controller, *txn);
  }

 protected:
  // The value of the leader key as this controller writes it.
  const EtcdPut& leader(int controller) const { return leaders_.at(controller); }

 private:
  virtual void Change(int controller, EtcdTxn& write) = 0;

  void NoteLeader(int controller, const EtcdTxn& take) {
    for (const EtcdOp& op : take.success) {
      const auto* put = std::get_if<EtcdPut>(&op);
      if (put != nullptr && absl::EndsWith(put->key, "/leader")) leaders_[controller] = *put;
    }
  }

  std::map<int, EtcdPut> leaders_;
};

class WriteUnguarded final : public WriteSaboteur {
  void Change(int /*controller*/, EtcdTxn& write) override {
    write.compare.erase(write.compare.begin());
  }
};

class GuardedByName final : public WriteSaboteur {
  void Change(int controller, EtcdTxn& write) override {
    write.compare[0] = {leader(controller).key, EtcdCompare::Target::kValue, 0,
                        leader(controller).value};
  }
};

class WriteUnnumbered final : public WriteSaboteur {
  void Change(int /*controller*/, EtcdTxn& write) override { write.compare.pop_back(); }
};

bool IsUnknownWrite(const EtcdRequest& request, const EtcdAnswer& answer) {
  return request.purpose == EtcdPurpose::kWrite && absl::IsUnavailable(answer.status);
}

class UnknownIsFailed final : public Sabotage {
  void OnEtcdAnswer(const EtcdRequest& request, EtcdAnswer& answer) override {
    if (!IsUnknownWrite(request, answer)) return;
    answer.status = absl::ResourceExhaustedError("taken for refused");
  }
};

class UnknownIsLanded final : public Sabotage {
  void OnEtcdAnswer(const EtcdRequest& request, EtcdAnswer& answer) override {
    if (!IsUnknownWrite(request, answer)) return;
    answer.status = absl::OkStatus();
    answer.txn.succeeded = true;
  }
};

// Of a batch what rises goes first, in a transaction of its own.
class RaisesFirst final : public Sabotage {
  void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& found,
               Instant& /*now*/) override {
    durable_.clear();
    for (const Bound& bound : found.bounds) durable_[bound.key] = bound.steps;
  }
  std::vector<WriteBatch> OnBatch(WriteBatch batch) override {
    WriteBatch raises = std::move(batch);
    WriteBatch others;
    others.erase = std::exchange(raises.erase, {});
    for (const Bound& bound : std::exchange(raises.put, {})) {
      const auto old = durable_.find(bound.key);
      const bool rises = old == durable_.end() || !FitsUnder(bound.steps, old->second);
      (rises ? raises : others).put.push_back(bound);
      durable_[bound.key] = bound.steps;
    }
    for (const BoundKey& key : others.erase) durable_.erase(key);
    if (others.empty()) return {std::move(raises)};
    if (raises.empty()) return {std::move(others)};
    return {std::move(raises), std::move(others)};
  }

  std::map<BoundKey, Steps> durable_;
};

// Without a range any member answers from what it has.
class ConfirmedByMember final : public Sabotage {
  void OnEtcdRequest(EtcdRequest& request) override {
    if (request.purpose != EtcdPurpose::kConfirm) return;
    auto& txn = std::get<EtcdTxn>(request.what);
    txn.success.clear();
    txn.failure.clear();
  }
};

// What has arrived while a round was under way counts as confirmed by it.
class ConfirmedForLater final : public Sabotage {
  std::vector<Event> OnEvent(Epoch /*epoch*/, Event event) override {
    const auto* confirmed = std::get_if<ConfirmedEvent>(&event);
    ends_now_ = confirmed != nullptr && confirmed->status.ok();
    return {std::move(event)};
  }
  std::optional<absl::Status> OnConfirm() override {
    if (!std::exchange(ends_now_, false)) return std::nullopt;
    return absl::OkStatus();
  }

  bool ends_now_ = false;
};

// Whoever has not been told that the lease has ended believes to reign.
class ConfirmedByLease final : public Sabotage {
  std::optional<absl::Status> OnConfirm() override { return absl::OkStatus(); }
};

// What was not read before a compaction is not there.
class CompactionIgnored final : public Sabotage {
  void OnEtcdAnswer(const EtcdRequest& request, EtcdAnswer& answer) override {
    if (request.purpose != EtcdPurpose::kPage || !absl::IsOutOfRange(answer.status)) return;
    answer.status = absl::OkStatus();
    answer.range = {.kvs = {}, .more = false, .revision = 1};
  }
};

// Holds are counted from when the one who led before was last seen to lead.
class HeldSinceLastSeen final : public Sabotage {
  void OnEtcdAnswer(const EtcdRequest& request, EtcdAnswer& answer) override {
    if (request.purpose == EtcdPurpose::kLook && answer.status.ok() &&
        !answer.txn.ranges.at(0).kvs.empty()) {
      seen_[request.controller] = time();
    }
    if (request.purpose == EtcdPurpose::kTake) took_ = request.controller;
  }
  void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& /*found*/,
               Instant& now) override {
    const auto seen = seen_.find(took_);
    if (seen != seen_.end()) now = now - (time() - seen->second);
  }

  std::map<int, Instant> seen_;
  int took_ = 0;
};

template <typename T>
std::unique_ptr<Sabotage> MakeOne() {
  return std::make_unique<T>();
}

}  // namespace

std::vector<Mutant> EtcdMutants() {
  return {
      {"WriteUnguarded", "E1", "writes are not guarded by the token", "etcd-three", 5,
       MakeOne<WriteUnguarded>},
      {"GuardedByName", "E1", "writes are guarded by who leads, not by the token", "etcd-hot", 22,
       MakeOne<GuardedByName>},
      {"WriteUnnumbered", "E2", "writes do not name the one before", "etcd-slow", 2,
       MakeOne<WriteUnnumbered>},
      {"UnknownIsFailed", "E2", "a write without an answer counts as not done", "etcd-slow", 3,
       MakeOne<UnknownIsFailed>},
      {"UnknownIsLanded", "E2", "a write without an answer counts as done", "etcd-slow", 9,
       MakeOne<UnknownIsLanded>},
      {"RaisesFirst", "E3", "of a batch what rises is written first", "etcd-three", 3,
       MakeOne<RaisesFirst>},
      {"ConfirmedByMember", "E4", "a confirmation is answered by any member", "etcd-split", 11,
       MakeOne<ConfirmedByMember>},
      {"ConfirmedForLater", "C6", "a round confirms what arrived after it began", "etcd-paused",
       159, MakeOne<ConfirmedForLater>},
      {"ConfirmedByLease", "E4", "a lease that is not known to have ended confirms", "etcd-split",
       1, MakeOne<ConfirmedByLease>},
      {"CompactionIgnored", "C9", "what a compaction keeps from being read is not there",
       "etcd-slow", 4, MakeOne<CompactionIgnored>},
      {"HeldSinceLastSeen", "C9", "holds count from when the former leader was last seen",
       "etcd-three", 3, MakeOne<HeldSinceLastSeen>},
  };
}

}  // namespace plimsoll::internal
