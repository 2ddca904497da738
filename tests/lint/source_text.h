#pragma once

#include <string>
#include <vector>

namespace plimsoll::lint {

// The lines of a text, without their ends.
std::vector<std::string> SplitLines(const std::string& text);

// The same lines with comments and the contents of strings and characters replaced by spaces, so
// that a rule about code does not fall for prose. Columns stay.
std::vector<std::string> CodeOnly(const std::vector<std::string>& lines);

// What a line includes, "<" or quotes taken off; empty if it is no #include.
std::string IncludedPath(const std::string& line);

// Number of characters, not bytes, of a line in UTF-8.
std::size_t Width(const std::string& line);

}  // namespace plimsoll::lint
