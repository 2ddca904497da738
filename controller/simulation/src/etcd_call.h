#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/store/etcd_types.h"

namespace plimsoll::internal {

// For what a controller asks etcd.
enum class EtcdPurpose {
  kLook,     // who leads
  kGrant,    // a lease
  kTake,     // the transaction that takes leadership
  kPage,     // of what the reign before has left
  kMark,     // that it is lost
  kWrite,    // a transaction of the reign
  kConfirm,  // that it stands
  kKeepAlive,
  kRevoke,
};

struct EtcdGrantLease {};
struct EtcdKeepLeaseAlive {
  std::int64_t lease = 0;
};
struct EtcdRevokeLease {
  std::int64_t lease = 0;
};

struct EtcdRequest {
  EtcdPurpose purpose = EtcdPurpose::kLook;
  int controller = 0;
  std::variant<EtcdTxn, EtcdRange, EtcdGrantLease, EtcdKeepLeaseAlive, EtcdRevokeLease> what;
};

// What became of a call: for the counts, nobody in the world can see it.
struct EtcdFate {
  bool given_up = false;  // its caller does not wait any more, and does not know
  bool landed = false;
};

struct EtcdSending {
  EtcdRequest request;
  std::shared_ptr<EtcdFate> fate;
};

// If `status` is OK, that of the three which the request asks for.
struct EtcdAnswer {
  absl::Status status;
  EtcdTxnResult txn = {};
  EtcdRangeResult range = {};
  std::int64_t lease = 0;
};

// As a planner is told.
inline absl::StatusOr<EtcdTxnResult> TxnOf(const EtcdAnswer& answer) {
  if (!answer.status.ok()) return answer.status;
  return answer.txn;
}
inline absl::StatusOr<EtcdRangeResult> RangeOf(const EtcdAnswer& answer) {
  if (!answer.status.ok()) return answer.status;
  return answer.range;
}

}  // namespace plimsoll::internal
