#include "controller/main/config_schema.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/config/yaml_writer.h"
#include "controller/main/config_keys.h"
#include "controller/main/law_keys.h"

namespace plimsoll {
namespace {

constexpr char kDuration[] = "^(0|[1-9][0-9]*)(\\.[0-9]+)?(us|ms|s|m|h)$";
constexpr char kSize[] = "^(0|[1-9][0-9]*)(\\.[0-9]+)?(B|KiB|MiB|GiB)$";
constexpr char kName[] = "^[A-Za-z0-9][A-Za-z0-9._~-]{0,62}$";
constexpr char kMatch[] = "^[A-Za-z0-9._~*?-]{0,62}[*?][A-Za-z0-9._~*?-]{0,62}$";

using Members = std::vector<std::pair<std::string, YamlNode>>;

YamlNode Text(const std::string& text) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.quoted = true;
  node.text = text;
  return node;
}

// A number or a flag.
YamlNode Plain(const std::string& text) {
  YamlNode node = Text(text);
  node.quoted = false;
  return node;
}

YamlNode List(std::vector<YamlNode> items) {
  YamlNode node;
  node.kind = YamlNode::Kind::kList;
  node.items = std::move(items);
  return node;
}

YamlNode Map(Members members) {
  YamlNode node;
  node.kind = YamlNode::Kind::kMap;
  for (auto& [name, value] : members) node.members.push_back({name, std::move(value)});
  return node;
}

void Add(YamlNode& map, const std::string& key, YamlNode value) {
  map.members.push_back({key, std::move(value)});
}

YamlNode* Find(YamlNode& map, const std::string& key) {
  for (auto& [name, value] : map.members) {
    if (name == key) return &value;
  }
  return nullptr;
}

YamlNode Typed(const std::string& type) { return Map({{"type", Text(type)}}); }

YamlNode Pattern(const std::string& pattern) {
  return Map({{"type", Text("string")}, {"pattern", Text(pattern)}});
}

YamlNode Words(const std::vector<std::string>& words) {
  std::vector<YamlNode> items;
  for (const std::string& word : words) items.push_back(Text(word));
  return Map({{"enum", List(std::move(items))}});
}

std::vector<std::string> WordsOf(const ConfigKey& key) { return absl::StrSplit(key.allowed, '|'); }

// "1 to 100"; what is no such range says nothing to a schema.
void AddRange(const ConfigKey& key, YamlNode& schema) {
  const std::vector<std::string> bounds = absl::StrSplit(key.allowed, " to ");
  double number = 0;
  if (absl::SimpleAtod(bounds[0], &number)) Add(schema, "minimum", Plain(bounds[0]));
  if (bounds.size() == 2 && absl::SimpleAtod(bounds[1], &number)) {
    Add(schema, "maximum", Plain(bounds[1]));
  }
}

YamlNode TypeOf(const ConfigKey& key) {
  YamlNode schema;
  switch (key.type) {
    case KeyType::kAddress:
    case KeyType::kText:
      return Typed("string");
    case KeyType::kFlag:
      return Typed("boolean");
    case KeyType::kDuration:
      return Pattern(kDuration);
    case KeyType::kSize:
      return Pattern(kSize);
    case KeyType::kWord:
      return Words(WordsOf(key));
    case KeyType::kTexts:
      return Map({{"type", Text("array")}, {"items", Typed("string")}});
    case KeyType::kWords:
      return Map({{"type", Text("array")}, {"items", Words(WordsOf(key))}});
    case KeyType::kMaps:
      return Map({{"type", Text("array")}, {"items", Typed("object")}});
    case KeyType::kWhole:
      schema = Typed("integer");
      break;
    case KeyType::kNumber:
      schema = Typed("number");
      break;
  }
  AddRange(key, schema);
  return schema;
}

bool IsPlain(const ConfigKey& key) {
  return key.type == KeyType::kWhole || key.type == KeyType::kNumber || key.type == KeyType::kFlag;
}

YamlNode SchemaOf(const ConfigKey& key) {
  YamlNode schema = TypeOf(key);
  Add(schema, "description", Text(key.meaning));
  const std::string value = key.value;
  if (value == "[]") {
    Add(schema, "default", List({}));
  } else if (!value.empty()) {
    Add(schema, "default", IsPlain(key) ? Plain(value) : Text(value));
  }
  return schema;
}

YamlNode SchemaOf(const LawKey& key) {
  switch (key.type) {
    case LawKey::Type::kDuration: {
      YamlNode schema = Pattern(kDuration);
      if (!key.value.empty()) Add(schema, "default", Text(key.value));
      return schema;
    }
    case LawKey::Type::kNumber:
      return Map({{"type", Text("number")}, {"default", Plain(key.value)}});
    case LawKey::Type::kWhole:
      return Map({{"type", Text("integer")}, {"default", Plain(key.value)}});
    case LawKey::Type::kFlag:
      return Map({{"type", Text("boolean")}, {"default", Plain(key.value)}});
    case LawKey::Type::kText:
      break;
  }
  // A rule such as 3*log10 may be a number as well.
  YamlNode schema = key.words.empty() ? Map({{"type", List({Text("string"), Text("integer")})}})
                                      : Words(key.words);
  Add(schema, "default", Text(key.value));
  return schema;
}

// An object that takes no other keys than those that are added to it. Null is an empty one.
YamlNode Section() {
  return Map({{"type", List({Text("object"), Text("null")})},
              {"additionalProperties", Plain("false")},
              {"properties", Map({})}});
}

// Puts the schema of "quota.services.NAME.weight" into that of the map it is in.
void Insert(YamlNode& section, const std::string& name, YamlNode schema) {
  const std::vector<std::string> path = absl::StrSplit(name, '.');
  YamlNode* map = &section;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool is_last = i + 1 == path.size();
    if (path[i] == "NAME") {
      // Any name: "additionalProperties" has the schema, once it is there.
      YamlNode* const others = Find(*map, "additionalProperties");
      if (others->kind != YamlNode::Kind::kMap) *others = Section();
      map = others;
      continue;
    }
    YamlNode& properties = *Find(*map, "properties");
    if (is_last) return Add(properties, path[i], std::move(schema));
    if (Find(properties, path[i]) == nullptr) Add(properties, path[i], Section());
    map = Find(properties, path[i]);
  }
}

