#pragma once

#include <map>
#include <string>

#include "plimsoll/store/etcd_types.h"

namespace plimsoll::scale {

// The keys of an etcd, in memory: what a transaction does at the moment at which it lands. The
// planner of the product (etcd_plan.h) decides what is asked. Thread-compatible.
class VirtualEtcd {
 public:
  EtcdTxnResult Do(const EtcdTxn& txn);
  EtcdRangeResult Read(const EtcdRange& range) const;
  // All keys that hang on the lease are gone. True if there were any.
  bool EndLease(std::int64_t lease);
  const EtcdKeyValue* Find(const std::string& key) const;
  void Erase(const std::string& key);

 private:
  bool Holds(const EtcdCompare& compare) const;
  void Put(const EtcdPut& put);

  std::map<std::string, EtcdKeyValue> kvs_;
  std::int64_t revision_ = 1;
};

}  // namespace plimsoll::scale
