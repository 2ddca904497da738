#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace plimsoll {

// What is wrong with one set of settings: one line for every rule that does not hold, in the order
// of asking, so that whoever wrote the settings mends them all at once. Each of its users validates
// with it, and each says what is wrong in the same form. Thread-compatible.
class Violations {
 public:
  // How name and value are joined.
  enum class Form {
    kKey,   // `name = value: rule`, as in a file of settings; the reader of that file finds its
            // keys by the text before the first " = "
    kWords  // `name is value: rule`, for options in a program
  };

  // A value as its line shows it: numbers as they are (doubles with six digits), absl::Duration as
  // absl::FormatDuration() does, std::chrono as a count with its unit, text unquoted.
  class Value {
   public:
    // NOLINTBEGIN(google-explicit-constructor): so that any setting can be handed over as it is.
    template <std::integral T>
    Value(T value) : text_(std::to_string(value)) {}
    Value(double value);
    Value(absl::Duration value);
    Value(std::chrono::nanoseconds value);
    Value(std::chrono::milliseconds value);
    Value(std::string value) : text_(std::move(value)) {}
    Value(std::string_view value) : text_(value) {}
    Value(const char* value) : text_(value) {}
    // NOLINTEND(google-explicit-constructor)

    const std::string& text() const { return text_; }

   private:
    std::string text_;
  };

  explicit Violations(Form form = Form::kKey) : form_(form) {}

  // Adds a line unless it holds. Write conditions as "is inside" and never as "is outside", so that
  // NaN is a violation.
  void Require(bool holds, std::string_view name, const Value& value, std::string_view rule);

  // A line of another form.
  void Add(std::string line);
  // Lines that were found elsewhere, each with this before it.
  void AddAll(const std::vector<std::string>& lines, std::string_view prefix = "");
  // What another validation found; nothing if that is OK.
  void Add(const absl::Status& status);

  const std::vector<std::string>& lines() const { return lines_; }

  // kInvalidArgument with all lines, joined by "; ", or OK. With `of`: "<of>: " before them.
  absl::Status ToStatus(std::string_view of = "") const;

 private:
  const Form form_;
  std::vector<std::string> lines_;
};

}  // namespace plimsoll
