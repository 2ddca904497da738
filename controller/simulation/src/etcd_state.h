#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/store/etcd_types.h"

namespace plimsoll::internal {

// Whether it holds of the key as it is; null: the key is not there.
bool Holds(const EtcdCompare& compare, const EtcdKeyValue* kv);

// What an etcd holds and how it answers, as far as controllers use it: every version of every key,
// compaction, leases with their keys. Without time, network and members. Thread-compatible.
class EtcdState {
 public:
  // Transactions of more than `ops_max` operations are refused. Of ranges of more than one key at
  // most `page_max` are told at once, so that few keys make many pages.
  EtcdState(int ops_max, std::int64_t page_max) : ops_max_(ops_max), page_max_(page_max) {}

  // Errors as of Etcd::Txn(): what is refused has done nothing.
  absl::StatusOr<EtcdTxnResult> Apply(const EtcdTxn& txn);
  // kOutOfRange if the revision was compacted.
  absl::StatusOr<EtcdRangeResult> Read(const EtcdRange& range) const;
  // What is answered to a transaction that writes nothing by a member that has heard of all that
  // was done up to `revision`.
  EtcdTxnResult Ask(const EtcdTxn& txn, std::int64_t revision) const;

  void AddLease(std::int64_t lease) { leases_.insert(lease); }
  bool HasLease(std::int64_t lease) const { return leases_.contains(lease); }
  // Its keys go with it.
  void EndLease(std::int64_t lease);
  // What was overwritten up to `revision` cannot be read any more.
  void Compact(std::int64_t revision) { compacted_ = std::max(compacted_, revision); }

  std::int64_t revision() const { return revision_; }
  // Null if it is not there now.
  const EtcdKeyValue* Find(const std::string& key) const { return At(key, revision_); }

 private:
  struct Version {
    std::int64_t revision = 0;
    std::optional<EtcdKeyValue> kv;  // nothing: deleted
  };
  using Versions = std::vector<Version>;

  const EtcdKeyValue* At(const std::string& key, std::int64_t revision) const;
  static const EtcdKeyValue* At(const Versions& versions, std::int64_t revision);
  bool HoldsAll(const EtcdTxn& txn, std::int64_t revision) const;
  bool Holds(const EtcdCompare& compare, std::int64_t revision) const;
  EtcdRangeResult ReadAt(const EtcdRange& range, std::int64_t revision) const;
  absl::Status Check(const EtcdTxn& txn, bool succeeds) const;
  void Put(const EtcdPut& put, std::int64_t revision);
  bool Delete(const EtcdDelete& erase, std::int64_t revision);

  const int ops_max_;
  const std::int64_t page_max_;
  std::map<std::string, Versions> keys_;
  std::set<std::int64_t> leases_;
  std::int64_t revision_ = 1;
  std::int64_t compacted_ = 0;
};

// True if it writes nothing. Without a range as well it is answered by any member from what that
// has.
bool OnlyAsks(const EtcdTxn& txn);
bool HasRange(const EtcdTxn& txn);

}  // namespace plimsoll::internal