// Of "defaults", or with a name of one dependency.
YamlNode PolicySchema(bool is_dependency) {
  YamlNode policy = Section();
  if (is_dependency) {
    *Find(policy, "type") = Text("object");
    Insert(policy, "name", Pattern(kName));
    Insert(policy, "match", Pattern(kMatch));
    Insert(policy, "description", Typed("string"));
    Add(policy, "oneOf",
        List({Map({{"required", List({Text("name")})}}),
              Map({{"required", List({Text("match")})}})}));
  }
  for (const ConfigKey& key : PolicyKeys()) Insert(policy, key.name, SchemaOf(key));
  for (const LawKey& key : LawKeys()) Insert(policy, key.name, SchemaOf(key));
  return policy;
}

}  // namespace

std::string SchemaText() {
  YamlNode top = Map({{"$schema", Text("https://json-schema.org/draft/2020-12/schema")},
                      {"title", Text("Configuration of plimsoll-controller")},
                      {"type", Text("object")},
                      {"additionalProperties", Plain("false")},
                      {"properties", Map({})}});
  for (const ConfigKey& key : ConfigKeys()) {
    if (!key.Is(ConfigKey::kLater)) Insert(top, key.name, SchemaOf(key));
  }
  YamlNode& properties = *Find(top, "properties");
  Add(properties, "defaults", PolicySchema(false));
  Add(properties, "dependencies", Map({{"type", Text("array")}, {"items", PolicySchema(true)}}));
  return ToJson(top, 2) + "\n";
}

}  // namespace plimsoll
