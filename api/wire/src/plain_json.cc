#include "api/wire/src/plain_json.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace plimsoll::internal {
namespace {

// So many digits fit into an integer.
constexpr int kDigitsMax = 18;
// So many fit exactly into a double, and so does the power of ten that divides them: the quotient
// is the nearest double, which is what the full parser finds.
constexpr int kRealDigitsMax = 15;
constexpr std::array<double, kRealDigitsMax + 1> kPowersOfTen = {
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
constexpr bool IsPlainText(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

class PlainReader {
 public:
  PlainReader(std::string_view text, std::vector<JsonNode>& nodes) : text_(text), nodes_(nodes) {}

  bool Read() {
    if (!ReadValue(JsonNode{})) return false;
    SkipSpace();
    return at_ == text_.size();
  }

 private:
  // Zero at the end, which begins nothing.
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  void SkipSpace() {
    while (IsSpace(Peek())) ++at_;
  }
  bool TakeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  // `node` has its parent and key.
  bool ReadValue(JsonNode node) {
    SkipSpace();
    if (nodes_.size() >= JsonTree::kNodesMax) return false;
    switch (Peek()) {
      case '{':
        node.type = JsonType::kObject;
        return ReadChildren(node, '}');
      case '[':
        node.type = JsonType::kArray;
        return ReadChildren(node, ']');
      case '"':
        node.type = JsonType::kString;
        return ReadText(node.text_begin, node.text_size) && Keep(node);
      case 't':
        node.type = JsonType::kBoolean;
        node.boolean = true;
        return TakeWord("true") && Keep(node);
      case 'f':
        node.type = JsonType::kBoolean;
        return TakeWord("false") && Keep(node);
      case 'n':
        return TakeWord("null") && Keep(node);
      default:
        return ReadNumber(node) && Keep(node);
    }
  }

  bool Keep(const JsonNode& node) {
    nodes_.push_back(node);
    nodes_.back().next = Size(nodes_.size());
    return true;
  }

  bool ReadChildren(const JsonNode& parent, char end) {
    if (depth_ >= JsonTree::kDepthMax) return false;
    ++depth_;
    const std::uint32_t index = Size(nodes_.size());
    nodes_.push_back(parent);
    ++at_;
    SkipSpace();
    bool more = Peek() != end;
    while (more) {
      JsonNode child;
      child.parent = index;
      if (end == '}' && !ReadKey(child)) return false;
      if (!ReadValue(child)) return false;
      SkipSpace();
      more = Take(',');
    }
    if (!Take(end)) return false;
    nodes_[index].next = Size(nodes_.size());
    --depth_;
    return true;
  }

  bool ReadKey(JsonNode& child) {
    SkipSpace();
    if (!ReadText(child.key_begin, child.key_size)) return false;
    SkipSpace();
    return Take(':');
  }

  bool ReadText(std::uint32_t& begin, std::uint32_t& size) {
    if (!Take('"')) return false;
    begin = Size(at_);
    while (IsPlainText(Peek())) ++at_;
    size = Size(at_) - begin;
    return Take('"');
  }

  bool ReadNumber(JsonNode& node) {
    const bool negative = Take('-');
    const std::size_t begin = at_;
    std::int64_t digits = 0;
    int count = 0;
    if (!ReadDigits(digits, count)) return false;
    const bool leading_zero = text_[begin] == '0' && count > 1;
    if (leading_zero) return false;
    int decimals = 0;
    const bool real = Take('.');
    if (real) {
      const int whole = count;
      if (!ReadDigits(digits, count) || count > kRealDigitsMax) return false;
      decimals = count - whole;
    }
    if (Peek() == 'e' || Peek() == 'E') return false;
    const auto magnitude =
        static_cast<double>(digits) / kPowersOfTen[static_cast<std::size_t>(decimals)];
    node.type = real ? JsonType::kReal : JsonType::kInteger;
    if (!real) node.integer = negative ? -digits : digits;
    node.real = real ? (negative ? -magnitude : magnitude) : static_cast<double>(node.integer);
    return true;
  }

  // At least one, and with those before at most kDigitsMax.
  bool ReadDigits(std::int64_t& digits, int& count) {
    const int before = count;
    while (IsDigit(Peek())) {
      if (++count > kDigitsMax) return false;
      digits = digits * 10 + (Peek() - '0');
      ++at_;
    }
    return count > before;
  }

  static std::uint32_t Size(std::size_t size) { return static_cast<std::uint32_t>(size); }

  const std::string_view text_;
  std::vector<JsonNode>& nodes_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

bool ReadPlainJson(std::string_view text, std::vector<JsonNode>& nodes) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) return false;
  return PlainReader(text, nodes).Read();
}

}  // namespace plimsoll::internal
