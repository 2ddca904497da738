#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/store/etcd_api.h"
#include "plimsoll/store/etcd_plan.h"

namespace plimsoll::testing {

// An etcd in memory, of which answers and requests can be lost or come late. Leases end when a test
// says so. Thread-safe.
class FakeEtcd {
 public:
  // What becomes of a transaction.
  enum class Fate {
    kAnswered,
    kRequestLost,  // not done, and not answered
    kAnswerLost,   // done, and not answered
    kLate,         // not answered, and done when DeliverLate() is called
    kRefused,      // for good: an etcd that is full
  };

  // The fates of the transactions to come, in order; after them all are answered.
  void Expect(std::vector<Fate> fates) {
    const MutexLock lock(mutex_);
    fates_.assign(fates.begin(), fates.end());
  }
  // Of ranges below this revision: kOutOfRange. Zero: none.
  void CompactBeforeNextPages(int pages) {
    const MutexLock lock(mutex_);
    compactions_ = pages;
  }
  void set_page_limit(std::int64_t limit) {
    const MutexLock lock(mutex_);
    page_limit_ = limit;
  }
  // All that came late, in the order of sending. Returns how many of them did something.
  int DeliverLate() {
    const MutexLock lock(mutex_);
    int done = 0;
    for (const EtcdTxn& txn : std::exchange(late_, {})) {
      if (Check(txn).ok()) done += Apply(txn).succeeded;
    }
    return done;
  }
  void EndLease(std::int64_t lease) {
    const MutexLock lock(mutex_);
    leases_.erase(lease);
    std::erase_if(kvs_, [lease](const auto& entry) { return entry.second.lease == lease; });
    ++revision_;
  }
  // How often a lease was.
  int kept_alive() {
    const MutexLock lock(mutex_);
    return kept_alive_;
  }
  void EndAllLeases() {
    for (std::int64_t lease = 1; lease <= last_lease(); ++lease) EndLease(lease);
  }
  void Wipe() {
    const MutexLock lock(mutex_);
    kvs_.clear();
    leases_.clear();
    revision_ = 1;
  }

  // Behind everybody's back.
  void Put(const std::string& key, const std::string& value) {
    const MutexLock lock(mutex_);
    Apply(EtcdTxn{.success = {EtcdPut{key, value}}});
  }
  void Erase(const std::string& key) {
    const MutexLock lock(mutex_);
    Apply(EtcdTxn{.success = {EtcdDelete{key}}});
  }
  std::map<std::string, std::string> values() const {
    const MutexLock lock(mutex_);
    std::map<std::string, std::string> values;
    for (const auto& [key, kv] : kvs_) values[key] = kv.value;
    return values;
  }
  // Every state that there was, by the transactions that have done something.
  void OnChange(std::function<void(const std::map<std::string, EtcdKeyValue>& kvs)> see) {
    const MutexLock lock(mutex_);
    see_ = std::move(see);
  }
  // Transactions that arrived, whatever became of them.
  std::vector<EtcdTxn> txns() const {
    const MutexLock lock(mutex_);
    return txns_;
  }
  // Ranges that were asked for beside transactions.
  std::vector<EtcdRange> ranges() const {
    const MutexLock lock(mutex_);
    return ranges_;
  }
  std::int64_t last_lease() const {
    const MutexLock lock(mutex_);
    return last_lease_;
  }
  std::unique_ptr<Etcd> MakeClient() { return std::make_unique<Client>(*this); }

  absl::StatusOr<EtcdTxnResult> Send(const EtcdTxn& txn) {
    const MutexLock lock(mutex_);
    txns_.push_back(txn);
    Fate fate = Fate::kAnswered;
    if (!fates_.empty()) {
      fate = fates_.front();
      fates_.pop_front();
    }
    if (fate == Fate::kRefused) return absl::ResourceExhaustedError("database space exceeded");
    if (fate == Fate::kLate) late_.push_back(txn);
    if (fate == Fate::kRequestLost || fate == Fate::kLate) return absl::UnavailableError("timeout");
    if (absl::Status valid = Check(txn); !valid.ok()) return valid;
    EtcdTxnResult result = Apply(txn);
    if (fate == Fate::kAnswerLost) return absl::UnavailableError("timeout");
    return result;
  }

 private:
  class Client final : public Etcd {
   public:
    explicit Client(FakeEtcd& etcd) : etcd_(etcd) {}
    absl::StatusOr<EtcdTxnResult> Txn(const EtcdTxn& txn) override { return etcd_.Send(txn); }
    absl::StatusOr<EtcdRangeResult> Range(const EtcdRange& range) override {
      const MutexLock lock(etcd_.mutex_);
      etcd_.ranges_.push_back(range);
      if (range.revision != 0 && etcd_.compactions_ > 0) {
        --etcd_.compactions_;
        return absl::OutOfRangeError("required revision has been compacted");
      }
      return etcd_.Read(range);
    }
    absl::StatusOr<std::int64_t> Grant(absl::Duration /*ttl*/) override {
      const MutexLock lock(etcd_.mutex_);
      etcd_.leases_.insert(++etcd_.last_lease_);
      return etcd_.last_lease_;
    }
    absl::StatusOr<absl::Duration> KeepAlive(std::int64_t lease) override {
      const MutexLock lock(etcd_.mutex_);
      if (!etcd_.leases_.contains(lease)) return absl::NotFoundError("lease not found");
      ++etcd_.kept_alive_;
      return absl::Seconds(5);
    }
    absl::Status Revoke(std::int64_t lease) override {
      etcd_.EndLease(lease);
      return absl::OkStatus();
    }

