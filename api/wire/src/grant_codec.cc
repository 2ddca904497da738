#include "api/wire/src/grant_codec.h"

#include <algorithm>

#include "api/wire/src/breaker_codec.h"

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kZero = absl::ZeroDuration();
constexpr absl::Duration kLeaseMin = absl::Milliseconds(1);
constexpr std::size_t kEventIdBytesMax = 64;

// A word that a newer controller may know and this agent does not leaves the grant valid: it only
// explains.
void ReadBinding(const JsonValue& value, Faults& faults, Grant& into) {
  const std::string word = ReadText(value, 1, kEventIdBytesMax, faults);
  into.explanation.binding =
      BindingConstraintFromString(word).value_or(BindingConstraint::kAlgorithm);
}

void ReadReason(const JsonValue& value, Faults& faults, Grant& into) {
  const std::string word = ReadText(value, 1, kEventIdBytesMax, faults);
  into.explanation.reason = ReasonFromString(word).value_or(Reason::kInitial);
}

constexpr Field<GrantStamp> kStampFields[] = {
    {"epoch", true,
     [](const JsonValue& value, Faults& faults, GrantStamp& into) {
       into.epoch.value = ReadNumber(value, faults);
     }},
    {"seq", true,
     [](const JsonValue& value, Faults& faults, GrantStamp& into) {
       into.seq.value = ReadNumber(value, faults);
     }},
};

constexpr Field<Grant> kGrantFields[] = {
    {"dependency", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.dependency.value = ReadName(value, faults);
     }},
    {"epoch", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.stamp.epoch.value = ReadNumber(value, faults);
     }},
    {"seq", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.stamp.seq.value = ReadNumber(value, faults);
     }},
    {"anchor_n", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.anchor.value = ReadNumber(value, faults);
     }},
    {"limit", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.steps.limit = ReadCalls(value, faults);
     }},
    {"lease_ms", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.lease = ReadTimer(value, kLeaseMin, kTimerMax, faults);
     }},
    {"base", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.steps.base = ReadCalls(value, faults);
     }},
    {"base_lease_ms", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.base_lease = ReadTimer(value, kLeaseMin, kTimerMax, faults);
     }},
    {"reserve", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.steps.reserve = ReadCalls(value, faults);
     }},
    {"call_deadline_ms", true,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.call_deadline = ReadTimer(value, kZero, kTimerMax, faults);
     }},
    {"renews", false,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       ReadObject(value, kStampFields, UnknownKeys::kIgnore, faults, into.renews.emplace());
     }},
    {"algorithm_limit", false,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.explanation.algorithm_limit = ReadCalls(value, faults);
     }},
    {"quota_share", false,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.explanation.quota_share = ReadCalls(value, faults);
     }},
    {"floor", false,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.explanation.floor = ReadCalls(value, faults);
     }},
    {"ceiling", false,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.explanation.ceiling = ReadCalls(value, faults);
     }},
    {"binding_constraint", false, &ReadBinding},
    {"reason", false, &ReadReason},
    {"event_id", false,
     [](const JsonValue& value, Faults& faults, Grant& into) {
       into.explanation.event_id = ReadText(value, 0, kEventIdBytesMax, faults);
     }},
};

constexpr Field<DependencySettings> kSettingsFields[] = {
    {"known", true,
     [](const JsonValue& value, Faults& faults, DependencySettings& into) {
       into.known = ReadBoolean(value, faults);
     }},
    {"call_deadline_ms", true,
     [](const JsonValue& value, Faults& faults, DependencySettings& into) {
       into.call_deadline = ReadTimer(value, kZero, kTimerMax, faults);
     }},
    {"window_ms", true,
     [](const JsonValue& value, Faults& faults, DependencySettings& into) {
       into.window = ReadTimer(value, kZero, kTimerMax, faults);
     }},
    // Missing in the answers of older controllers, which only enforce.
    {"observe", false,
     [](const JsonValue& value, Faults& faults, DependencySettings& into) {
       into.observe = ReadBoolean(value, faults);
     }},
    {"breaker", false,
     [](const JsonValue& value, Faults& faults, DependencySettings& into) {
       ReadBreakerSettings(value, faults, into.breaker.emplace());
     }},
};

