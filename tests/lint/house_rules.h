#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace plimsoll::lint {

// One place that breaks a rule of CONTRIBUTING.md.
struct Violation {
  std::string path;      // from the root, with slashes
  std::size_t line = 0;  // 0: the file as a whole
  std::string rule;
};

// Looks at every file below `root` that people write: not at build/, .git/ and reference data.
// Sorted by path.
std::vector<Violation> CheckTree(const std::filesystem::path& root);

}  // namespace plimsoll::lint
