#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/controller/store.h"

namespace plimsoll::internal {

// What the store says of itself beside its bounds: the value of `<prefix>/epoch`.
struct EtcdMeta {
  std::int64_t epoch = 0;
  std::string lost;  // why the bounds cannot be trusted; empty once they can
  absl::Duration longest_hold;
};

// The names of the keys. Every part of a name that is not ours is escaped, so that it has no '/'.
class EtcdKeys {
 public:
  // `prefix` begins with '/' and does not end with it.
  explicit EtcdKeys(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string Leader() const { return prefix_ + "/leader"; }
  std::string Epoch() const { return prefix_ + "/epoch"; }
  std::string LogId() const { return prefix_ + "/log_id"; }
  std::string Writes() const { return prefix_ + "/writes"; }
  std::string All() const { return prefix_ + "/"; }
  std::string Bounds() const { return prefix_ + "/bound/"; }
  std::string Documents() const { return prefix_ + "/document/"; }
  std::string Audits() const { return prefix_ + "/audit/"; }
  std::string Of(const BoundKey& key) const;
  std::string Of(const DocumentKey& key) const;
  // Names sort as numbers do.
  std::string Audit(std::int64_t number) const;
  // Of the last part of an audit key; nothing if it is none.
  std::optional<std::int64_t> AuditNumber(const std::string& key) const;
  // The first key behind all that begin with `start`.
  static std::string EndOf(std::string start);

 private:
  const std::string prefix_;
};

// JSON, in both directions. The readers are strict: what has another shape, unknown or missing
// members or a value out of its range is kDataLoss.
std::string EncodeBound(const Bound& bound);
absl::StatusOr<Bound> DecodeBound(const std::string& value);
std::string EncodeMeta(const EtcdMeta& meta);
absl::StatusOr<EtcdMeta> DecodeMeta(const std::string& value);
std::string EncodeLeader(const Leader& leader);
absl::StatusOr<Leader> DecodeLeader(const std::string& value);
std::string EncodeDocument(const Document& document);
absl::StatusOr<Document> DecodeDocument(const std::string& value);

}  // namespace plimsoll::internal
