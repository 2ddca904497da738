#include "controller/simulation/src/etcd_state.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace plimsoll::internal {
namespace {

template <typename Test>
bool AnyOp(const EtcdTxn& txn, const Test& test) {
  return std::any_of(txn.success.begin(), txn.success.end(), test) ||
         std::any_of(txn.failure.begin(), txn.failure.end(), test);
}

bool IsRange(const EtcdOp& op) { return std::holds_alternative<EtcdRange>(op); }

// True if `key` is among those from `first` up to but without `end`.
bool Within(const std::string& key, const std::string& first, const std::string& end) {
  return end.empty() ? key == first : first <= key && key < end;
}

}  // namespace

bool OnlyAsks(const EtcdTxn& txn) {
  return !AnyOp(txn, [](const EtcdOp& op) { return !IsRange(op); });
}

bool HasRange(const EtcdTxn& txn) { return AnyOp(txn, IsRange); }

const EtcdKeyValue* EtcdState::At(const Versions& versions, std::int64_t revision) {
  const auto after = std::upper_bound(
      versions.begin(), versions.end(), revision,
      [](std::int64_t at, const Version& version) { return at < version.revision; });
  if (after == versions.begin()) return nullptr;
  const std::optional<EtcdKeyValue>& kv = std::prev(after)->kv;
  return kv.has_value() ? &*kv : nullptr;
}

const EtcdKeyValue* EtcdState::At(const std::string& key, std::int64_t revision) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : At(found->second, revision);
}

bool Holds(const EtcdCompare& compare, const EtcdKeyValue* kv) {
  switch (compare.target) {
    case EtcdCompare::Target::kCreateRevision:
      return (kv == nullptr ? 0 : kv->create_revision) == compare.revision;
    case EtcdCompare::Target::kModRevision:
      return (kv == nullptr ? 0 : kv->mod_revision) == compare.revision;
    case EtcdCompare::Target::kValue:
      return kv != nullptr && kv->value == compare.value;
  }
  return false;
}

bool EtcdState::Holds(const EtcdCompare& compare, std::int64_t revision) const {
  return internal::Holds(compare, At(compare.key, revision));
}

bool EtcdState::HoldsAll(const EtcdTxn& txn, std::int64_t revision) const {
  return std::all_of(txn.compare.begin(), txn.compare.end(),
                     [&](const EtcdCompare& compare) { return Holds(compare, revision); });
}

absl::Status EtcdState::Check(const EtcdTxn& txn, bool succeeds) const {
  const std::size_t most = std::max({txn.compare.size(), txn.success.size(), txn.failure.size()});
  if (most > static_cast<std::size_t>(ops_max_)) {
    return absl::InvalidArgumentError("too many operations in txn request");
  }
  std::set<std::string> put;
  for (const EtcdOp& op : txn.success) {
    const auto* one = std::get_if<EtcdPut>(&op);
    if (one == nullptr) continue;
    if (!put.insert(one->key).second) return absl::InvalidArgumentError("duplicate key given");
    if (succeeds && one->lease != 0 && !HasLease(one->lease)) {
      return absl::NotFoundError("requested lease not found");
    }
  }
  for (const EtcdOp& op : txn.success) {
    const auto* erase = std::get_if<EtcdDelete>(&op);
    if (erase == nullptr) continue;
    const bool hits = std::any_of(put.begin(), put.end(), [erase](const std::string& key) {
      return Within(key, erase->key, erase->end);
    });
    if (hits) return absl::InvalidArgumentError("duplicate key given");
  }
  return absl::OkStatus();
}

absl::StatusOr<EtcdTxnResult> EtcdState::Apply(const EtcdTxn& txn) {
  EtcdTxnResult result;
  result.succeeded = HoldsAll(txn, revision_);
  if (absl::Status valid = Check(txn, result.succeeded); !valid.ok()) return valid;
  const std::int64_t next = revision_ + 1;
  bool changed = false;
  for (const EtcdOp& op : result.succeeded ? txn.success : txn.failure) {
    if (const auto* put = std::get_if<EtcdPut>(&op)) {
      Put(*put, next);
      changed = true;
    } else if (const auto* erase = std::get_if<EtcdDelete>(&op)) {
      changed |= Delete(*erase, next);
    } else {
      result.ranges.push_back(ReadAt(std::get<EtcdRange>(op), changed ? next : revision_));
    }
  }
  if (changed) revision_ = next;
  result.revision = revision_;
  return result;
}

EtcdTxnResult EtcdState::Ask(const EtcdTxn& txn, std::int64_t revision) const {
  EtcdTxnResult result;
  result.succeeded = HoldsAll(txn, revision);
  result.revision = revision;
  for (const EtcdOp& op : result.succeeded ? txn.success : txn.failure) {
    if (IsRange(op)) result.ranges.push_back(ReadAt(std::get<EtcdRange>(op), revision));
  }
  return result;
}

absl::StatusOr<EtcdRangeResult> EtcdState::Read(const EtcdRange& range) const {
  if (range.revision == 0) return ReadAt(range, revision_);
  if (range.revision < compacted_) {
    return absl::OutOfRangeError("required revision has been compacted");
  }
  return ReadAt(range, range.revision);
}

// As etcd's, the answer names the revision that there is now, whichever was asked for.
EtcdRangeResult EtcdState::ReadAt(const EtcdRange& range, std::int64_t revision) const {
  EtcdRangeResult result;
  result.revision = revision_;
  std::int64_t limit = range.limit == 0 ? std::int64_t{1} << 40 : range.limit;
  if (limit > 1) limit = std::min(limit, page_max_);
  auto first = keys_.lower_bound(range.key);
  auto last = range.end.empty() ? keys_.upper_bound(range.key) : keys_.lower_bound(range.end);
  while (first != last) {
    const auto at = range.descending ? --last : first++;
    const EtcdKeyValue* const kv = At(at->second, revision);
    if (kv == nullptr) continue;
    if (std::ssize(result.kvs) == limit) {
      result.more = true;
      break;
    }
    result.kvs.push_back(*kv);
    if (range.keys_only) result.kvs.back().value.clear();
  }
  return result;
}

void EtcdState::Put(const EtcdPut& put, std::int64_t revision) {
  Versions& versions = keys_[put.key];
  const EtcdKeyValue* const old = At(versions, revision);
  const std::int64_t created = old == nullptr ? revision : old->create_revision;
  versions.push_back({revision, EtcdKeyValue{put.key, put.value, created, revision, put.lease}});
}

bool EtcdState::Delete(const EtcdDelete& erase, std::int64_t revision) {
  bool any = false;
  const auto last = erase.end.empty() ? keys_.upper_bound(erase.key) : keys_.lower_bound(erase.end);
  for (auto at = keys_.lower_bound(erase.key); at != last; ++at) {
    if (At(at->second, revision) == nullptr) continue;
    at->second.push_back({revision, std::nullopt});
    any = true;
  }
  return any;
}

void EtcdState::EndLease(std::int64_t lease) {
  if (leases_.erase(lease) == 0) return;
  const std::int64_t next = revision_ + 1;
  bool any = false;
  for (auto& [key, versions] : keys_) {
    const EtcdKeyValue* const kv = At(versions, revision_);
    if (kv == nullptr || kv->lease != lease) continue;
    versions.push_back({next, std::nullopt});
    any = true;
  }
  if (any) revision_ = next;
}

}  // namespace plimsoll::internal
