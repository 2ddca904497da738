#include "tests/scale/virtual_etcd.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "controller/simulation/src/etcd_state.h"

namespace plimsoll::scale {

EtcdTxnResult VirtualEtcd::Do(const EtcdTxn& txn) {
  EtcdTxnResult result;
  result.succeeded = std::all_of(txn.compare.begin(), txn.compare.end(),
                                 [this](const EtcdCompare& compare) { return Holds(compare); });
  const std::vector<EtcdOp>& ops = result.succeeded ? txn.success : txn.failure;
  const bool writes = std::any_of(ops.begin(), ops.end(), [](const EtcdOp& op) {
    return !std::holds_alternative<EtcdRange>(op);
  });
  if (writes) ++revision_;
  for (const EtcdOp& op : ops) {
    if (const auto* put = std::get_if<EtcdPut>(&op)) Put(*put);
    if (const auto* range = std::get_if<EtcdRange>(&op)) result.ranges.push_back(Read(*range));
    if (const auto* gone = std::get_if<EtcdDelete>(&op)) {
      const auto first = kvs_.lower_bound(gone->key);
      kvs_.erase(first,
                 gone->end.empty() ? kvs_.upper_bound(gone->key) : kvs_.lower_bound(gone->end));
    }
  }
  result.revision = revision_;
  return result;
}

// Pages are not read as of an older revision: only who has just taken over reads, and nobody else
// writes.
EtcdRangeResult VirtualEtcd::Read(const EtcdRange& range) const {
  EtcdRangeResult result;
  result.revision = revision_;
  auto at = kvs_.lower_bound(range.key);
  const auto end = range.end.empty() ? kvs_.upper_bound(range.key) : kvs_.lower_bound(range.end);
  if (range.descending && at != end) at = std::prev(end);
  while (at != end) {
    if (range.limit > 0 && std::ssize(result.kvs) >= range.limit) {
      result.more = true;
      break;
    }
    result.kvs.push_back(at->second);
    ++at;
  }
  return result;
}

bool VirtualEtcd::EndLease(std::int64_t lease) {
  return std::erase_if(kvs_, [lease](const auto& kv) { return kv.second.lease == lease; }) > 0;
}

const EtcdKeyValue* VirtualEtcd::Find(const std::string& key) const {
  const auto found = kvs_.find(key);
  return found == kvs_.end() ? nullptr : &found->second;
}

void VirtualEtcd::Erase(const std::string& key) { kvs_.erase(key); }

bool VirtualEtcd::Holds(const EtcdCompare& compare) const {
  return internal::Holds(compare, Find(compare.key));
}

void VirtualEtcd::Put(const EtcdPut& put) {
  EtcdKeyValue& kv = kvs_[put.key];
  if (kv.create_revision == 0) kv.create_revision = revision_;
  kv.key = put.key;
  kv.value = put.value;
  kv.mod_revision = revision_;
  kv.lease = put.lease;
}

}  // namespace plimsoll::scale
