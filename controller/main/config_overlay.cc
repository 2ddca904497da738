#include "controller/main/config_overlay.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace plimsoll {
namespace {

constexpr char kPrefix[] = "PLIMSOLL_";

// The variables of the command line tool.
constexpr std::string_view kOthers[] = {"PLIMSOLL_ADDR",        "PLIMSOLL_TOKEN",
                                        "PLIMSOLL_TOKEN_FILE",  "PLIMSOLL_CACERT",
                                        "PLIMSOLL_CLIENT_CERT", "PLIMSOLL_CLIENT_KEY"};

const ConfigKey* FindByEnvironment(const std::string& name) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (EnvironmentName(key) == name) return &key;
  }
  return nullptr;
}

std::string UnknownVariable(const std::string& name) {
  std::vector<std::string> names;
  for (const ConfigKey& key : ConfigKeys()) names.push_back(EnvironmentName(key));
  return absl::StrCat("unknown variable", Suggestion(name, names));
}

YamlNode Scalar(const std::string& text, bool quoted) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.quoted = quoted;
  node.text = text;
  return node;
}

// As somebody would have written it in the file. A text needs no quotes here: it can be nothing
// else.
YamlNode ToNode(const ConfigKey& key, const std::string& text) {
  const bool is_list = key.type == KeyType::kTexts || key.type == KeyType::kWords;
  const bool is_text =
      key.type == KeyType::kText || key.type == KeyType::kAddress || key.type == KeyType::kTexts;
  // It would be shown in the fault that it is.
  if (key.Is(ConfigKey::kSecret)) return Scalar("***", true);
  if (!is_list) return Scalar(text, is_text);
  YamlNode list;
  list.kind = YamlNode::Kind::kList;
  if (text.empty()) return list;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  for (const std::string& part : parts) list.items.push_back(Scalar(part, is_text));
  return list;
}

YamlNode* FindMember(YamlNode& map, const std::string& key) {
  for (auto& [name, value] : map.members) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace

EnvironmentSettings ReadEnvironment(const std::vector<std::string>& environment) {
  EnvironmentSettings settings;
  for (const std::string& variable : environment) {
    if (!absl::StartsWith(variable, kPrefix)) continue;
    const std::string name = variable.substr(0, variable.find('='));
    if (std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers)) continue;
    const ConfigKey* const key = FindByEnvironment(name);
    if (key == nullptr) {
      settings.unknown.emplace_back(name, UnknownVariable(name));
      continue;
    }
    const std::size_t value = std::min(variable.size(), name.size() + 1);
    settings.overrides.push_back({key, variable.substr(value), "ENV", name});
  }
  return settings;
}

std::vector<SettingOverride> ReadSettingFlags(
    const std::vector<std::pair<std::string, std::string>>& flags) {
  std::vector<SettingOverride> settings;
  for (const auto& [name, text] : flags) {
    const ConfigKey* const key = FindConfigKey(name);
    if (key != nullptr) settings.push_back({key, text, "FLAG", "--" + name});
  }
  return settings;
}

void Apply(const SettingOverride& setting, YamlNode& root, Faults& faults) {
  const std::string kind = setting.source == "ENV" ? "environment " : "flag ";
  const std::vector<std::string> path = absl::StrSplit(setting.key->name, '.');
  YamlNode* node = &root;
  std::string pointer;
  for (const std::string& key : path) {
    if (node->kind == YamlNode::Kind::kNull) node->kind = YamlNode::Kind::kMap;
    // The reader reports it: it must be a map.
    if (node->kind != YamlNode::Kind::kMap) return;
    pointer = Below(pointer, key);
    YamlNode* member = FindMember(*node, key);
    const bool is_last = &key == &path.back();
    if (member == nullptr) {
      node->members.push_back({key, YamlNode{}});
      member = &node->members.back().value;
    }
    if (is_last || !faults.Written(pointer)) {
      faults.SetOrigin(pointer, Mark{0, 0}, {kind + setting.place, pointer, false});
    }
    node = member;
  }
  *node = ToNode(*setting.key, setting.text);
}

const YamlNode* FindNode(const YamlNode& root, const std::string& pointer) {
  const YamlNode* node = &root;
  if (pointer.empty()) return node;
  const std::vector<std::string> path = absl::StrSplit(pointer.substr(1), '/');
  for (const std::string& key : path) {
    const YamlNode* next = nullptr;
    for (const auto& [name, value] : node->members) {
      if (name == key) next = &value;
    }
    if (next == nullptr) return nullptr;
    node = next;
  }
  return node;
}

}  // namespace plimsoll
