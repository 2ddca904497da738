#include "tests/lint/house_rules.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "tests/lint/rules.h"
#include "tests/lint/source_text.h"

namespace plimsoll::lint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWidthMax = 100;

bool Begins(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
bool Ends(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}
bool BeginsWithAny(std::string_view text, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return Begins(text, prefix); });
}

bool IsCode(const std::string& path) { return Ends(path, ".cc") || Ends(path, ".h"); }
bool IsText(const std::string& path) {
  static const std::set<std::string> kEndings = {
      ".cc", ".h",    ".cmake", ".txt",  ".md",   ".yaml",    ".sh",  ".yml", ".in",  ".css",
      ".js", ".html", "",       ".json", ".supp", ".service", ".mjs", ".ts",  ".tsx", ".svg"};
  return kEndings.contains(fs::path(path).extension().string());
}
bool IsOurs(const std::string& path) {
  return !Begins(path, "build/") && !Begins(path, ".git/") && path != "LICENSE" &&
         path.find("node_modules/") == std::string::npos &&
         !Begins(path, "tests/conformance/netflix/");
}

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// True if `word` stands in `line` by itself, not as a part of a longer one.
bool HasWord(const std::string& line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool open = at == 0 || !IsWordCharacter(line[at - 1]) || !IsWordCharacter(word.front());
    const bool closed =
        end >= line.size() || !IsWordCharacter(line[end]) || !IsWordCharacter(word.back());
    if (open && closed) return true;
  }
  return false;
}

struct File {
  std::string path;
  std::string text;
  std::vector<std::string> lines;
};

File ReadFile(const fs::path& root, const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(root / path, std::ios::binary).rdbuf();
  return {path, text.str(), SplitLines(text.str())};
}

std::vector<std::string> FindFiles(const fs::path& root) {
  std::vector<std::string> paths;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const std::string path = entry->path().lexically_relative(root).generic_string();
    if (entry->is_directory()) {
      if (!IsOurs(path + "/")) entry.disable_recursion_pending();
    } else if (IsOurs(path) && IsText(path)) {
      paths.push_back(path);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Checker {
 public:
  std::vector<Violation> Run(const fs::path& root);

 private:
  void Report(const std::string& path, std::size_t line, const std::string& rule) {
    violations_.push_back({path, line, rule});
  }
  void CheckText(const File& file);
  void CheckCode(const File& file);
  void CheckInclude(const std::string& path, std::size_t line, const std::string& included);
  void CheckLayer(const std::string& path, std::size_t line, const std::string& included);
  void CheckReadmes(const std::vector<std::string>& paths);

  std::vector<Violation> violations_;
};

void Checker::CheckText(const File& file) {
  if (!file.text.empty() && file.text.back() != '\n') {
    Report(file.path, file.lines.size(), "the file must end with a line break");
  }
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    for (const std::string& word : BannedWords()) {
      if (HasWord(file.lines[i], word))
        Report(file.path, i + 1, "\"" + word + "\" must not stand here");
    }
  }
}

void Checker::CheckCode(const File& file) {
  if (Ends(file.path, ".h") &&
      std::find(file.lines.begin(), file.lines.end(), "#pragma once") == file.lines.end()) {
    Report(file.path, 0, "a header needs #pragma once");
  }
  const std::vector<std::string> code = CodeOnly(file.lines);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (Width(file.lines[i]) > kWidthMax) Report(file.path, i + 1, "longer than 100 columns");
    CheckInclude(file.path, i + 1, IncludedPath(file.lines[i]));
    for (const Confined& word : ConfinedWords()) {
      if (!HasWord(code[i], word.what) || BeginsWithAny(file.path, word.only_in)) continue;
      Report(file.path, i + 1,
             std::string(word.what) + " is confined; use " + std::string(word.instead));
    }
  }
}

void Checker::CheckInclude(const std::string& path, std::size_t line, const std::string& included) {
  if (included.empty()) return;
  CheckLayer(path, line, included);
  for (const Confined& header : ConfinedHeaders()) {
    if (!Begins(included, header.what) || BeginsWithAny(path, header.only_in)) continue;
    Report(path, line, included + " is confined; use " + std::string(header.instead));
  }
  for (const Banned& banned : BannedHeaders()) {
    if (!Begins(path, banned.folder)) continue;
    for (const std::string_view header : banned.headers) {
      const bool hit = header.back() == '/' ? Begins(included, header) : included == header;
      if (hit) Report(path, line, included + " has no place in pure code");
    }
  }
}

void Checker::CheckLayer(const std::string& path, std::size_t line, const std::string& included) {
  static const std::vector<std::string_view> kOurs = {"plimsoll/",   "algorithms/", "agent/",
                                                      "controller/", "api/",        "tests/"};
  if (!BeginsWithAny(included, kOurs)) return;
  for (const Layer& layer : Layers()) {
    if (!Begins(path, layer.folder)) continue;
    if (!BeginsWithAny(included, layer.may_include)) {
      Report(path, line, std::string(layer.folder) + " must not include " + included);
    }
    return;
  }
}

// The folder whose README has to tell of this file.
std::string FolderToExplain(const std::string& path) {
  if (Begins(path, "tests/")) return "tests";
  std::string folder = fs::path(path).parent_path().generic_string();
  for (const std::string_view part : {"/include/", "/src/"}) {
    const std::size_t at = (folder + "/").find(part);
    if (at != std::string::npos) folder.resize(at);
  }
  return folder;
}

void Checker::CheckReadmes(const std::vector<std::string>& paths) {
  std::set<std::string> folders;
  for (const std::string& path : paths) {
    if (IsCode(path)) folders.insert(FolderToExplain(path));
  }
  for (const std::string& folder : folders) {
    const std::string readme = folder + "/README.md";
    if (!std::binary_search(paths.begin(), paths.end(), readme)) {
      Report(folder, 0, "a folder with code needs a README.md");
    }
  }
}

std::vector<Violation> Checker::Run(const fs::path& root) {
  const std::vector<std::string> paths = FindFiles(root);
  for (const std::string& path : paths) {
    const File file = ReadFile(root, path);
    CheckText(file);
    if (IsCode(path)) CheckCode(file);
  }
  CheckReadmes(paths);
  std::stable_sort(violations_.begin(), violations_.end(),
                   [](const Violation& a, const Violation& b) { return a.path < b.path; });
  return std::move(violations_);
}

}  // namespace

std::vector<Violation> CheckTree(const fs::path& root) { return Checker().Run(root); }

}  // namespace plimsoll::lint
