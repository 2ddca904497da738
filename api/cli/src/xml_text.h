#pragma once

#include <string>

namespace plimsoll::cli {

// `text` for the content or a quoted attribute of XML and HTML. Characters that XML does not have
// become spaces.
std::string Escaped(const std::string& text);

}  // namespace plimsoll::cli
