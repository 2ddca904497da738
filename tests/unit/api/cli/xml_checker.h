#pragma once

#include <string>

namespace plimsoll::cli {

// Why `text` is no well-formed XML, with the place; empty if it is. Knows elements, attributes in
// double quotes, the predefined entities and a document type; no comments, no processing
// instructions.
std::string XmlFault(const std::string& text);

}  // namespace plimsoll::cli
