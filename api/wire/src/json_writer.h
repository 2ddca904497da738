#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"

namespace plimsoll::internal {

// Writes JSON without building a document first, and places the commas. What is written is valid
// JSON in UTF-8 whatever the strings hold: faulty bytes become U+FFFD. Thread-compatible.
class JsonWriter {
 public:
  JsonWriter() = default;
  // So many bytes will probably be written.
  explicit JsonWriter(std::size_t expected) { text_.reserve(expected); }

  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }
  JsonWriter& Key(std::string_view key);

  JsonWriter& Integer(std::int64_t value);
  JsonWriter& Boolean(bool value);
  JsonWriter& String(std::string_view value);
  // As many digits as bring it back. Requires a finite number.
  JsonWriter& Real(double value);
  // Whole milliseconds, rounded down.
  JsonWriter& Timer(absl::Duration value);
  // Milliseconds with up to three decimals; 0 if negative.
  JsonWriter& Measured(absl::Duration value);

  std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void Separate();
  void Quote(std::string_view text);

  std::string text_;
  bool comma_ = false;  // something stands before, at this level
};

}  // namespace plimsoll::internal
