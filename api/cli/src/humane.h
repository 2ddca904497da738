#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"

namespace plimsoll::cli {

// "412 ms", "1.25 s", "3 min 20 s", "2 h 5 min", "4 d": as exact as people care for.
std::string HumaneSeconds(double seconds);
// Up to three figures that count: "14.2", "1280".
std::string HumaneNumber(double number);
// Of RFC 3339; nothing if it is not.
std::optional<absl::Time> ParseTime(const std::string& text);
// "12 s ago", "in 5 min"; the text itself if it is no time.
std::string HumaneTime(const std::string& text, absl::Time now);

// Without line breaks and other control characters: a terminal obeys some.
std::string Tame(std::string text);

// Text in a colour of terminals.
enum class Colour { kNone, kGood, kCare, kBad, kStrong };
std::string Coloured(const std::string& text, Colour colour);
// What health, states and constraints are painted in.
Colour ColourOf(const std::string& word);

}  // namespace plimsoll::cli
