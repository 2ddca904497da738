#pragma once

#include <string>

#include "api/cli/src/verb.h"

namespace plimsoll::cli {

// What `plimsoll help` prints.
std::string HelpText();
// What `plimsoll VERB --help` prints.
std::string HelpText(const Verb& verb);

// A manual page in mdoc, one of Pages(); empty if there is none of this name.
std::string ManualPage(const std::string& page, const std::string& version);

}  // namespace plimsoll::cli
