#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "api/wire/src/json_tree.h"
#include "plimsoll/core/types.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {

// The codes of faults.
inline constexpr std::string_view kRequired = "REQUIRED";
inline constexpr std::string_view kUnknownKey = "UNKNOWN_KEY";
inline constexpr std::string_view kDuplicateKey = "DUPLICATE_KEY";
inline constexpr std::string_view kWrongType = "WRONG_TYPE";
inline constexpr std::string_view kOutOfRange = "OUT_OF_RANGE";
inline constexpr std::string_view kBadFormat = "BAD_FORMAT";
inline constexpr std::string_view kConflict = "CONFLICT";

// Faults beyond this many are not kept: by then the sender knows.
inline constexpr std::size_t kFaultsMax = 32;

// Numbers above are absurd, or not exact in JSON.
inline constexpr std::int64_t kNumberMax = std::int64_t{1} << 53;
inline constexpr std::int64_t kCountMax = std::int64_t{1} << 31;

// Collects what is wrong with a document. Thread-compatible.
class Faults {
 public:
  explicit Faults(FieldFaults& list) : list_(list) {}

  void Add(const JsonValue& where, std::string_view code, std::string detail);
  void Add(std::string pointer, std::string_view code, std::string detail);
  bool any() const { return any_; }

 private:
  FieldFaults& list_;
  bool any_ = false;
};

// The readers of scalars. On a fault they add it and return the smallest valid value, or an empty
// one, which the caller throws away with the document.
bool ReadBoolean(const JsonValue& value, Faults& faults);
std::int64_t ReadInteger(const JsonValue& value, std::int64_t min, std::int64_t max,
                         Faults& faults);
// A limit, or a number of calls in flight.
Calls ReadCalls(const JsonValue& value, Faults& faults);
// How often something happened.
std::int64_t ReadCount(const JsonValue& value, Faults& faults);
// An epoch or a sequence number.
std::int64_t ReadNumber(const JsonValue& value, Faults& faults);
// A setting: whole milliseconds.
absl::Duration ReadTimer(const JsonValue& value, absl::Duration min, absl::Duration max,
                         Faults& faults);
// A measurement: milliseconds that may have a fraction, read to the microsecond.
absl::Duration ReadMeasured(const JsonValue& value, absl::Duration min, absl::Duration max,
                            Faults& faults);
double ReadReal(const JsonValue& value, double min, double max, Faults& faults);
// Of a dependency, service or instance.
std::string ReadName(const JsonValue& value, Faults& faults);
// For people: no control characters.
std::string ReadText(const JsonValue& value, std::size_t size_min, std::size_t size_max,
                     Faults& faults);
// True if it is an array of at most `size_max` elements.
bool CheckArray(const JsonValue& value, std::size_t size_max, Faults& faults);
bool CheckObject(const JsonValue& value, Faults& faults);

// One key of an object.
template <typename T>
struct Field {
  std::string_view key;
  bool required;
  void (*read)(const JsonValue& value, Faults& faults, T& into);
};

enum class UnknownKeys { kRefuse, kIgnore };

// Reads an object by the table of its keys, of which there are at most 32.
template <typename T, std::size_t N>
void ReadObject(const JsonValue& value, const Field<T> (&fields)[N], UnknownKeys unknown,
                Faults& faults, T& into) {
  static_assert(N <= 32);
  if (!CheckObject(value, faults)) return;
  std::uint32_t seen = 0;
  const Field<T>* next = fields;  // writers keep the order of the table
  for (const JsonValue& member : value) {
    const Field<T>* field = next;
    if (field == fields + N || field->key != member.key()) {
      field = fields;
      while (field != fields + N && field->key != member.key()) ++field;
    }
    if (field == fields + N) {
      if (unknown == UnknownKeys::kRefuse) faults.Add(member, kUnknownKey, "no such key here");
      continue;
    }
    const std::uint32_t bit = 1U << (field - fields);
    if ((seen & bit) != 0) {
      faults.Add(member, kDuplicateKey, "must not appear twice");
      continue;
    }
    seen |= bit;
    next = field + 1;
    field->read(member, faults, into);
  }
  for (const Field<T>& field : fields) {
    if (field.required && (seen & (1U << (&field - fields))) == 0) {
      faults.Add(value.Pointer() + "/" + std::string(field.key), kRequired, "must be present");
    }
  }
}

// The version that a message says it is in, before anything else of it is read. Versions that are
// no such number are left to the reader of the message: 0, which is as old as can be.
int PeekVersion(const JsonTree& tree);
inline constexpr std::int64_t kProtocolMax = 1000;

// Parses `body`; a fault of syntax is the only one then. False if there was one.
bool ParseDocument(std::string_view body, JsonTree& tree, Faults& faults);

// "pointer: detail" of the first fault. Requires one.
std::string FirstFault(const FieldFaults& faults);

}  // namespace plimsoll::internal
