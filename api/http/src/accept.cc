#include "api/http/src/accept.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace plimsoll::internal {
namespace {

// The text before the next `separator`, in lower case and without blanks; the rest stays.
std::string CutPart(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  std::string part = absl::AsciiStrToLower(std::string(text.substr(0, end)));
  text = end == std::string_view::npos ? "" : text.substr(end + 1);
  absl::StripAsciiWhitespace(&part);
  return part;
}

// 3: the type itself, 2: all of its kind, 1: everything, 0: another.
int Fit(const std::string& range, std::string_view type) {
  if (range == type) return 3;
  if (range == "*/*") return 1;
  const bool kind = range.ends_with("/*") && type.starts_with(range.substr(0, range.size() - 1));
  return kind ? 2 : 0;
}

// A weight that is no number refuses nothing.
bool IsRefusal(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string parameter = CutPart(parameters, ';');
    double weight = 1;
    if (parameter.starts_with("q=") && absl::SimpleAtod(parameter.substr(2), &weight)) {
      return weight <= 0;
    }
  }
  return false;
}

}  // namespace

bool Accepts(const std::string& accept, std::string_view type) {
  if (accept.empty()) return true;
  int best = 0;
  bool accepted = false;
  for (std::string_view rest = accept; !rest.empty();) {
    const std::string entry = CutPart(rest, ',');
    std::string_view parameters = entry;
    const int fit = Fit(CutPart(parameters, ';'), type);
    if (fit <= best) continue;
    best = fit;
    accepted = !IsRefusal(parameters);
  }
  return accepted;
}

}  // namespace plimsoll::internal
