// Writes the description of the API as C++: the YAML that people edit becomes the JSON that
// programs read.
//   plimsoll_openapi_embed api/openapi.yaml openapi_json.cc
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "controller/config/read_file.h"
#include "controller/config/yaml_tree.h"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

Json ScalarJson(const YamlNode& node) {
  std::int64_t whole = 0;
  double number = 0;
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  if (absl::SimpleAtoi(node.text, &whole)) return whole;
  if (absl::SimpleAtod(node.text, &number)) return number;
  return node.text;
}

Json ToJson(const YamlNode& node) {
  Json json;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      break;
    case YamlNode::Kind::kScalar:
      return ScalarJson(node);
    case YamlNode::Kind::kList:
      json = Json::array();
      for (const YamlNode& item : node.items) json.push_back(ToJson(item));
      break;
    case YamlNode::Kind::kMap:
      json = Json::object();
      for (const YamlMember& member : node.members) json[member.key] = ToJson(member.value);
      break;
  }
  return json;
}

int Embed(const std::string& source, const std::string& target) {
  const absl::StatusOr<std::string> text = ReadFile(source);
  Faults faults;
  const YamlAdvice advice{"openapi: 3.1.0", ""};
  const std::optional<YamlNode> root =
      text.ok() ? ParseYaml(*text, advice, faults) : std::optional<YamlNode>();
  if (!root.has_value() || !faults.empty()) {
    std::cerr << text.status() << "\n" << absl::StrJoin(faults.ToLines(source), "\n") << "\n";
    return 1;
  }
  std::ofstream file(target);
  file << "#include \"api/http/src/openapi.h\"\n\n"
       << "namespace plimsoll::internal {\n\n"
       << "std::string_view OpenapiJson() {\n  return R\"plimsoll(" << ToJson(*root).dump()
       << ")plimsoll\";\n}\n\n}  // namespace plimsoll::internal\n";
  file.close();
  return file ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  if (argc == 3) return plimsoll::Embed(argv[1], argv[2]);
  std::fputs("usage: plimsoll_openapi_embed OPENAPI.YAML OUTPUT.CC\n", stderr);
  return 2;
}
