#include "plimsoll/controller/templates.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

constexpr std::size_t kPatternMax = 63;  // as long as a name

bool IsWildcard(char c) { return c == '*' || c == '?'; }

bool MayStandInPattern(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '~' ||
         c == '-' || IsWildcard(c);
}

}  // namespace

bool IsPattern(const std::string& text) {
  return !text.empty() && text.size() <= kPatternMax &&
         std::all_of(text.begin(), text.end(), MayStandInPattern) &&
         std::any_of(text.begin(), text.end(), IsWildcard);
}

// Only the last '*' ever has to take more than it took: what an earlier one could take instead, it
// can take as well.
bool MatchesPattern(const std::string& pattern, const std::string& name) {
  std::size_t at = 0;
  std::size_t star = std::string::npos;
  std::size_t taken = 0;  // where what the last '*' took ends
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[i])) {
      ++at;
      ++i;
    } else if (star != std::string::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string::npos;
}

const TemplateSet::value_type* FindTemplate(const TemplateSet& templates,
                                            const DependencyId& name) {
  const TemplateSet::value_type* best = nullptr;
  for (const auto& one : templates) {
    const bool longer = best == nullptr || one.first.size() > best->first.size();
    if (longer && MatchesPattern(one.first, name.value)) best = &one;
  }
  return best;
}

Policy MadeFrom(const Policy& made_from, const DependencyId& name) {
  Policy policy = made_from;
  policy.name = name;
  return policy;
}

absl::Status ValidateTemplate(const TemplateSet::value_type& made_from, absl::Duration lease) {
  const auto& [pattern, policy] = made_from;
  Violations violations;
  violations.Require(IsPattern(pattern), "match", pattern,
                     "must be 1 to 63 letters, digits, '.', '_', '~', '-', '*' or '?', with a '*' "
                     "or a '?'; a name without them stands under \"name\"");
  violations.Add(Validate(MadeFrom(policy, DependencyId("unnamed")), lease));
  return violations.ToStatus();
}

}  // namespace plimsoll
