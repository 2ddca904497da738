#include "controller/main/secret.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/config/yaml_writer.h"

namespace plimsoll {
namespace {

constexpr char kHidden[] = "***";

void Collect(const YamlNode& node, std::set<std::string>& names) {
  if (const auto name = ReferredVariable(node.text)) names.insert(*name);
  for (const YamlNode& item : node.items) Collect(item, names);
  for (const YamlMember& member : node.members) Collect(member.value, names);
}

void Hide(YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar && !ReferredVariable(node.text).has_value()) {
    node.text = kHidden;
    node.quoted = true;
  }
  for (YamlNode& item : node.items) Hide(item);
  for (YamlMember& member : node.members) {
    if (member.key != "name" && member.key != "role") Hide(member.value);
  }
}

}  // namespace

std::optional<std::string> ReferredVariable(const std::string& text) {
  if (!absl::StartsWith(text, "${") || !absl::EndsWith(text, "}")) return std::nullopt;
  const std::string name = text.substr(2, text.size() - 3);
  const auto fits = [](char c) {
    return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
  };
  const bool good = !name.empty() && std::all_of(name.begin(), name.end(), fits) &&
                    !absl::ascii_isdigit(static_cast<unsigned char>(name[0]));
  return good ? std::optional(name) : std::nullopt;
}

std::set<std::string> ReferredVariables(const YamlNode& node) {
  std::set<std::string> names;
  Collect(node, names);
  return names;
}

std::optional<std::string> ReadSecret(MapReader& map, const std::string& key,
                                      const VariableLookup& variables, Faults& faults) {
  const YamlNode* const node = map.Find(key);
  if (node == nullptr) {
    faults.Add(map.Pointer(key),
               "is missing: the variable of the environment that has it, such as "
               "\"${CI_TOKEN}\"",
               FaultCode::kRequired);
    return std::nullopt;
  }
  const std::optional<std::string> name = ReferredVariable(node->text);
  if (!name.has_value()) {
    // What stands there may be the secret: it is not shown.
    faults.Add(map.Pointer(key),
               "must name a variable of the environment, such as \"${CI_TOKEN}\": secrets do not "
               "stand in this file");
    return std::nullopt;
  }
  if (!variables) return std::nullopt;
  std::optional<std::string> value = variables(*name);
  if (value.has_value() && !value->empty()) return value;
  faults.Add(map.Pointer(key),
             absl::StrCat("the variable ", *name, " is not set: set it where the controller runs"));
  return std::nullopt;
}

std::string ShowSecrets(const YamlNode& node) {
  YamlNode shown = node;
  Hide(shown);
  return ToJson(shown);
}

}  // namespace plimsoll
