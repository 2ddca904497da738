#include "controller/config/faults.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace plimsoll {
namespace {

constexpr std::size_t kQuotedBytesMax = 40;

// Levenshtein's distance, with a swap of neighbours as one step: most slips are one of the two.
std::size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

// The closest of `pointer` and its parents that is a key of `values`.
template <typename Values>
typename Values::const_iterator FindClosest(const Values& values, std::string pointer) {
  auto found = values.find(pointer);
  while (found == values.end() && !pointer.empty()) {
    pointer.resize(pointer.find_last_of('/'));
    found = values.find(pointer);
  }
  return found;
}

std::string ShowPointer(const std::string& pointer) {
  return pointer.empty() ? "" : absl::CHexEscape(pointer) + ": ";
}

std::string ShowMark(const Mark& mark) { return absl::StrCat(":", mark.line, ":", mark.column); }

}  // namespace

void Faults::SetOrigin(const std::string& pointer, const Mark& mark, Origin origin) {
  places_[pointer] = mark;
  origins_[pointer] = std::move(origin);
}

const Faults::Origin* Faults::FindOrigin(const std::string& pointer) const {
  const auto found = FindClosest(origins_, pointer);
  return found == origins_.end() ? nullptr : &found->second;
}

std::string_view ToString(FaultCode code) {
  switch (code) {
    case FaultCode::kRequired:
      return "REQUIRED";
    case FaultCode::kUnknownKey:
      return "UNKNOWN_KEY";
    case FaultCode::kDuplicateKey:
      return "DUPLICATE_KEY";
    case FaultCode::kWrongType:
      return "WRONG_TYPE";
    case FaultCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case FaultCode::kBadFormat:
      return "BAD_FORMAT";
    case FaultCode::kBadEnum:
      return "BAD_ENUM";
    case FaultCode::kConflict:
      return "CONFLICT";
  }
  return "BAD_FORMAT";
}

void Faults::Add(const std::string& pointer, const std::string& message, FaultCode code) {
  const auto place = FindClosest(places_, pointer);
  Add(place == places_.end() ? Mark{} : place->second, pointer, message, code);
}

void Faults::Add(const Mark& mark, const std::string& pointer, const std::string& message,
                 FaultCode code) {
  Fault fault{mark, pointer, message, code};
  if (std::find(faults_.begin(), faults_.end(), fault) == faults_.end()) {
    faults_.push_back(std::move(fault));
  }
}

std::vector<Fault> Faults::Sorted() const {
  std::vector<Fault> sorted = faults_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

Faults::Place Faults::PlaceOf(const Fault& fault, const std::string& file) const {
  const auto origin = FindClosest(origins_, fault.pointer);
  if (origin == origins_.end()) return {file, fault.pointer};
  const auto& [pointer, from] = *origin;
  return {from.name, from.pointer + fault.pointer.substr(pointer.size()), from.has_lines};
}

std::vector<std::string> Faults::ToLines(const std::string& file) const {
  std::vector<std::string> lines;
  for (const Fault& fault : Sorted()) {
    const Place place = PlaceOf(fault, file);
    lines.push_back(absl::StrCat(place.name, place.has_lines ? ShowMark(fault.mark) : "", ": ",
                                 ShowPointer(place.pointer), fault.message));
  }
  return lines;
}

std::string Below(const std::string& pointer, const std::string& key) {
  return absl::StrCat(pointer, "/", absl::StrReplaceAll(key, {{"~", "~0"}, {"/", "~1"}}));
}

std::string Quoted(const std::string& text) {
  if (text.size() <= kQuotedBytesMax)
    return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text), "\"");
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text.substr(0, kQuotedBytesMax)), "…\"");
}

std::string Suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  if (word.size() > kQuotedBytesMax) return "";
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best.empty() ? "" : absl::StrCat(" (did you mean \"", best, "\"?)");
}

}  // namespace plimsoll
