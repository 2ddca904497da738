#include "api/wire/src/json_writer.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace plimsoll::internal {
namespace {

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

void AppendInteger(std::int64_t value, std::string& text) {
  char digits[20];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof(digits), value);
  text.append(digits, end.ptr);
}

}  // namespace

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  Quote(key);
  text_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Integer(std::int64_t value) {
  Separate();
  AppendInteger(value, text_);
  return *this;
}

JsonWriter& JsonWriter::Real(double value) {
  Separate();
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof(digits), value);
  text_.append(digits, end.ptr);
  return *this;
}

JsonWriter& JsonWriter::Boolean(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  Separate();
  Quote(value);
  return *this;
}

JsonWriter& JsonWriter::Timer(absl::Duration value) {
  return Integer(absl::ToInt64Milliseconds(value));
}

JsonWriter& JsonWriter::Measured(absl::Duration value) {
  const std::int64_t us = std::max<std::int64_t>(0, absl::ToInt64Microseconds(value));
  Integer(us / 1000);
  if (us % 1000 == 0) return *this;
  text_ += '.';
  for (std::int64_t rest = us % 1000, unit = 100; rest > 0; unit /= 10) {
    text_ += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return *this;
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  text_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  text_ += bracket;
  comma_ = true;
  return *this;
}

void JsonWriter::Separate() {
  if (comma_) text_ += ',';
  comma_ = true;
}

void JsonWriter::Quote(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), IsPlain)) {
    text_ += '"';
    text_ += text;
    text_ += '"';
    return;
  }
  text_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace plimsoll::internal
