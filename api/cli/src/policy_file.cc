#include "api/cli/src/policy_file.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "controller/config/faults.h"
#include "controller/config/map_reader.h"
#include "controller/config/policy_reader.h"
#include "controller/config/yaml_tree.h"
#include "plimsoll/controller/options.h"

namespace plimsoll::cli {
namespace {

// The strict reader has let pass only what can be told apart.
Json ScalarOf(const YamlNode& node) {
  const std::string& text = node.text;
  if (node.quoted) return text;
  if (text == "true" || text == "false") return text == "true";
  if (text == "null" || text == "~" || text.empty()) return nullptr;
  std::int64_t whole = 0;
  if (absl::SimpleAtoi(text, &whole)) return whole;
  double number = 0;
  const bool numeric = text.find_first_not_of("0123456789.+-eE") == std::string::npos;
  if (numeric && absl::SimpleAtod(text, &number)) return number;
  return text;
}

Json ToJson(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return nullptr;
    case YamlNode::Kind::kScalar:
      return ScalarOf(node);
    case YamlNode::Kind::kList: {
      Json list = Json::array();
      for (const YamlNode& item : node.items) list.push_back(ToJson(item));
      return list;
    }
    case YamlNode::Kind::kMap:
      break;
  }
  Json map = Json::object();
  for (const YamlMember& member : node.members) map[member.key] = ToJson(member.value);
  return map;
}

// What `from` says, where `into` says nothing.
void Merge(const Json& from, Json& into) {
  if (!from.is_object() || !into.is_object()) return;
  for (const auto& [key, value] : from.items()) {
    if (!into.contains(key)) {
      into[key] = value;
    } else {
      Merge(value, into[key]);
    }
  }
}

void CheckPolicies(const YamlNode& root, Faults& faults) {
  MapReader top(root, "", faults);
  // The controller's own default.
  Policy usual;
  usual.algorithm.kind = AlgorithmKind::kFleetKnee;
  ReadPolicies(top, usual, CoreOptions{}.lease, faults);
  top.Finish();
  const std::vector<YamlNode>& items = top.List("dependencies");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string pointer = Below("/dependencies", std::to_string(i));
    if (MapReader(items[i], pointer, faults).Find("match") == nullptr) continue;
    faults.Add(Below(pointer, "match"),
               "templates belong into the configuration file of the controller: only dependencies "
               "with a name can be applied");
  }
}

}  // namespace

absl::StatusOr<std::vector<DependencyDocument>> ReadPolicyFile(const std::string& text,
                                                               const std::string& name) {
  Faults faults;
  const YamlAdvice advice{"dependencies: []",
                          "what dependencies have in common under \"defaults\""};
  const std::optional<YamlNode> root = ParseYaml(text, advice, faults);
  if (root.has_value()) CheckPolicies(*root, faults);
  if (!faults.empty()) return absl::DataLossError(absl::StrJoin(faults.ToLines(name), "\n"));
  const Json file = ToJson(*root);
  std::vector<DependencyDocument> documents;
  for (Json body : At(file, "/dependencies")) {
    Merge(At(file, "/defaults"), body);
    documents.push_back({TextAt(body, "/name"), body});
  }
  return documents;
}

}  // namespace plimsoll::cli
