#include "controller/config/yaml_tree.h"

#include <yaml-cpp/yaml.h>

#include <map>

#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

constexpr std::size_t kBytesMax = std::size_t{4} << 20;
constexpr int kNodesMax = 100'000;
constexpr int kDepthMax = 64;

Mark ToMark(const YAML::Mark& mark) {
  return mark.is_null() ? Mark{} : Mark{mark.line + 1, mark.column + 1};
}

// Turns yaml-cpp's graph into a tree.
class Converter {
 public:
  // The advice must outlive the converter.
  Converter(const YamlAdvice& advice, Faults& faults) : advice_(advice), faults_(faults) {}

  YamlNode Convert(const YAML::Node& node, const std::string& pointer, const Mark& place);
  bool gave_up() const { return gave_up_; }
  Faults::Places TakePlaces() { return std::move(places_); }

 private:
  bool Enter(const std::string& pointer, const Mark& place);
  void ConvertList(const YAML::Node& node, const std::string& pointer, const Mark& place,
                   YamlNode& list);
  void ConvertMap(const YAML::Node& node, const std::string& pointer, YamlNode& map);
  // The key, if it can be one.
  std::optional<std::string> Key(const YAML::Node& key, const std::string& pointer,
                                 std::map<std::string, Mark>& seen);

  const YamlAdvice& advice_;
  Faults& faults_;
  Faults::Places places_;
  int nodes_ = 0;
  int depth_ = 0;
  bool gave_up_ = false;
};

bool Converter::Enter(const std::string& pointer, const Mark& place) {
  if (gave_up_) return false;
  gave_up_ = ++nodes_ > kNodesMax || depth_ >= kDepthMax;
  if (gave_up_) {
    faults_.Add(place, pointer,
                absl::StrCat("aliases or nesting expand beyond ", kNodesMax, " values or ",
                             kDepthMax, " levels: write the settings out"));
  }
  return !gave_up_;
}

YamlNode Converter::Convert(const YAML::Node& node, const std::string& pointer, const Mark& place) {
  YamlNode result;
  if (!Enter(pointer, place)) return result;
  places_.emplace(pointer, place);
  const std::string& tag = node.Tag();
  if (!tag.empty() && tag != "?" && tag != "!") {
    faults_.Add(place, pointer, "tags are not supported: remove " + Quoted(tag));
  }
  ++depth_;
  if (node.IsScalar()) {
    result.kind = YamlNode::Kind::kScalar;
    result.quoted = tag == "!";
    result.text = node.Scalar();
  } else if (node.IsSequence()) {
    ConvertList(node, pointer, place, result);
  } else if (node.IsMap()) {
    ConvertMap(node, pointer, result);
  }
  --depth_;
  return result;
}

void Converter::ConvertList(const YAML::Node& node, const std::string& pointer, const Mark& place,
                            YamlNode& list) {
  list.kind = YamlNode::Kind::kList;
  for (const YAML::Node& item : node) {
    // A null is marked on a later line, an alias where its anchor stands.
    const Mark mark = ToMark(item.Mark());
    const bool elsewhere = item.IsNull() || mark < place;
    list.items.push_back(
        Convert(item, Below(pointer, absl::StrCat(list.items.size())), elsewhere ? place : mark));
  }
}

void Converter::ConvertMap(const YAML::Node& node, const std::string& pointer, YamlNode& map) {
  map.kind = YamlNode::Kind::kMap;
  std::map<std::string, Mark> seen;
  for (const auto& member : node) {
    const std::optional<std::string> key = Key(member.first, pointer, seen);
    if (!key.has_value()) continue;
    const Mark mark = ToMark(member.first.Mark());
    map.members.push_back({*key, Convert(member.second, Below(pointer, *key), mark)});
  }
}

std::optional<std::string> Converter::Key(const YAML::Node& key, const std::string& pointer,
                                          std::map<std::string, Mark>& seen) {
  const Mark mark = ToMark(key.Mark());
  if (!key.IsScalar()) {
    faults_.Add(mark, pointer, "a key must be a single word");
    return std::nullopt;
  }
  const std::string& name = key.Scalar();
  if (name == "<<") {
    faults_.Add(mark, Below(pointer, name),
                "merge keys are not supported: write the settings out" +
                    (advice_.common.empty() ? "" : ", or put " + advice_.common));
    return std::nullopt;
  }
  const auto [first, is_new] = seen.emplace(name, mark);
  if (is_new) return name;
  faults_.Add(mark, Below(pointer, name),
              absl::StrCat("duplicate key, first written at line ", first->second.line, ", column ",
                           first->second.column, ": remove one of the two"),
              FaultCode::kDuplicateKey);
  return std::nullopt;
}

std::optional<YamlNode> Convert(const std::vector<YAML::Node>& documents, const YamlAdvice& advice,
                                Faults& faults) {
  if (documents.empty() || documents[0].IsNull()) {
    faults.Add(Mark{}, "",
               absl::StrCat("the file is empty: it must hold at least \"", advice.least, "\""));
    return std::nullopt;
  }
  if (documents.size() > 1) {
    faults.Add(ToMark(documents[1].Mark()), "",
               "more than one document: remove the line \"---\" before this one");
    return std::nullopt;
  }
  Converter converter(advice, faults);
  const Mark top = ToMark(documents[0].Mark());
  YamlNode root = converter.Convert(documents[0], "", top);
  if (converter.gave_up()) return std::nullopt;
  if (root.kind != YamlNode::Kind::kMap) {
    faults.Add(
        top, "",
        absl::StrCat("the top must be a map such as \"", advice.least, "\", not ", Describe(root)),
        FaultCode::kWrongType);
    return std::nullopt;
  }
  faults.set_places(converter.TakePlaces());
  return root;
}

}  // namespace

std::string Describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return Quoted(node.text);
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "nothing";
}

std::optional<YamlNode> ParseYaml(const std::string& text, const YamlAdvice& advice,
                                  Faults& faults) {
  if (text.size() > kBytesMax) {
    faults.Add(
        Mark{}, "",
        absl::StrCat("the file has ", text.size(), " bytes: at most ", kBytesMax, " are read"));
    return std::nullopt;
  }
  try {
    return Convert(YAML::LoadAll(text), advice, faults);
  } catch (const YAML::Exception& exception) {
    faults.Add(ToMark(exception.mark), "",
               absl::StrCat("nested too deeply or not YAML: ", exception.msg));
    return std::nullopt;
  }
}

}  // namespace plimsoll
