#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::lint {

// The rules as data. All paths are from the root.

// What the files below `folder` may include of ours; the first entry whose folder fits decides.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> may_include;  // prefixes of included paths
};
const std::vector<Layer>& Layers();

// A header or a word that only some places may use.
struct Confined {
  std::string_view what;                  // prefix of an included path, or a word of code
  std::vector<std::string_view> only_in;  // prefixes of paths
  std::string_view instead;               // what to use elsewhere
};
const std::vector<Confined>& ConfinedHeaders();
const std::vector<Confined>& ConfinedWords();

// Headers that pure code must not include.
struct Banned {
  std::string_view folder;
  std::vector<std::string_view> headers;  // prefixes of included paths
};
const std::vector<Banned>& BannedHeaders();

// Words that no text may hold.
const std::vector<std::string>& BannedWords();

}  // namespace plimsoll::lint
