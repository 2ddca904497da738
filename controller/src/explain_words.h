#pragma once

#include <string>

#include "absl/time/time.h"

namespace plimsoll::internal {

// Words of the sentences about decisions: three figures are enough for people. Pure.

// "1.3 s", "212 ms", "85 us"; "for ever" if it is infinite.
std::string Time(absl::Duration duration);
// "12.5 %" for 0.125.
std::string Percent(double share);
// "It changed. Why it did." with the note, else the sentence alone.
std::string WithNote(const std::string& sentence, const std::string& note);

}  // namespace plimsoll::internal
