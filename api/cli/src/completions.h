#pragma once

#include <string>

namespace plimsoll::cli {

// A script that completes verbs, flags, choices, files and, by asking the controller for at most a
// second, names. `shell` is "bash", "zsh" or "fish"; empty for others. Pure.
std::string CompletionScript(const std::string& shell);

}  // namespace plimsoll::cli
