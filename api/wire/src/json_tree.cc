#include "api/wire/src/json_tree.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/wire/src/plain_json.h"

namespace plimsoll::internal {
namespace {

// Of what agents write, the values are longer than this.
constexpr std::size_t kBytesPerValue = 6;

}  // namespace

// Takes the parser's calls; each returns false to stop it.
class JsonTree::Builder {
 public:
  explicit Builder(JsonTree& tree) : tree_(tree) {}

  const std::string& fault() const { return fault_; }

  bool null() { return Leaf({}); }
  bool boolean(bool value) { return Leaf({.type = JsonType::kBoolean, .boolean = value}); }
  bool number_integer(std::int64_t value) {
    return Leaf({.type = JsonType::kInteger, .integer = value, .real = static_cast<double>(value)});
  }
  bool number_unsigned(std::uint64_t value) {
    constexpr auto kMax = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    return number_integer(static_cast<std::int64_t>(value < kMax ? value : kMax));
  }
  bool number_float(double value, const std::string& spelling) {
    // Whole numbers beyond 64 bits arrive here; they are too large, not of the wrong type.
    if (spelling.find_first_of(".eE") == std::string::npos) {
      return number_integer(value < 0 ? std::numeric_limits<std::int64_t>::min()
                                      : std::numeric_limits<std::int64_t>::max());
    }
    return Leaf({.type = JsonType::kReal, .real = value});
  }
  bool string(const std::string& value) {
    JsonNode node{.type = JsonType::kString};
    node.text_begin = Keep(value);
    node.text_size = static_cast<std::uint32_t>(value.size());
    return Leaf(node);
  }
  // Of formats that are not parsed here.
  bool binary(const std::vector<std::uint8_t>& /*value*/) { return false; }

  bool key(const std::string& name) {
    key_begin_ = Keep(name);
    key_size_ = static_cast<std::uint32_t>(name.size());
    return true;
  }
  bool start_object(std::size_t /*size*/) { return Open(JsonType::kObject); }
  bool start_array(std::size_t /*size*/) { return Open(JsonType::kArray); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }

  template <typename Exception>
  bool parse_error(std::size_t position, const std::string& /*token*/, const Exception& /*error*/) {
    fault_ = absl::StrCat("not valid JSON in UTF-8 at byte ", position);
    return false;
  }

 private:
  std::uint32_t Keep(const std::string& text) {
    const auto begin = static_cast<std::uint32_t>(tree_.store_.size());
    tree_.store_ += text;
    return begin;
  }

  bool Leaf(const JsonNode& node) {
    if (!Push(node)) return false;
    tree_.nodes_.back().next = static_cast<std::uint32_t>(tree_.nodes_.size());
    return true;
  }

  bool Push(const JsonNode& node) {
    if (tree_.nodes_.size() >= kNodesMax) {
      fault_ = absl::StrCat("more than ", kNodesMax, " values");
      return false;
    }
    tree_.nodes_.push_back(node);
    JsonNode& kept = tree_.nodes_.back();
    kept.parent = open_.empty() ? 0 : open_.back();
    kept.key_begin = key_begin_;
    kept.key_size = key_size_;
    key_size_ = 0;
    return true;
  }

  bool Open(JsonType type) {
    if (open_.size() >= kDepthMax) {
      fault_ = absl::StrCat("nested more than ", kDepthMax, " levels deep");
      return false;
    }
    if (!Push({.type = type})) return false;
    open_.push_back(static_cast<std::uint32_t>(tree_.nodes_.size() - 1));
    return true;
  }

  bool Close() {
    tree_.nodes_[open_.back()].next = static_cast<std::uint32_t>(tree_.nodes_.size());
    open_.pop_back();
    return true;
  }

  JsonTree& tree_;
  std::vector<std::uint32_t> open_;
  std::uint32_t key_begin_ = 0;
  std::uint32_t key_size_ = 0;
  std::string fault_;
};

absl::Status JsonTree::Parse(std::string_view text) {
  nodes_.clear();
  nodes_.reserve(text.size() / kBytesPerValue);
  text_ = text;
  plain_ = ReadPlainJson(text, nodes_);
  return plain_ ? absl::OkStatus() : ParseInFull(text);
}

absl::Status JsonTree::ParseInFull(std::string_view text) {
  nodes_.clear();
  store_.clear();
  plain_ = false;
  Builder builder(*this);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return absl::OkStatus();
  nodes_.clear();
  return absl::InvalidArgumentError(builder.fault());
}

JsonValue JsonTree::root() const { return {*this, 0}; }

std::size_t JsonValue::size() const {
  std::size_t count = 0;
  for (JsonIterator it = begin(); it != end(); ++it) ++count;
  return count;
}

std::string JsonValue::Pointer() const {
  if (index_ == 0) return "";
  const JsonValue parent(*tree_, node().parent);
  const std::string prefix = parent.Pointer();
  if (parent.type() == JsonType::kObject) return absl::StrCat(prefix, "/", EscapePointer(key()));
  std::size_t position = 0;
  for (JsonIterator it = parent.begin(); (*it).index_ != index_; ++it) ++position;
  return absl::StrCat(prefix, "/", position);
}

std::string EscapePointer(std::string_view key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace plimsoll::internal
