#include "controller/src/explain_words.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::internal {

std::string Time(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "for ever";
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds >= 0.9995) return absl::StrFormat("%.3g s", seconds);
  if (seconds >= 0.0009995) return absl::StrFormat("%.3g ms", seconds * 1e3);
  return absl::StrFormat("%.3g us", seconds * 1e6);
}

std::string WithNote(const std::string& sentence, const std::string& note) {
  return note.empty() ? sentence : absl::StrCat(sentence, " ", note);
}

std::string Percent(double share) { return absl::StrFormat("%.3g %%", share * 100); }

}  // namespace plimsoll::internal
