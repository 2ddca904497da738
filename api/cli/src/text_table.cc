#include "api/cli/src/text_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::cli {
namespace {

std::size_t Width(const std::string& text) {
  std::size_t width = 0;
  bool colour = false;
  for (const char c : text) {
    if (c == '\x1b') colour = true;
    const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (!colour && begins) ++width;
    if (c == 'm') colour = false;
  }
  return width;
}

void Widen(const std::vector<std::string>& row, std::vector<std::size_t>& widths) {
  widths.resize(std::max(widths.size(), row.size()));
  for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
}

// The first `width` columns, the last of which is an ellipsis.
std::string Cut(const std::string& line, std::size_t width) {
  if (width == 0 || Width(line) <= width) return line;
  std::size_t end = 0;
  std::size_t shown = 0;
  bool colour = false;
  for (; end < line.size(); ++end) {
    const char c = line[end];
    if (c == '\x1b') colour = true;
    const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (!colour && begins && ++shown == width) break;
    if (c == 'm') colour = false;
  }
  const bool coloured = line.find('\x1b') != std::string::npos;
  return absl::StrCat(line.substr(0, end), "…", coloured ? "\x1b[0m" : "");
}

std::string Line(const Table& table, const std::vector<std::string>& row,
                 const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string pad(widths[i] - Width(row[i]), ' ');
    const bool left = i == 0 || (i < table.left.size() && table.left[i]);
    absl::StrAppend(&line, i == 0 ? "" : "  ", left ? row[i] : pad, left ? pad : row[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return absl::StrCat(Cut(line, static_cast<std::size_t>(std::max(0, table.width))), "\n");
}

}  // namespace

std::string ToText(const Table& table) {
  std::vector<std::size_t> widths;
  Widen(table.header, widths);
  for (const auto& row : table.rows) Widen(row, widths);
  std::string text = table.header.empty() ? "" : Line(table, table.header, widths);
  for (const auto& row : table.rows) text += Line(table, row, widths);
  return text;
}

std::string Fixed(double value, int decimals) {
  return std::isfinite(value) ? absl::StrFormat("%.*f", decimals, value) : "-";
}

}  // namespace plimsoll::cli
