#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/config/faults.h"

namespace plimsoll {

struct YamlMember;

// What a YAML file says, before anybody has decided what it means. Thread-compatible.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;  // a scalar in quotes is a string, whatever it looks like
  std::string text;     // of a scalar, as written
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;  // in the order of the file, with unique keys
};

struct YamlMember {
  std::string key;
  YamlNode value;
};

// "a map", "a list", "nothing" or the quoted text, for messages.
std::string Describe(const YamlNode& node);

// What messages may advise, which depends on what the file is for.
struct YamlAdvice {
  std::string least;   // a file that says as little as it may
  std::string common;  // where to put what would be merged; empty: there is no such place
};

// Reads one document whose top is a map, and hands its places to `faults`. Nothing if it cannot be
// read at all; duplicate keys, merge keys, tags and keys that are not scalars are reported and left
// out. Aliases are resolved; what expands beyond 100,000 nodes or 64 levels is refused, and so is a
// text of more than 4 MiB.
std::optional<YamlNode> ParseYaml(const std::string& text, const YamlAdvice& advice,
                                  Faults& faults);

}  // namespace plimsoll
