#include "controller/main/config_include.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/config/read_file.h"
#include "controller/config/scalars.h"

namespace plimsoll {
namespace {

constexpr char kInclude[] = "include";
constexpr char kDependencies[] = "dependencies";

// In the order of their names.
std::vector<std::string> FilesOf(const std::string& pattern) {
  std::vector<std::string> files;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return files;
}

bool IsPlainPattern(const std::filesystem::path& pattern) {
  return pattern.is_relative() && std::find(pattern.begin(), pattern.end(), "..") == pattern.end();
}

// What a sent text may include. Its faults show what they are about, so no other file may be read.
bool LiesIn(const std::filesystem::path& folder, const std::string& file) {
  std::error_code error;
  const auto real = std::filesystem::canonical(file, error);
  if (error || !std::filesystem::is_regular_file(real, error)) return false;
  const auto real_folder = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  if (error) return false;
  const auto [end, unused] =
      std::mismatch(real_folder.begin(), real_folder.end(), real.begin(), real.end());
  const std::string kind = real.extension().string();
  return end == real_folder.end() && (kind == ".yaml" || kind == ".yml" || kind == ".json");
}

// Why this pattern cannot be followed; empty if it can.
std::string WhyNot(const std::string& path, const std::string& pattern, IncludeRule rule) {
  if (rule == IncludeRule::kAnywhere) return "";
  if (path.empty())
    return "there is no configuration file whose folder could be meant: leave it out";
  if (IsPlainPattern(pattern)) return "";
  return "a text that was sent may include files of the folder of the configuration and below, by "
         "a "
         "relative pattern without \"..\": check others with plimsoll-controller --check-config";
}

// The value of "include", which is taken out of the map.
std::optional<YamlNode> Take(YamlNode& root) {
  const auto found = std::find_if(root.members.begin(), root.members.end(),
                                  [](const YamlMember& member) { return member.key == kInclude; });
  if (found == root.members.end()) return std::nullopt;
  YamlNode value = std::move(found->value);
  root.members.erase(found);
  return value;
}

// The list of dependencies; null if what stands there is none, which the reader reports.
YamlNode* DependenciesOf(YamlNode& root) {
  for (auto& [name, value] : root.members) {
    if (name != kDependencies) continue;
    if (value.kind == YamlNode::Kind::kNull) value.kind = YamlNode::Kind::kList;
    return value.kind == YamlNode::Kind::kList ? &value : nullptr;
  }
  root.members.push_back({kDependencies, YamlNode{}});
  root.members.back().value.kind = YamlNode::Kind::kList;
  return &root.members.back().value;
}

// An included file says nothing but what dependencies there are.
void CheckShape(const YamlNode& file, Faults& own) {
  for (const auto& [name, value] : file.members) {
    if (name != kDependencies) {
      own.Add(Below("", name), "only dependencies may stand in an included file: move it");
    } else if (value.kind != YamlNode::Kind::kList && value.kind != YamlNode::Kind::kNull) {
      own.Add(Below("", name), absl::StrCat("must be a list, not ", Describe(value)));
    }
  }
}

// Dependency `from` of the file becomes number `to`, and keeps its places.
void Adopt(const std::string& file, const Faults& own, std::size_t from, std::size_t to,
           Faults& faults) {
  const std::string there = absl::StrCat("/", kDependencies, "/", from);
  const std::string here = absl::StrCat("/", kDependencies, "/", to);
  for (const auto& [pointer, mark] : own.places()) {
    if (pointer != there && !absl::StartsWith(pointer, there + "/")) continue;
    faults.SetOrigin(here + pointer.substr(there.size()), mark, {file, pointer, true});
  }
}

void ReadInclude(const std::string& file, YamlNode& dependencies, Faults& faults,
                 std::string& texts) {
  const std::string pointer = Below("", kInclude);
  const absl::StatusOr<std::string> text = ReadFile(file);
  if (!text.ok()) return faults.Add(pointer, std::string(text.status().message()));
  absl::StrAppend(&texts, "\n", *text);
  Faults own;
  const YamlAdvice advice{"dependencies: []", "what they have in common under \"defaults\""};
  std::optional<YamlNode> root = ParseYaml(*text, advice, own);
  if (root.has_value()) CheckShape(*root, own);
  for (const std::string& line : own.ToLines(file)) faults.Add(pointer, line);
  if (!root.has_value() || !own.empty()) return;
  YamlNode* const added = DependenciesOf(*root);
  for (std::size_t i = 0; i < added->items.size(); ++i) {
    Adopt(file, own, i, dependencies.items.size(), faults);
    dependencies.items.push_back(std::move(added->items[i]));
  }
}

}  // namespace

std::string ReadIncludes(const std::string& path, YamlNode& root, Faults& faults,
                         IncludeRule rule) {
  const std::optional<YamlNode> value = Take(root);
  if (!value.has_value()) return "";
  const std::string pointer = Below("", kInclude);
  const absl::StatusOr<std::string> pattern = ParseText(*value);
  if (!pattern.ok() || pattern->empty()) {
    faults.Add(pointer, absl::StrCat("must be a pattern of files such as \"conf.d/*.yaml\", not ",
                                     Describe(*value)));
    return "";
  }
  if (const std::string why = WhyNot(path, *pattern, rule); !why.empty()) {
    faults.Add(pointer, why);
    return "";
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::vector<std::string> files = FilesOf((folder / *pattern).string());
  if (files.empty() && pattern->find_first_of("*?[") == std::string::npos) {
    faults.Add(pointer, absl::StrCat("there is no file ", Quoted((folder / *pattern).string())));
  }
  std::string texts;
  YamlNode* const dependencies = DependenciesOf(root);
  for (const std::string& file : files) {
    if (rule == IncludeRule::kOwnFolder && !LiesIn(folder, file)) {
      faults.Add(pointer, absl::StrCat(Quoted(file),
                                       " is no file ending in .yaml, .yml or .json in "
                                       "the folder of the configuration or below it"));
      continue;
    }
    if (dependencies != nullptr) ReadInclude(file, *dependencies, faults, texts);
  }
  return texts;
}

}  // namespace plimsoll
