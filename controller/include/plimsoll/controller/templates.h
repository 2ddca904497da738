#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// What a dependency gets that an agent asks for and that has no policy of its own, by the pattern
// that its name must match. In a pattern '*' stands for any text, an empty one included, and '?'
// for one character; there is nothing else. The policies have no names.
using TemplateSet = std::map<std::string, Policy>;

// 1 to 63 letters, digits, '.', '_', '~', '-', '*' and '?', with at least one of the last two.
bool IsPattern(const std::string& text);

// The whole of `name` is as `pattern` says. O(length of both, multiplied).
bool MatchesPattern(const std::string& pattern, const std::string& name);

// The template of a dependency without a policy of its own: of those that match, the one with the
// longest pattern; of equally long ones, the first in the order of letters. Null if none matches.
const TemplateSet::value_type* FindTemplate(const TemplateSet& templates, const DependencyId& name);

// The policy of `name` that a template makes.
Policy MadeFrom(const Policy& made_from, const DependencyId& name);

// As Validate() of a policy, and whether the pattern is one.
absl::Status ValidateTemplate(const TemplateSet::value_type& made_from, absl::Duration lease);

}  // namespace plimsoll
