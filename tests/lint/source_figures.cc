// usage: source_figures ROOT
// Prints how long files are and how much of them is comment, beside what CONTRIBUTING.md aims at.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/lint/source_text.h"

namespace {

namespace fs = std::filesystem;
using plimsoll::lint::CodeOnly;
using plimsoll::lint::SplitLines;

struct Group {
  std::vector<std::size_t> lengths;
  std::size_t code = 0;
  std::size_t comments = 0;
  std::string longest;

  void Add(const std::string& path, const std::vector<std::string>& lines) {
    if (lengths.empty() || lines.size() > *std::max_element(lengths.begin(), lengths.end())) {
      longest = path;
    }
    lengths.push_back(lines.size());
    const std::vector<std::string> stripped = CodeOnly(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool blank = lines[i].find_first_not_of(' ') == std::string::npos;
      if (blank) continue;
      const bool is_code = stripped[i].find_first_not_of(' ') != std::string::npos;
      ++(is_code ? code : comments);
    }
  }
  std::size_t total() const { return code + comments; }
};

std::string GroupOf(const std::string& path) {
  if (path.rfind("tests/", 0) == 0) return "tests";
  if (path.find("/include/") != std::string::npos) return "public headers";
  return fs::path(path).extension() == ".h" ? "private headers" : "sources";
}

void Print(const std::string& name, Group group, const std::string& aim) {
  std::sort(group.lengths.begin(), group.lengths.end());
  std::cout << std::left << std::setw(16) << name << std::right << std::setw(6)
            << group.lengths.size() << std::setw(8) << group.lengths[group.lengths.size() / 2]
            << std::setw(6) << group.lengths.back() << std::setw(9)
            << 100 * group.comments / std::max<std::size_t>(1, group.total()) << " %   " << aim
            << "   longest: " << group.longest << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: source_figures ROOT\n";
    return 2;
  }
  std::map<std::string, Group> groups;
  const fs::path root = argv[1];
  for (const char* const folder : {"algorithms", "agent", "controller", "api", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = entry.path().lexically_relative(root).generic_string();
      if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      groups[GroupOf(path)].Add(path, SplitLines(text.str()));
    }
  }
  const std::map<std::string, std::string> aims = {
      {"public headers", "aim: median 100, max 200, comments 40-50 %"},
      {"private headers", "aim: median 100, max 200"},
      {"sources", "aim: median 160, max 400, comments <= 15 %"},
      {"tests", "aim: as many lines as all else together"}};
  std::cout << "group            files  median   max  comments\n";
  for (const auto& [name, group] : groups) Print(name, group, aims.at(name));
  const std::size_t ours = groups["public headers"].total() + groups["private headers"].total() +
                           groups["sources"].total();
  std::cout << "test : source    " << std::fixed << std::setprecision(2)
            << static_cast<double>(groups["tests"].total()) / static_cast<double>(ours) << "\n";
  return 0;
}
