#include "controller/operations/json_text.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace plimsoll {
namespace {

// Plain scalars of JSON are numbers, true and false; whatever else stands there is a text.
bool IsLiteral(const YamlNode& node) {
  if (node.quoted || node.text.empty()) return false;
  if (node.text == "true" || node.text == "false") return true;
  double number = 0;
  return node.text.find_first_not_of("+-.0123456789eE") == std::string::npos &&
         absl::SimpleAtod(node.text, &number);
}

YamlNode* Find(YamlNode& map, const std::string& key) {
  for (YamlMember& member : map.members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

}  // namespace

std::string JsonString(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&json, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string ToJson(const YamlNode& node) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      return IsLiteral(node) ? node.text : JsonString(node.text);
    case YamlNode::Kind::kList:
      for (const YamlNode& item : node.items) parts.push_back(ToJson(item));
      return absl::StrCat("[", absl::StrJoin(parts, ","), "]");
    case YamlNode::Kind::kMap:
      for (const YamlMember& member : node.members) {
        parts.push_back(absl::StrCat(JsonString(member.key), ":", ToJson(member.value)));
      }
      return absl::StrCat("{", absl::StrJoin(parts, ","), "}");
  }
  return "null";
}

void MergePatch(YamlNode& target, const YamlNode& patch) {
  if (patch.kind != YamlNode::Kind::kMap) {
    target = patch;
    return;
  }
  if (target.kind != YamlNode::Kind::kMap) {
    target = YamlNode();
    target.kind = YamlNode::Kind::kMap;
  }
  for (const YamlMember& member : patch.members) {
    if (member.value.kind == YamlNode::Kind::kNull) {
      std::erase_if(target.members,
                    [&member](const YamlMember& other) { return other.key == member.key; });
      continue;
    }
    YamlNode* known = Find(target, member.key);
    if (known == nullptr) known = &target.members.emplace_back(YamlMember{member.key, {}}).value;
    MergePatch(*known, member.value);
  }
}

void DropNulls(YamlNode& node) {
  std::erase_if(node.members, [](const YamlMember& member) {
    return member.value.kind == YamlNode::Kind::kNull;
  });
  for (YamlMember& member : node.members) DropNulls(member.value);
  for (YamlNode& item : node.items) DropNulls(item);
}

}  // namespace plimsoll
