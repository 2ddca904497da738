#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

// Members of JSON objects of a known type. Everything here throws TraceError.
namespace plimsoll {

using Json = nlohmann::json;

// Never leaves ParseTraceFile.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Parts>
[[noreturn]] void Fail(const Parts&... parts) {
  throw TraceError(absl::StrCat(parts...));
}

inline const Json& Member(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end()) Fail("\"", key, "\" is missing");
  return *found;
}

inline const Json& Array(const Json& object, const std::string& key) {
  const Json& value = Member(object, key);
  if (!value.is_array()) Fail("\"", key, "\" must be an array");
  return value;
}

inline const Json& Object(const Json& object, const std::string& key) {
  const Json& value = Member(object, key);
  if (!value.is_object()) Fail("\"", key, "\" must be an object");
  return value;
}

inline std::string Text(const Json& object, const std::string& key) {
  const Json& value = Member(object, key);
  if (!value.is_string()) Fail("\"", key, "\" must be a string");
  return value.get<std::string>();
}

template <typename Int>
Int Whole(const Json& value, const std::string& where) {
  // Whole numbers may be written as 30.0.
  if (const auto real = value.is_number_float() ? value.get<double>() : 0.5;
      real == std::trunc(real) && std::abs(real) <= std::numeric_limits<std::int32_t>::max()) {
    return static_cast<Int>(real);
  }
  // Not get<Int>() alone: it would truncate fractions and wrap what does not fit.
  const bool fits_64_bits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() ||
       value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  const std::int64_t number = fits_64_bits ? value.get<std::int64_t>() : 0;
  if (!fits_64_bits || number < std::numeric_limits<Int>::min() ||
      number > std::numeric_limits<Int>::max()) {
    Fail(where, " must be a whole number of ", 8 * sizeof(Int), " bits");
  }
  return static_cast<Int>(number);
}

template <typename Int>
Int WholeMember(const Json& object, const std::string& key) {
  return Whole<Int>(Member(object, key), absl::StrCat("\"", key, "\""));
}

inline double Real(const Json& object, const std::string& key) {
  const Json& value = Member(object, key);
  if (!value.is_number()) Fail("\"", key, "\" must be a number");
  return value.get<double>();
}

inline void RefuseOtherKeys(const Json& object, const std::string& where,
                            const std::set<std::string>& known) {
  for (const auto& [key, value] : object.items()) {
    if (known.count(key) == 0) Fail(where, " has an unknown key \"", key, "\"");
  }
}

}  // namespace plimsoll
