#include "plimsoll/core/violations.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace plimsoll {

Violations::Value::Value(double value) : text_(absl::StrCat(value)) {}
Violations::Value::Value(absl::Duration value) : text_(absl::FormatDuration(value)) {}
Violations::Value::Value(std::chrono::nanoseconds value)
    : text_(absl::StrCat(value.count(), " ns")) {}
Violations::Value::Value(std::chrono::milliseconds value)
    : text_(absl::StrCat(value.count(), " ms")) {}

void Violations::Require(bool holds, std::string_view name, const Value& value,
                         std::string_view rule) {
  if (holds) return;
  std::string line(name);
  line += form_ == Form::kKey ? " = " : " is ";
  line += value.text();
  line += ": ";
  line += rule;
  lines_.push_back(std::move(line));
}

void Violations::Add(std::string line) { lines_.push_back(std::move(line)); }

void Violations::AddAll(const std::vector<std::string>& lines, std::string_view prefix) {
  for (const std::string& line : lines) lines_.push_back(std::string(prefix) + line);
}

void Violations::Add(const absl::Status& status) {
  if (!status.ok()) lines_.emplace_back(status.message());
}

absl::Status Violations::ToStatus(std::string_view of) const {
  if (lines_.empty()) return absl::OkStatus();
  const std::string all = absl::StrJoin(lines_, "; ");
  return absl::InvalidArgumentError(of.empty() ? all : absl::StrCat(std::string(of), ": ", all));
}

}  // namespace plimsoll
