#include "tests/unit/api/prometheus_text.h"

#include <cmath>
#include <sstream>

namespace plimsoll {
namespace {

// "x_bucket" belongs to the histogram x.
std::string FamilyOf(const PrometheusPage& page, const std::string& name) {
  if (page.types.contains(name)) return name;
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string family = name.substr(0, name.size() - suffix.size());
    const auto type = page.types.find(family);
    if (type != page.types.end() && type->second == "histogram") return family;
  }
  return "";
}

void ParseComment(const std::string& line, PrometheusPage& page) {
  std::istringstream words(line);
  std::string hash;
  std::string kind;
  std::string name;
  std::string rest;
  words >> hash >> kind >> name;
  std::getline(words >> std::ws, rest);
  if (kind == "HELP" && !rest.empty() && page.helps.emplace(name, rest).second) return;
  if (kind == "TYPE" && !rest.empty() && page.types.emplace(name, rest).second) return;
  page.faults.push_back(line);
}

void ParseSeries(const std::string& line, PrometheusPage& page) {
  const std::string name = line.substr(0, line.find_first_of("{ "));
  const std::string family = FamilyOf(page, name);
  const std::size_t value = line.rfind(' ');
  char* end = nullptr;
  if (value != std::string::npos) std::strtod(line.c_str() + value, &end);
  if (family.empty() || end == nullptr || *end != '\0') {
    page.faults.push_back(line);
    return;
  }
  page.series[family].push_back(line);
}

}  // namespace

double PrometheusPage::Value(const std::string& series_name) const {
  for (const auto& [family, lines] : series) {
    for (const std::string& line : lines) {
      const std::size_t space = line.rfind(' ');
      if (line.substr(0, space) == series_name) return std::strtod(line.c_str() + space, nullptr);
    }
  }
  return std::nan("");
}

PrometheusPage ParsePrometheusText(const std::string& text) {
  PrometheusPage page;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.starts_with("#")) {
      ParseComment(line, page);
    } else {
      ParseSeries(line, page);
    }
  }
  return page;
}

}  // namespace plimsoll
