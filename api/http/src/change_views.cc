#include "api/http/src/change_views.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

Json FaultView(const ChangeFault& fault) {
  return {{"pointer", fault.pointer}, {"code", fault.code},     {"file", fault.file},
          {"line", fault.line},       {"column", fault.column}, {"detail", fault.detail}};
}

Json Step(const char* name, Calls value, const std::string& text) {
  return {{"name", name}, {"value", value}, {"text", text}};
}

std::string LawSentence(const LimitRow& row, const DependencyRow& dependency) {
  const auto& last = row.last_decision.has_value() ? row.last_decision : dependency.last_decision;
  if (last.has_value()) return last->message;
  return "The law has not decided anything yet: this is where it starts.";
}

std::string BoundsSentence(const LimitRow& row) {
  const Explanation& why = row.explanation;
  if (why.algorithm_limit < why.floor) return absl::StrCat("The floor of ", why.floor, " binds.");
  if (why.algorithm_limit > why.ceiling) {
    return absl::StrCat("The ceiling of ", why.ceiling, " binds.");
  }
  return absl::StrCat("Between floor ", why.floor, " and ceiling ", why.ceiling, ".");
}

std::string QuotaSentence(const LimitRow& row, const DependencyRow& dependency) {
  if (!dependency.policy.quota.has_value()) return "There is no quota.";
  return absl::StrCat("The share of ", row.instance.value, " is ", row.explanation.quota_share,
                      " of ", *dependency.policy.quota, "; all together want ", dependency.wanted,
                      ".");
}

std::string OverrideSentence(const OverrideFacts& facts) {
  return absl::StrCat(facts.set_by, " pins the limit of each instance to ", *facts.pin.limit,
                      " until ", CalendarText(facts.expire_time), ": ", facts.reason);
}

}  // namespace

std::string CalendarText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

Json OverrideView(const DependencyId& dependency, const OverrideFacts& facts) {
  const Override& pin = facts.pin;
  return {{"dependency", dependency.value},
          {"limit", pin.limit.has_value() ? Json(*pin.limit) : Json(nullptr)},
          {"mode", pin.mode.has_value() ? Json(std::string(ToString(*pin.mode))) : Json(nullptr)},
          {"reason", facts.reason},
          {"set_by", facts.set_by},
          {"create_time", CalendarText(facts.create_time)},
          {"expire_time", CalendarText(facts.expire_time)},
          {"revision", absl::StrCat("overrides.", facts.revision)}};
}

Json ConfigStatusView(const ConfigFacts& facts) {
  Json errors = Json::array();
  for (const ChangeFault& fault : facts.faults) errors.push_back(FaultView(fault));
  return {{"last_load_time", CalendarText(facts.last_load_time)},
          {"last_load_ok", facts.last_load_ok},
          {"hash", facts.hash},
          {"revision", absl::StrCat("config.", facts.revision)},
          {"pending_restart", facts.pending_restart},
          {"errors", errors}};
}

Json ExplainView(const LimitRow& row, const DependencyRow& dependency,
                 const std::optional<OverrideFacts>& pinned) {
  const Explanation& why = row.explanation;
  // Bounds that contradict each other would be no policy.
  Calls value = std::max(why.floor, std::min(why.ceiling, why.algorithm_limit));
  Json steps = {Step("algorithm", why.algorithm_limit, LawSentence(row, dependency)),
                Step("bounds", value, BoundsSentence(row))};
  if (pinned.has_value() && pinned->pin.limit.has_value()) {
    value = *pinned->pin.limit;
    steps.push_back(Step("override", value, OverrideSentence(*pinned)));
  }
  if (dependency.policy.quota.has_value()) value = std::min(value, why.quota_share);
  steps.push_back(Step("quota", value, QuotaSentence(row, dependency)));
  const BindingConstraint binding =
      row.stage == LeaseStage::kLease ? why.binding : BindingConstraint::kFallback;
  if (binding == BindingConstraint::kFallback) {
    steps.push_back(Step("lease", row.enforced,
                         absl::StrCat("The lease has run out: the instance was last heard ",
                                      absl::FormatDuration(row.age), " ago.")));
  }
  return {{"dependency", row.dependency.value},
          {"service", row.service.value},
          {"instance_id", row.instance.value},
          {"mode", std::string(ToString(row.mode))},
          {"enforced", row.mode == Mode::kEnforce ? Json(row.enforced) : Json(nullptr)},
          {"granted", row.granted},
          {"binding_constraint", std::string(ToString(binding))},
          {"reason", std::string(ToString(why.reason))},
          {"event_id", why.event_id},
          {"steps", steps}};
}

Json TrialView(const std::vector<TrialDecision>& decisions) {
  Json items = Json::array();
  for (const TrialDecision& one : decisions) {
    items.push_back(
        {{"outcome", std::string(ToString(one.outcome))},
         {"from", one.from},
         {"to", one.to},
         {"reason", one.reason ? Json(std::string(ToString(*one.reason))) : Json(nullptr)},
         {"message", one.message}});
  }
  return {{"algorithm_limit", decisions.back().to}, {"decisions", items}};
}

}  // namespace plimsoll::internal
