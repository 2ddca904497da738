#include "agent/examples/demonstrations/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace plimsoll::demonstrations {
namespace {

constexpr int kClaimFails = 1;
constexpr int kUsageError = 2;
constexpr double kShort = 10;  // ms; shorter times have a decimal

std::string TextOf(absl::Duration duration) {
  const double ms = absl::ToDoubleMilliseconds(duration);
  return ms < kShort ? absl::StrFormat("%.1f ms", ms) : absl::StrFormat("%.0f ms", ms);
}

std::string TextOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<int>(&cell)) return absl::StrCat(*number);
  if (const auto* duration = std::get_if<absl::Duration>(&cell)) return TextOf(*duration);
  return "-";
}

void PutInto(nlohmann::ordered_json& row, const std::string& column, const Cell& cell) {
  const std::string key = absl::StrReplaceAll(column, {{" ", "_"}});
  if (const auto* text = std::get_if<std::string>(&cell)) {
    row[key] = *text;
  } else if (const auto* number = std::get_if<int>(&cell)) {
    row[key] = *number;
  } else if (const auto* duration = std::get_if<absl::Duration>(&cell)) {
    // To a microsecond.
    row[absl::StrCat(key, "_ms")] = std::round(absl::ToDoubleMicroseconds(*duration)) / 1000;
  }
}

// The first column begins at the left, all others end at the right.
std::string TableOf(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string table;
  for (const auto& line : lines) {
    absl::StrAppend(&table, line[0], std::string(widths[0] - line[0].size(), ' '));
    for (std::size_t i = 1; i < line.size(); ++i) {
      absl::StrAppend(&table, std::string(2 + widths[i] - line[i].size(), ' '), line[i]);
    }
    table += '\n';
  }
  return table;
}

}  // namespace

void Report::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Report::Claim(std::string sentence, bool holds) {
  claims_.emplace_back(std::move(sentence), holds);
}

bool Report::holds() const {
  return !claims_.empty() && std::all_of(claims_.begin(), claims_.end(),
                                         [](const auto& claim) { return claim.second; });
}

std::string Report::Text() const {
  std::vector<std::vector<std::string>> lines = {columns_};
  for (const std::vector<Cell>& row : rows_) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const Cell& cell : row) line.push_back(TextOf(cell));
  }
  std::string text = absl::StrCat(title_, "\n", TableOf(lines), "\n");
  for (const auto& [sentence, holds] : claims_) {
    absl::StrAppend(&text, holds ? "holds: " : "DOES NOT HOLD: ", sentence, "\n");
  }
  return text;
}

std::string Report::Json() const {
  nlohmann::ordered_json json = {{"holds", holds()}, {"rows", nlohmann::ordered_json::array()}};
  for (const std::vector<Cell>& row : rows_) {
    nlohmann::ordered_json figures = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i) PutInto(figures, columns_[i], row[i]);
    json["rows"].push_back(std::move(figures));
  }
  for (const auto& [sentence, holds] : claims_) {
    json["claims"].push_back({{"claim", sentence}, {"holds", holds}});
  }
  return absl::StrCat(json.dump(), "\n");
}

int RunDemonstration(const std::vector<std::string>& arguments,
                     const std::function<absl::StatusOr<Report>()>& run, std::ostream& out,
                     std::ostream& errors) {
  const bool json = arguments == std::vector<std::string>{"--json"};
  if (!json && !arguments.empty()) {
    errors << "unknown arguments \"" << absl::StrJoin(arguments, " ")
           << "\": give none, or --json\n";
    return kUsageError;
  }
  const absl::StatusOr<Report> report = run();
  if (!report.ok()) {
    errors << report.status().message() << '\n';
    return kClaimFails;
  }
  out << (json ? report->Json() : report->Text());
  return report->holds() ? 0 : kClaimFails;
}

int RunDemonstration(int argc, char** argv, const std::function<absl::StatusOr<Report>()>& run) {
  return RunDemonstration(std::vector<std::string>(argv + 1, argv + argc), run, std::cout,
                          std::cerr);
}

}  // namespace plimsoll::demonstrations
