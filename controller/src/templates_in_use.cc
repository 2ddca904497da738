// Dependencies that have no policy of their own: made from templates when somebody asks for them,
// forgotten with whoever used them last.
#include "absl/strings/str_cat.h"
#include "controller/src/allocation.h"
#include "controller/src/core_impl.h"

namespace plimsoll {

using internal::DependencyState;
using internal::SessionState;

// Names come from agents: neither one of them nor all together may fill the memory.
bool Core::Impl::MayMake(const SessionState& session) const {
  return made_ < options_.dependencies_max &&
         static_cast<int>(session.dependencies.size()) < options_.dependencies_max;
}

DependencyState* Core::Impl::FindOrMake(const SessionState& session, const DependencyId& name) {
  const auto found = dependencies_.find(name);
  if (found != dependencies_.end()) return &found->second;
  const TemplateSet::value_type* const made_from = FindTemplate(templates_, name);
  if (made_from == nullptr || !MayMake(session) || !IsValidName(name.value)) return nullptr;
  Create(MadeFrom(made_from->second, name), PinOf(name),
         absl::StrCat("It is made from the template \"", made_from->first, "\", since ",
                      session.service.value, " asked for it."));
  DependencyState& dependency = dependencies_.at(name);
  SetTemplate(dependency, made_from->first);
  internal::Allocate(dependency, sessions_, now_);
  NoteExcess(dependency);
  return &dependency;
}

void Core::Impl::SetTemplate(DependencyState& dependency, const std::string& pattern) {
  made_ += (pattern.empty() ? 0 : 1) - (dependency.made_from.empty() ? 0 : 1);
  dependency.made_from = pattern;
}

std::string Core::Impl::WhyUnknown(const SessionState& session, const DependencyId& name) const {
  const TemplateSet::value_type* const made_from = FindTemplate(templates_, name);
  if (made_from == nullptr || MayMake(session)) return "which has no policy";
  return absl::StrCat("for which the template \"", made_from->first, "\" would be, but ",
                      options_.dependencies_max,
                      " dependencies are in use already: raise agents.dependencies_max or give it "
                      "a policy");
}

void Core::Impl::ForgetUnused() {
  for (auto entry = dependencies_.begin(); entry != dependencies_.end();) {
    auto& [name, dependency] = *entry;
    const bool made = !dependency.made_from.empty();
    if (!dependency.members.empty() || (!dependency.retired && !made)) {
      ++entry;
      continue;
    }
    if (made) {
      Log(EventType::kDependencyDeleted, nullptr, name,
          absl::StrCat(name.value, " is forgotten: nobody uses it any more, and its policy was ",
                       "made from the template \"", dependency.made_from, "\"."));
    }
    SetTemplate(dependency, "");
    entry = dependencies_.erase(entry);
  }
}

}  // namespace plimsoll
