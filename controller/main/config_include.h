#pragma once

#include <string>

#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"

namespace plimsoll {

// Which files may be included.
enum class IncludeRule {
  kAnywhere,
  // Those in the folder of the file or below it, whatever links say, and whose names end in .yaml,
  // .yml or .json: for a text that is not from that folder.
  kOwnFolder,
};

// Reads the files that "include" of `root` names, takes that key away, and appends their
// dependencies to those of `root`. `path` is that of the file: patterns are relative to its folder.
// What is wrong with a file is told at "include", with the place in the file; what will be found
// wrong with its dependencies, at its own place. Returns the texts that were read.
std::string ReadIncludes(const std::string& path, YamlNode& root, Faults& faults,
                         IncludeRule rule = IncludeRule::kAnywhere);

}  // namespace plimsoll
