#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

// Rows of cells, to be shown as text or in HTML.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  // Columns that are texts; of the others, the first is one too.
  std::vector<bool> left = {};
  int width = 0;  // longer lines are cut, with an ellipsis; 0: none is
};

// Columns as wide as their widest cell, two spaces between them; the first one and texts to the
// left, the others to the right. Width counts code points, and no colours of terminals. A line per
// row, each with a line break; none for an empty header.
std::string ToText(const Table& table);

// "12.3" and the like; "-" for what is no finite number.
std::string Fixed(double value, int decimals);

}  // namespace plimsoll::cli
