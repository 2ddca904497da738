#pragma once

#include <string>

#include "controller/main/config.h"
#include "controller/main/config_keys.h"

namespace plimsoll {

// What the commands `plimsoll-controller config …` print, all from the tables of config_keys.h.
// Pure.

// `defaults`: each setting with its default, what is allowed, and the reason.
std::string DefaultsText(Profile profile);

// `init`: a file to begin with, which sets each setting to its default and explains it.
std::string InitText();

// `reference`: the same as Markdown, with the names of environment variables.
std::string ReferenceText();

// `print`: what is in force, as a file that would say the same; with `sources`, the origin of each
// setting stands behind it. Of defaults and dependencies it has what the files say.
std::string EffectiveText(const Config& config, bool sources);

}  // namespace plimsoll
