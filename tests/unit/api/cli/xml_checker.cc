#include "tests/unit/api/cli/xml_checker.h"

#include <regex>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace plimsoll::cli {
namespace {

bool EntitiesAreKnown(const std::string& text) {
  static const std::regex bare("&(?!amp;|lt;|gt;|quot;|#39;)");
  return !std::regex_search(text, bare);
}

// `inside` is what stands between < and >.
std::string TagFault(const std::string& inside, std::vector<std::string>& open) {
  static const std::regex start("([a-zA-Z][a-zA-Z0-9]*)( [a-zA-Z:-]+=\"[^\"<]*\")*/?");
  std::smatch match;
  if (absl::StartsWith(inside, "/")) {
    if (open.empty() || open.back() != inside.substr(1)) return "closes what is not open";
    open.pop_back();
    return "";
  }
  if (!std::regex_match(inside, match, start)) return "no tag";
  if (!absl::EndsWith(inside, "/")) open.push_back(match[1]);
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