void ReadGrant(const JsonValue& value, Faults& faults, Grant& into) {
  ReadObject(value, kGrantFields, UnknownKeys::kIgnore, faults, into);
  if (faults.any()) return;
  const Steps& steps = into.steps;
  if (steps.limit < steps.base || steps.base < steps.reserve) {
    faults.Add(value, kConflict, "limit, base and reserve must not ascend");
  }
  if (into.base_lease < into.lease) {
    faults.Add(value, kConflict, "base_lease_ms must not be smaller than lease_ms");
  }
}

// Shorter than meant is safe; longer than the agent accepts is not.
absl::Duration Bounded(absl::Duration timer) { return std::clamp(timer, kZero, kTimerMax); }

void WriteGrant(const Grant& grant, JsonWriter& writer) {
  const Explanation& why = grant.explanation;
  writer.BeginObject();
  writer.Key("dependency").String(grant.dependency.value);
  writer.Key("epoch").Integer(grant.stamp.epoch.value);
  writer.Key("seq").Integer(grant.stamp.seq.value);
  writer.Key("anchor_n").Integer(grant.anchor.value);
  writer.Key("limit").Integer(grant.steps.limit);
  writer.Key("lease_ms").Timer(Bounded(grant.lease));
  writer.Key("base").Integer(grant.steps.base);
  writer.Key("base_lease_ms").Timer(Bounded(grant.base_lease));
  writer.Key("reserve").Integer(grant.steps.reserve);
  writer.Key("call_deadline_ms").Timer(Bounded(grant.call_deadline));
  if (grant.renews.has_value()) {
    writer.Key("renews").BeginObject();
    writer.Key("epoch").Integer(grant.renews->epoch.value);
    writer.Key("seq").Integer(grant.renews->seq.value);
    writer.EndObject();
  }
  writer.Key("algorithm_limit").Integer(why.algorithm_limit);
  writer.Key("quota_share").Integer(why.quota_share);
  writer.Key("floor").Integer(why.floor);
  writer.Key("ceiling").Integer(why.ceiling);
  writer.Key("binding_constraint").String(ToString(why.binding));
  writer.Key("reason").String(ToString(why.reason));
  writer.Key("event_id").String(why.event_id);
  writer.EndObject();
}

}  // namespace

void ReadGrants(const JsonValue& value, Faults& faults, std::vector<Grant>& into) {
  if (!CheckArray(value, kDependenciesPerMessageMax, faults)) return;
  for (const JsonValue& element : value) ReadGrant(element, faults, into.emplace_back());
}

void WriteGrants(const std::vector<Grant>& grants, JsonWriter& writer) {
  writer.BeginArray();
  for (const Grant& grant : grants) WriteGrant(grant, writer);
  writer.EndArray();
}

void ReadSettings(const JsonValue& value, Faults& faults, std::vector<DependencySettings>& into) {
  if (!CheckObject(value, faults)) return;
  for (const JsonValue& member : value) {
    DependencySettings& settings = into.emplace_back();
    settings.dependency.value = std::string(member.key());
    if (!IsValidName(settings.dependency.value)) {
      faults.Add(member, kBadFormat, "is not the name of a dependency");
    }
    ReadObject(member, kSettingsFields, UnknownKeys::kIgnore, faults, settings);
  }
}

void WriteSettings(const std::vector<DependencySettings>& settings, JsonWriter& writer) {
  writer.BeginObject();
  for (const DependencySettings& one : settings) {
    writer.Key(one.dependency.value).BeginObject();
    writer.Key("known").Boolean(one.known);
    writer.Key("call_deadline_ms").Timer(Bounded(one.call_deadline));
    writer.Key("window_ms").Timer(Bounded(one.window));
    if (one.observe) writer.Key("observe").Boolean(true);
    if (one.breaker.has_value()) {
      writer.Key("breaker");
      WriteBreakerSettings(*one.breaker, writer);
    }
    writer.EndObject();
  }
  writer.EndObject();
}

}  // namespace plimsoll::internal
