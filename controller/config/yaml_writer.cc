#include "controller/config/yaml_writer.h"

#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/config/scalars.h"

namespace plimsoll {
namespace {

std::string Scalar(const YamlNode& node) {
  // What is refused as a string is a number or a flag.
  return ParseText(node).ok() ? QuotedJson(node.text) : node.text;
}

// The parts of a list or a map between its brackets; `margin` is where the brackets stand.
std::string Enclose(char open, const std::vector<std::string>& parts, char close, int indent,
                    int margin) {
  if (indent == 0 || parts.empty()) {
    return absl::StrCat(std::string(1, open), absl::StrJoin(parts, ", "), std::string(1, close));
  }
  const std::string outer(static_cast<std::size_t>(margin), ' ');
  const std::string inner(static_cast<std::size_t>(margin + indent), ' ');
  return absl::StrCat(std::string(1, open), "\n", inner, absl::StrJoin(parts, ",\n" + inner), "\n",
                      outer, std::string(1, close));
}

std::string Write(const YamlNode& node, int indent, int margin) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      return Scalar(node);
    case YamlNode::Kind::kList:
      for (const YamlNode& item : node.items) {
        parts.push_back(Write(item, indent, margin + indent));
      }
      return Enclose('[', parts, ']', indent, margin);
    case YamlNode::Kind::kMap:
      for (const auto& [key, value] : node.members) {
        parts.push_back(absl::StrCat(QuotedJson(key), ": ", Write(value, indent, margin + indent)));
      }
      return Enclose('{', parts, '}', indent, margin);
  }
  return "null";
}

}  // namespace

std::string QuotedJson(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.push_back('\\');
      quoted.push_back(c);
    } else if (c == '\n') {
      quoted.append("\\n");
    } else if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(byte));
      quoted.append(escape);
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

std::string ToJson(const YamlNode& node, int indent) { return Write(node, indent, 0); }

}  // namespace plimsoll