   private:
    FakeEtcd& etcd_;
  };

  absl::Status Check(const EtcdTxn& txn) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::size_t most = std::max({txn.compare.size(), txn.success.size(), txn.failure.size()});
    if (most > kEtcdOpsMax) return absl::InvalidArgumentError("too many operations in txn request");
    std::set<std::string> put;
    for (const EtcdOp& op : txn.success) {
      const auto* one = std::get_if<EtcdPut>(&op);
      if (one == nullptr) continue;
      if (!put.insert(one->key).second) return absl::InvalidArgumentError("duplicate key given");
      if (one->lease != 0 && !leases_.contains(one->lease)) {
        return absl::NotFoundError("requested lease not found");
      }
    }
    for (const EtcdOp& op : txn.success) {
      const auto* erase = std::get_if<EtcdDelete>(&op);
      if (erase == nullptr) continue;
      const auto first = put.lower_bound(erase->key);
      const bool hits =
          first != put.end() && (erase->end.empty() ? *first == erase->key : *first < erase->end);
      if (hits) return absl::InvalidArgumentError("duplicate key given");
    }
    return absl::OkStatus();
  }

  bool Holds(const EtcdCompare& compare) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = kvs_.find(compare.key);
    const EtcdKeyValue kv = found == kvs_.end() ? EtcdKeyValue{} : found->second;
    switch (compare.target) {
      case EtcdCompare::Target::kCreateRevision:
        return kv.create_revision == compare.revision;
      case EtcdCompare::Target::kModRevision:
        return kv.mod_revision == compare.revision;
      case EtcdCompare::Target::kValue:
        return found != kvs_.end() && kv.value == compare.value;
    }
    return false;
  }

  EtcdTxnResult Apply(const EtcdTxn& txn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    EtcdTxnResult result;
    result.succeeded = true;
    for (const EtcdCompare& compare : txn.compare) result.succeeded &= Holds(compare);
    bool changed = false;
    for (const EtcdOp& op : result.succeeded ? txn.success : txn.failure) {
      if (const auto* put = std::get_if<EtcdPut>(&op)) {
        changed = true;
        EtcdKeyValue& kv = kvs_[put->key];
        if (kv.key.empty()) kv.create_revision = revision_ + 1;
        kv.key = put->key;
        kv.value = put->value;
        kv.mod_revision = revision_ + 1;
        kv.lease = put->lease;
      } else if (const auto* erase = std::get_if<EtcdDelete>(&op)) {
        changed = true;
        const auto first = kvs_.lower_bound(erase->key);
        const auto last =
            erase->end.empty() ? kvs_.upper_bound(erase->key) : kvs_.lower_bound(erase->end);
        kvs_.erase(first, last);
      } else {
        result.ranges.push_back(Read(std::get<EtcdRange>(op)));
      }
    }
    if (changed) ++revision_;
    if (changed && see_) see_(kvs_);
    result.revision = revision_;
    return result;
  }

  EtcdRangeResult Read(const EtcdRange& range) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto first = kvs_.lower_bound(range.key);
    const auto last = range.end.empty() ? kvs_.upper_bound(range.key) : kvs_.lower_bound(range.end);
    EtcdRangeResult result;
    result.revision = revision_;
    for (auto at = first; at != last; ++at) result.kvs.push_back(at->second);
    if (range.descending) std::reverse(result.kvs.begin(), result.kvs.end());
    std::int64_t limit = range.limit;
    if (limit > 1 && page_limit_ > 0) limit = std::min(limit, page_limit_);
    if (limit > 0 && std::ssize(result.kvs) > limit) {
      result.kvs.resize(static_cast<std::size_t>(limit));
      result.more = true;
    }
    return result;
  }

  mutable Mutex mutex_;
  std::map<std::string, EtcdKeyValue> kvs_ ABSL_GUARDED_BY(mutex_);
  std::set<std::int64_t> leases_ ABSL_GUARDED_BY(mutex_);
  std::int64_t revision_ ABSL_GUARDED_BY(mutex_) = 1;
  std::int64_t last_lease_ ABSL_GUARDED_BY(mutex_) = 0;
  int kept_alive_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t page_limit_ ABSL_GUARDED_BY(mutex_) = 0;
  int compactions_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Fate> fates_ ABSL_GUARDED_BY(mutex_);
  std::vector<EtcdTxn> late_ ABSL_GUARDED_BY(mutex_);
  std::vector<EtcdTxn> txns_ ABSL_GUARDED_BY(mutex_);
  std::vector<EtcdRange> ranges_ ABSL_GUARDED_BY(mutex_);
  std::function<void(const std::map<std::string, EtcdKeyValue>& kvs)> see_ ABSL_GUARDED_BY(mutex_);
};

// Somebody takes a shard over, whoever led before.
inline EtcdReignToken TakeShardOver(FakeEtcd& etcd, int shard) {
  const std::string prefix = absl::StrCat("/p/shard/", shard);
  etcd.Erase(prefix + "/leader");
  etcd.Put(prefix + "/leader", "{}");
  const auto found = etcd.MakeClient()->Range({.key = prefix + "/leader"});
  return {prefix, found->kvs[0].create_revision};
}

}  // namespace plimsoll::testing
