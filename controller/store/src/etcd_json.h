#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/store/etcd_types.h"

namespace plimsoll::internal {

// The JSON of etcd's gateway: bytes in base64, whole numbers of 64 bits as strings; what has its
// default value may be missing. Answers that have another shape are kInternal.
std::string ToEtcdJson(const EtcdTxn& txn);
std::string ToEtcdJson(const EtcdRange& range);
absl::StatusOr<EtcdTxnResult> ReadTxnResult(const std::string& body);
absl::StatusOr<EtcdRangeResult> ReadRangeResult(const std::string& body);

std::string GrantJson(absl::Duration ttl);
std::string LeaseJson(std::int64_t lease);
absl::StatusOr<std::int64_t> ReadGrant(const std::string& body);
// Zero for a lease that has ended.
absl::StatusOr<absl::Duration> ReadKeepAlive(const std::string& body);

std::string AuthenticateJson(const std::string& user, const std::string& password);
absl::StatusOr<std::string> ReadToken(const std::string& body);

// What an answer with an error means. `http_status` counts if the body has no code of gRPC.
absl::Status ReadEtcdError(int http_status, const std::string& body);

}  // namespace plimsoll::internal
