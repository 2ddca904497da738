#include "controller/config/map_reader.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/config/scalars.h"

namespace plimsoll {
namespace {

const YamlNode& Nothing() {
  static const YamlNode& nothing = *new YamlNode;
  return nothing;
}

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

MapReader::MapReader(const YamlNode& node, std::string pointer, Faults& faults)
    : node_(node), pointer_(std::move(pointer)), faults_(faults) {
  if (node.kind != YamlNode::Kind::kMap && node.kind != YamlNode::Kind::kNull) {
    faults_.Add(pointer_, absl::StrCat("must be a map, not ", Describe(node)),
                FaultCode::kWrongType);
  }
}

const YamlNode* MapReader::Find(const std::string& key) {
  known_.push_back(key);
  for (const auto& [name, value] : node_.members) {
    if (name == key) return &value;
  }
  return nullptr;
}

// A text of the right type may still be no duration; a number may be too large.
FaultCode CodeFor(const YamlNode& node, bool text_is_right) {
  if (node.kind != YamlNode::Kind::kScalar) return FaultCode::kWrongType;
  if (text_is_right) return FaultCode::kBadFormat;
  const bool digits = !node.quoted && !node.text.empty() &&
                      node.text.find_first_not_of("-0123456789") == std::string::npos;
  return digits ? FaultCode::kOutOfRange : FaultCode::kWrongType;
}

template <typename Value, typename Parse>
void MapReader::Read(const std::string& key, Parse parse, Value& target, bool text_is_right) {
  const YamlNode* const node = Find(key);
  if (node == nullptr) return;
  auto value = parse(*node);
  if (value.ok()) {
    target = *std::move(value);
  } else {
    faults_.Add(Pointer(key), std::string(value.status().message()), CodeFor(*node, text_is_right));
  }
}

void MapReader::Whole(const std::string& key, std::int32_t& target) {
  Read(key, ParseWhole, target);
}
void MapReader::Number(const std::string& key, double& target) { Read(key, ParseNumber, target); }
void MapReader::Duration(const std::string& key, absl::Duration& target) {
  Read(key, ParseDuration, target, true);
}
void MapReader::Size(const std::string& key, std::uint64_t& target) {
  Read(key, ParseSize, target, true);
}
void MapReader::Flag(const std::string& key, bool& target) { Read(key, ParseFlag, target); }
void MapReader::Text(const std::string& key, std::string& target) { Read(key, ParseText, target); }

int MapReader::WordIndex(const std::string& key, const std::vector<std::string>& names,
                         const std::vector<std::string>& later) {
  const YamlNode* const node = Find(key);
  if (node == nullptr) return -1;
  const auto found = node->kind == YamlNode::Kind::kScalar
                         ? std::find(names.begin(), names.end(), absl::AsciiStrToLower(node->text))
                         : names.end();
  if (found != names.end()) return static_cast<int>(found - names.begin());
  const std::string choice = absl::StrJoin(names, ", ");
  if (node->kind == YamlNode::Kind::kScalar && Contains(later, absl::AsciiStrToLower(node->text))) {
    faults_.Add(Pointer(key), absl::StrCat(Describe(*node), " is not supported yet: ", choice),
                FaultCode::kBadEnum);
  } else {
    faults_.Add(Pointer(key),
                absl::StrCat("must be one of ", choice, ", not ", Describe(*node),
                             Suggestion(absl::AsciiStrToLower(node->text), names)),
                FaultCode::kBadEnum);
  }
  return -1;
}

const std::vector<YamlNode>& MapReader::List(const std::string& key) {
  const YamlNode* const node = Find(key);
  if (node == nullptr) return Nothing().items;
  if (node->kind != YamlNode::Kind::kList) {
    faults_.Add(Pointer(key), absl::StrCat("must be a list, not ", Describe(*node)),
                FaultCode::kWrongType);
  }
  return node->items;
}

MapReader MapReader::Map(const std::string& key) {
  const YamlNode* const node = Find(key);
  return {node == nullptr ? Nothing() : *node, Pointer(key), faults_};
}

void MapReader::Later(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (Find(key) != nullptr)
      faults_.Add(Pointer(key), "not supported yet: remove it", FaultCode::kUnknownKey);
    known_.pop_back();  // no suggestion for others
  }
  planned_.insert(planned_.end(), keys.begin(), keys.end());
}

void MapReader::Ignore(const std::vector<std::string>& keys) {
  planned_.insert(planned_.end(), keys.begin(), keys.end());
}

void MapReader::Finish() {
  for (const auto& [name, value] : node_.members) {
    if (Contains(known_, name) || Contains(planned_, name)) continue;
    const std::string suggestion = Suggestion(name, known_);
    faults_.Add(Pointer(name),
                absl::StrCat("unknown key",
                             suggestion.empty()
                                 ? absl::StrCat(" (known here: ", absl::StrJoin(known_, ", "), ")")
                                 : suggestion),
                FaultCode::kUnknownKey);
  }
}

}  // namespace plimsoll
