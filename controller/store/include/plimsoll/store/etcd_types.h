#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace plimsoll {

// What is asked of etcd and what it answers, as values: the planner makes them, a client or a
// simulation carries them out. Ranges are linearizable, always.

struct EtcdKeyValue {
  std::string key;
  std::string value;
  std::int64_t create_revision = 0;
  std::int64_t mod_revision = 0;
  std::int64_t lease = 0;

  friend bool operator==(const EtcdKeyValue&, const EtcdKeyValue&) = default;
};

// True if the key's revision or value equals what is given here. A key that is missing has the
// revisions 0, and no value equals its.
struct EtcdCompare {
  enum class Target { kCreateRevision, kModRevision, kValue };

  std::string key;
  Target target = Target::kValue;
  std::int64_t revision = 0;
  std::string value = {};

  friend bool operator==(const EtcdCompare&, const EtcdCompare&) = default;
};

// With a lease, the key is gone when the lease ends. A lease that has ended is an error: kNotFound.
struct EtcdPut {
  std::string key;
  std::string value;
  std::int64_t lease = 0;

  friend bool operator==(const EtcdPut&, const EtcdPut&) = default;
};

// Of the keys from `key` up to but without `end`; of `key` alone if `end` is empty.
struct EtcdDelete {
  std::string key;
  std::string end = {};

  friend bool operator==(const EtcdDelete&, const EtcdDelete&) = default;
};
struct EtcdRange {
  std::string key;
  std::string end = {};
  std::int64_t limit = 0;     // 0: none
  std::int64_t revision = 0;  // as of then; 0: now. Compacted: kOutOfRange
  bool descending = false;    // by key
  bool keys_only = false;

  friend bool operator==(const EtcdRange&, const EtcdRange&) = default;
};
using EtcdOp = std::variant<EtcdPut, EtcdDelete, EtcdRange>;

// At once, if all of `compare` are true, `success`, else `failure`. No key may be written twice.
struct EtcdTxn {
  std::vector<EtcdCompare> compare = {};
  std::vector<EtcdOp> success = {};
  std::vector<EtcdOp> failure = {};

  friend bool operator==(const EtcdTxn&, const EtcdTxn&) = default;
};

struct EtcdRangeResult {
  std::vector<EtcdKeyValue> kvs;
  bool more = false;  // there are further keys, beyond the limit
  std::int64_t revision = 0;
};
struct EtcdTxnResult {
  bool succeeded = false;
  std::int64_t revision = 0;            // the create and mod revision of what was put
  std::vector<EtcdRangeResult> ranges;  // of the ranges in what was done, in order
};

// So many operations, and comparisons, one transaction may have: etcd's own default.
inline constexpr int kEtcdOpsMax = 128;

}  // namespace plimsoll
