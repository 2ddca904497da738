#include "api/wire/src/json_reader.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::internal {
namespace {

bool CheckType(const JsonValue& value, JsonType type, std::string_view what, Faults& faults) {
  if (value.type() == type) return true;
  faults.Add(value, kWrongType, absl::StrFormat("must be %s", what));
  return false;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

void Faults::Add(const JsonValue& where, std::string_view code, std::string detail) {
  any_ = true;
  if (list_.size() < kFaultsMax) Add(where.Pointer(), code, std::move(detail));
}

void Faults::Add(std::string pointer, std::string_view code, std::string detail) {
  any_ = true;
  if (list_.size() >= kFaultsMax) return;
  list_.push_back({std::move(pointer), std::string(code), std::move(detail)});
}

bool ReadBoolean(const JsonValue& value, Faults& faults) {
  return CheckType(value, JsonType::kBoolean, "true or false", faults) && value.boolean();
}

std::int64_t ReadInteger(const JsonValue& value, std::int64_t min, std::int64_t max,
                         Faults& faults) {
  if (!CheckType(value, JsonType::kInteger, "a whole number", faults)) return min;
  if (value.integer() >= min && value.integer() <= max) return value.integer();
  faults.Add(value, kOutOfRange, absl::StrFormat("must be between %d and %d", min, max));
  return min;
}

Calls ReadCalls(const JsonValue& value, Faults& faults) {
  return static_cast<Calls>(ReadInteger(value, 0, kCallsMax, faults));
}

std::int64_t ReadCount(const JsonValue& value, Faults& faults) {
  return ReadInteger(value, 0, kCountMax, faults);
}

std::int64_t ReadNumber(const JsonValue& value, Faults& faults) {
  return ReadInteger(value, 0, kNumberMax, faults);
}

absl::Duration ReadTimer(const JsonValue& value, absl::Duration min, absl::Duration max,
                         Faults& faults) {
  return absl::Milliseconds(
      ReadInteger(value, absl::ToInt64Milliseconds(min), absl::ToInt64Milliseconds(max), faults));
}

absl::Duration ReadMeasured(const JsonValue& value, absl::Duration min, absl::Duration max,
                            Faults& faults) {
  if (value.type() != JsonType::kInteger && value.type() != JsonType::kReal) {
    faults.Add(value, kWrongType, "must be a number");
    return min;
  }
  const double ms_min = absl::ToDoubleMilliseconds(min);
  const double ms_max = absl::ToDoubleMilliseconds(max);
  if (!(value.real() >= ms_min && value.real() <= ms_max)) {
    faults.Add(value, kOutOfRange,
               absl::StrFormat("must be between %.12g and %.12g", ms_min, ms_max));
    return min;
  }
  return absl::Microseconds(std::llround(value.real() * 1000));
}

double ReadReal(const JsonValue& value, double min, double max, Faults& faults) {
  if (value.type() != JsonType::kInteger && value.type() != JsonType::kReal) {
    faults.Add(value, kWrongType, "must be a number");
    return min;
  }
  if (value.real() >= min && value.real() <= max) return value.real();
  faults.Add(value, kOutOfRange, absl::StrFormat("must be between %.12g and %.12g", min, max));
  return min;
}

std::string ReadName(const JsonValue& value, Faults& faults) {
  if (!CheckType(value, JsonType::kString, "a string", faults)) return "";
  std::string name(value.text());
  if (IsValidName(name)) return name;
  faults.Add(value, kBadFormat,
             "must be 1 to 63 letters, digits, '.', '_', '~' or '-', with a letter or digit at "
             "both ends");
  return "";
}

std::string ReadText(const JsonValue& value, std::size_t size_min, std::size_t size_max,
                     Faults& faults) {
  if (!CheckType(value, JsonType::kString, "a string", faults)) return "";
  const std::string_view text = value.text();
  if (text.size() < size_min || text.size() > size_max) {
    faults.Add(value, kOutOfRange,
               absl::StrFormat("must be %d to %d bytes long", size_min, size_max));
    return "";
  }
  if (std::any_of(text.begin(), text.end(), IsControl)) {
    faults.Add(value, kBadFormat, "must not contain control characters");
    return "";
  }
  return std::string(text);
}

bool CheckArray(const JsonValue& value, std::size_t size_max, Faults& faults) {
  if (!CheckType(value, JsonType::kArray, "an array", faults)) return false;
  if (value.size() <= size_max) return true;
  faults.Add(value, kOutOfRange, absl::StrFormat("must have at most %d elements", size_max));
  return false;
}

bool CheckObject(const JsonValue& value, Faults& faults) {
  return CheckType(value, JsonType::kObject, "an object", faults);
}

int PeekVersion(const JsonTree& tree) {
  const JsonValue root = tree.root();
  if (root.type() != JsonType::kObject) return 0;
  for (const JsonValue& member : root) {
    if (member.key() != "protocol") continue;
    const bool valid = member.type() == JsonType::kInteger && member.integer() >= 0 &&
                       member.integer() <= kProtocolMax;
    return valid ? static_cast<int>(member.integer()) : 0;
  }
  return 0;
}

bool ParseDocument(std::string_view body, JsonTree& tree, Faults& faults) {
  const absl::Status parsed = tree.Parse(body);
  if (parsed.ok()) return true;
  faults.Add("", kBadFormat, std::string(parsed.message()));
  return false;
}

std::string FirstFault(const FieldFaults& faults) {
  const FieldFault& first = faults.front();
  return absl::StrCat(first.pointer.empty() ? "body" : first.pointer, ": ", first.detail);
}

}  // namespace plimsoll::internal
