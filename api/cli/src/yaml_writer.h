#pragma once

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace plimsoll::cli {

// The shortest text that is read back as the same number.
std::string NumberText(double value);
// "150s", "12.5ms": finite and exact to a quarter of a nanosecond.
std::string DurationText(absl::Duration value);
// In double quotes, with the escapes of YAML.
std::string QuotedText(const std::string& text);

// Writes a map in block style, a key per line. Keys whose value is their default are left out, and
// so are maps in which nothing is left. Thread-compatible.
class YamlWriter {
 public:
  explicit YamlWriter(int indent = 0) : indent_(indent) {}

  void Raw(const std::string& key, const std::string& value) {
    absl::StrAppend(&text_, std::string(static_cast<std::size_t>(indent_), ' '), key, ": ", value,
                    "\n");
  }
  void Whole(const std::string& key, int value, int usual) {
    if (value != usual) Raw(key, absl::StrCat(value));
  }
  void Number(const std::string& key, double value, double usual) {
    if (value != usual) Raw(key, NumberText(value));
  }
  void Duration(const std::string& key, absl::Duration value, absl::Duration usual) {
    if (value != usual) Raw(key, DurationText(value));
  }
  void Text(const std::string& key, const std::string& value) {
    if (!value.empty()) Raw(key, QuotedText(value));
  }
  void Word(const std::string& key, const std::string& value, const std::string& usual) {
    if (value != usual) Raw(key, value);
  }
  void Optional(const std::string& key, const std::optional<int>& value) {
    if (value.has_value()) Raw(key, absl::StrCat(*value));
  }
  void Optional(const std::string& key, const std::optional<double>& value) {
    if (value.has_value()) Raw(key, NumberText(*value));
  }
  void Optional(const std::string& key, const std::optional<absl::Duration>& value) {
    if (value.has_value()) Raw(key, DurationText(*value));
  }

  // A writer for a map below this one, to be handed to Close().
  YamlWriter Open() const { return YamlWriter(indent_ + 2); }
  void Close(const std::string& key, const YamlWriter& map) {
    if (map.text_.empty()) return;
    absl::StrAppend(&text_, std::string(static_cast<std::size_t>(indent_), ' '), key, ":\n",
                    map.text_);
  }
  // Appends a map as an item of the list whose key was written last; written at the indent + 4.
  YamlWriter OpenItem() const { return YamlWriter(indent_ + 4); }
  void BeginList(const std::string& key) {
    absl::StrAppend(&text_, std::string(static_cast<std::size_t>(indent_), ' '), key, ":\n");
  }
  void CloseItem(const YamlWriter& map) {
    std::string item = map.text_;
    item.replace(static_cast<std::size_t>(indent_) + 2, 1, "-");
    text_ += item;
  }

  const std::string& text() const { return text_; }

 private:
  const int indent_;
  std::string text_;
};

}  // namespace plimsoll::cli
