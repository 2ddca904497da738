#include "api/cli/src/yaml_writer.h"

#include <array>
#include <charconv>

#include <nlohmann/json.hpp>

namespace plimsoll::cli {

std::string NumberText(double value) {
  std::array<char, 40> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

std::string DurationText(absl::Duration value) {
  constexpr absl::Duration zero = absl::ZeroDuration();
  const bool seconds = value >= absl::Seconds(1) && value % absl::Milliseconds(100) == zero;
  if (value == zero || seconds) {
    return absl::StrCat(NumberText(absl::ToDoubleSeconds(value)), "s");
  }
  if (value >= absl::Milliseconds(1)) {
    return absl::StrCat(NumberText(absl::ToDoubleMilliseconds(value)), "ms");
  }
  return absl::StrCat(NumberText(absl::ToDoubleMicroseconds(value)), "us");
}

std::string QuotedText(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace plimsoll::cli
