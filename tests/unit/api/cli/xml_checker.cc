#include "tests/unit/api/cli/xml_checker.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace plimsoll::cli {
namespace {

bool EntitiesAreKnown(const std::string& text) {
  for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    bool known = false;
    for (const char* const entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
      known = known || text.compare(at, std::string(entity).size(), entity) == 0;
    }
    if (!known) return false;
  }
  return true;
}

std::size_t NameEnd(const std::string& text, std::size_t at) {
  const auto is_part = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == ':';
  };
  while (at < text.size() && is_part(text[at])) ++at;
  return at;
}

// True if `text` from `at` on is any number of ` name="value"`.
bool AreAttributes(const std::string& text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t name_end = NameEnd(text, at + 1);
    const bool begins =
        text[at] == ' ' && name_end > at + 1 && text.compare(name_end, 2, "=\"") == 0;
    const std::size_t end = begins ? text.find('"', name_end + 2) : std::string::npos;
    if (end == std::string::npos) return false;
    at = end + 1;
  }
  return true;
}

// `inside` is what stands between < and >.
std::string TagFault(std::string inside, std::vector<std::string>& open) {
  if (absl::StartsWith(inside, "/")) {
    if (open.empty() || open.back() != inside.substr(1)) return "closes what is not open";
    open.pop_back();
    return "";
  }
  const bool closed = absl::EndsWith(inside, "/");
  if (closed) inside.pop_back();
  const std::size_t name_end = NameEnd(inside, 0);
  if (name_end == 0 || !AreAttributes(inside, name_end)) return "no tag";
  if (!closed) open.push_back(inside.substr(0, name_end));
  return "";
}

}  // namespace

std::string XmlFault(const std::string& text) {
  std::size_t at = absl::StartsWith(text, "<!DOCTYPE html>\n") ? 16 : 0;
  if (!EntitiesAreKnown(text)) return "an & that is no entity";
  std::vector<std::string> open;
  while (at < text.size()) {
    const std::size_t tag = text.find('<', at);
    if (tag == std::string::npos) break;
    const std::size_t end = text.find('>', tag);
    if (end == std::string::npos) return absl::StrCat("a tag without an end at ", tag);
    const std::string inside = text.substr(tag + 1, end - tag - 1);
    const std::string fault = TagFault(inside, open);
    if (!fault.empty()) return absl::StrCat(fault, " at ", tag, ": <", inside, ">");
    at = end + 1;
  }
  return open.empty() ? "" : absl::StrCat("<", open.back(), "> is never closed");
}

}  // namespace plimsoll::cli
