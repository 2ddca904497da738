#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace plimsoll::internal {

enum class JsonType : std::uint8_t { kNull, kBoolean, kInteger, kReal, kString, kArray, kObject };

// One value. Nodes lie in the order of the text, so the children of a node follow it, up to `next`.
// Names and strings are places in the text that was parsed, or in the tree's store.
struct JsonNode {
  JsonType type = JsonType::kNull;
  bool boolean = false;
  std::uint32_t parent = 0;
  std::uint32_t next = 0;  // past this value and all that is in it
  std::uint32_t key_begin = 0;
  std::uint32_t key_size = 0;
  std::uint32_t text_begin = 0;
  std::uint32_t text_size = 0;
  std::int64_t integer = 0;  // saturated
  double real = 0;
};

class JsonIterator;
class JsonValue;

// A parsed document that, unlike a map, keeps duplicate keys, so that they can be refused.
// Cheaper than a general document: two allocations that grow, whatever the text holds, and one that
// does not for what agents write.
// Thread-compatible.
class JsonTree {
 public:
  static constexpr std::size_t kDepthMax = 16;
  static constexpr std::size_t kNodesMax = 200'000;

  // Returns kInvalidArgument for text that is not JSON in UTF-8, nested deeper than kDepthMax, or
  // longer than kNodesMax values; the message says where.
  // The text must outlive the tree.
  absl::Status Parse(std::string_view text);
  // The same without the short cut for what agents write: for tests.
  absl::Status ParseInFull(std::string_view text);

  // Requires a successful Parse(). The tree must outlive the value.
  JsonValue root() const;

 private:
  friend class JsonValue;
  class Builder;

  std::vector<JsonNode> nodes_;
  std::string_view text_;  // of the caller: where names and strings are, if it is plain
  std::string store_;      // where they are if it is not
  bool plain_ = false;
};

// A place in a tree. Cheap to copy. Thread-compatible.
class JsonValue {
 public:
  JsonValue(const JsonTree& tree, std::uint32_t index) : tree_(&tree), index_(index) {}

  JsonType type() const { return node().type; }
  bool boolean() const { return node().boolean; }
  std::int64_t integer() const { return node().integer; }
  // Of an integer, too.
  double real() const { return node().real; }
  std::string_view text() const { return View(node().text_begin, node().text_size); }
  // Empty for elements of arrays.
  std::string_view key() const { return View(node().key_begin, node().key_size); }
  // RFC 6901.
  std::string Pointer() const;

  // The members or elements; none for scalars.
  JsonIterator begin() const;
  JsonIterator end() const;
  std::size_t size() const;

 private:
  friend class JsonIterator;

  const JsonNode& node() const { return tree_->nodes_[index_]; }
  std::string_view View(std::uint32_t begin, std::uint32_t size) const {
    return (tree_->plain_ ? tree_->text_ : std::string_view(tree_->store_)).substr(begin, size);
  }

  const JsonTree* tree_;
  std::uint32_t index_;
};

class JsonIterator {
 public:
  explicit JsonIterator(const JsonValue& at) : value_(at) {}
  const JsonValue& operator*() const { return value_; }
  JsonIterator& operator++() {
    value_.index_ = value_.node().next;
    return *this;
  }
  bool operator!=(const JsonIterator& other) const { return value_.index_ != other.value_.index_; }

 private:
  JsonValue value_;
};

inline JsonIterator JsonValue::begin() const { return JsonIterator(JsonValue(*tree_, index_ + 1)); }
inline JsonIterator JsonValue::end() const { return JsonIterator(JsonValue(*tree_, node().next)); }

// A reference token of RFC 6901: with '~' and '/' escaped.
std::string EscapePointer(std::string_view key);

}  // namespace plimsoll::internal
