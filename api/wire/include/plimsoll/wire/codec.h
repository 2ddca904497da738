#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/core/protocol.h"

namespace plimsoll {

// JSON of the agent plane. Encoders never fail. Decoders accept only what the contract allows:
// requests with an unknown key, a duplicate key, a wrong type or an absurd number are refused as a
// whole; answers may carry unknown keys, so that an older agent works with a newer controller.
// Registrations of a newer version may do so, too; of a sync of a newer version only session and
// version are read, which the core refuses.
// No exception leaves these functions. Thread-safe.

// One fault in a body. Codes: REQUIRED, UNKNOWN_KEY, DUPLICATE_KEY, WRONG_TYPE, OUT_OF_RANGE,
// BAD_FORMAT, CONFLICT.
struct FieldFault {
  std::string pointer;  // RFC 6901: "/dependencies/0/in_flight"; empty for the whole body
  std::string code;
  std::string detail;  // what is allowed
  // Of a fault in a file: which, and where in it, counted from 1. Otherwise not told.
  std::string file = {};
  int line = 0;
  int column = 0;

  friend bool operator==(const FieldFault&, const FieldFault&) = default;
};
using FieldFaults = std::vector<FieldFault>;

// What a sync or an answer without the key `protocol` is written in.
inline constexpr int kProtocolVersionUnsaid = 1;

// Caps of one message, checked before anything is kept.
inline constexpr std::size_t kDependenciesPerMessageMax = 200;
inline constexpr std::size_t kWindowsPerReportMax = 64;

// The agent's side. Answers that cannot be understood are kDataLoss, with the first fault.
std::string Encode(const RegisterRequest& request);
std::string Encode(const SyncRequest& request);  // without the session, which is in the path
absl::StatusOr<RegisterAnswer> DecodeRegisterAnswer(std::string_view body);
absl::StatusOr<SyncAnswer> DecodeSyncAnswer(std::string_view body);
// Of a problem document.
absl::StatusOr<Refusal> DecodeRefusal(std::string_view body);
// The leader's address in one; empty if it has none, or is not understood.
std::string DecodeLeader(std::string_view body);
// How many shards there are, if it says so; at most kShardsMax.
std::optional<int> DecodeShards(std::string_view body);

// The controller's side. Faulty requests are kInvalidArgument; all faults are appended to `faults`.
absl::StatusOr<RegisterRequest> DecodeRegisterRequest(std::string_view body, FieldFaults& faults);
// `session` is taken from the path.
absl::StatusOr<SyncRequest> DecodeSyncRequest(std::string_view body, SessionId session,
                                              FieldFaults& faults);
std::string Encode(const RegisterAnswer& answer);
std::string Encode(const SyncAnswer& answer);

// A problem document (RFC 9457), for both planes. `epoch` is left out if it is 0.
struct Problem {
  int status = 500;
  std::string code;      // "INVALID_ARGUMENT"
  std::string detail;    // what is wrong and what to do
  std::string instance;  // the path; may be empty, like the next two
  std::string request_id;
  std::string hint;
  std::string current_etag;
  FieldFaults errors;
  Epoch epoch;
  std::string leader = {};  // where the one that leads is found; may be empty
  int shards = 0;           // how many there are; 0: not told
};
std::string Encode(const Problem& problem);

// The HTTP status of a refusal.
int HttpStatus(RefusalCode code);

}  // namespace plimsoll
