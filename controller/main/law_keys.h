#pragma once

#include <string>
#include <vector>

namespace plimsoll {

// One setting of a law, from the table of plimsoll/algorithms/law_settings.h.
struct LawKey {
  enum class Type { kDuration, kNumber, kWhole, kFlag, kText };

  std::string name;  // "vegas.alpha"
  Type type = Type::kText;
  std::string value;               // the default, as one would write it; empty: none
  std::vector<std::string> words;  // of a text: what it may be; empty: anything
};

const std::vector<LawKey>& LawKeys();

}  // namespace plimsoll
