#include "api/http/src/views.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/change_views.h"
#include "api/http/src/law_views.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

std::string Rfc3339(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string TimeOf(Instant at, const TimeBase& time) {
  return Rfc3339(time.wall - (time.now - at));
}

std::string Text(absl::Duration setting) { return SettingText(setting); }

Json SecondsOrNull(absl::Duration measured) {
  if (measured <= absl::ZeroDuration()) return nullptr;
  return absl::ToDoubleSeconds(measured);
}

// Rounded up, so that it is over when it says 0.
std::int64_t SecondsLeft(const Snapshot& snapshot, Instant now) {
  const absl::Duration left = snapshot.learning_until - now;
  return std::max<std::int64_t>(0, absl::ToInt64Seconds(absl::Ceil(left, absl::Seconds(1))));
}

// `remaining_seconds` is null if only an operator can end it.
Json LearningView(const Snapshot& snapshot, Instant now) {
  if (!snapshot.learning) return {{"active", false}};
  const bool ends = snapshot.learning_until != kInfiniteFuture;
  return {{"active", true},
          {"remaining_seconds", ends ? Json(SecondsLeft(snapshot, now)) : Json(nullptr)},
          {"why", snapshot.store_lost_why}};
}

std::string Upper(std::string_view word) { return absl::AsciiStrToUpper(std::string(word)); }

// At least what the instance could use stays unmet, and it has less than its floor.
bool IsStarved(const LimitRow& row) {
  return row.granted < row.explanation.floor && row.wanted > row.granted;
}

void AddAlgorithm(const Policy& policy, Json& view) {
  const AlgorithmConfig& config = policy.algorithm;
  view["algorithm"] = Upper(ToString(config.kind));
  view["floor"] = config.floor;
  view["ceiling"] = config.ceiling;
  view["initial"] = policy.initial ? Json(*policy.initial) : Json(nullptr);
  AddLawSettings(config, view);
}

// What became of the newest window, whether the limit moved or not.
Json LastDecisionView(const std::optional<LastDecision>& last, const TimeBase& time) {
  if (!last.has_value()) return nullptr;
  const bool judged = last->outcome == WindowOutcome::kUsed;
  return {{"event_id", last->event_id.empty() ? Json(nullptr) : Json(last->event_id)},
          {"time", TimeText(last->at, time)},
          {"age_seconds", absl::ToDoubleSeconds(time.now - last->at)},
          {"outcome", std::string(ToString(last->outcome))},
          {"from", last->from},
          {"to", last->to},
          {"reason", judged ? Json(std::string(ToString(last->reason))) : Json(nullptr)},
          {"message", last->message}};
}

Json WindowView(const WindowConfig& window) {
  const bool bounded = window.latency_ceiling != absl::InfiniteDuration();
  return {{"length", Text(window.length)},
          {"min_samples", window.samples_min},
          {"latency", window.latency == LatencySignal::kMean ? "MEAN" : "PERCENTILE"},
          {"percentile", window.percentile},
          {"latency_ceiling", bounded ? Json(Text(window.latency_ceiling)) : Json(nullptr)},
          {"drop_tolerance", window.drop_tolerance}};
}

Json QuotaSettings(const Policy& policy) {
  Json view = {{"capacity", policy.quota ? Json(*policy.quota) : Json(nullptr)},
               {"policy", "FAIR_SHARE"},
               {"instances_expected", policy.instances_expected},
               {"join_reserve", policy.join_reserve ? Json(*policy.join_reserve) : Json(nullptr)},
               {"services", Json::object()}};
  for (const auto& [name, share] : policy.services) {
    view["services"][name.value] = {
        {"weight", share.weight},
        {"min_share", share.minimum},
        {"max_share", share.maximum ? Json(*share.maximum) : Json(nullptr)},
        {"priority", share.priority},
        {"lend", share.lend}};
  }
  return view;
}

Json BreakerSettingsView(const BreakerSettings& settings) {
  return {{"consecutive_failures", settings.rules.consecutive_failures},
          {"failure_rate", settings.rules.failure_rate},
          {"slow_rate", settings.rules.slow_rate},
          {"calls_min", settings.rules.calls_min},
          {"slow_after", Text(settings.slow_after)},
          {"window", Text(settings.window)},
          {"hang_after", Text(settings.hang_after)},
          {"cool_off", Text(settings.cool_off)},
          {"cool_off_max", Text(settings.cool_off_max)},
          {"cool_off_growth", settings.cool_off_growth},
          {"cool_off_jitter", settings.cool_off_jitter},
          {"probe_deadline", Text(settings.probe_deadline)},
          {"probes_to_close", settings.probes_to_close},
          {"probe_failures_to_open", settings.probe_failures_to_open}};
}

const char* StateOf(const BreakerRow& row) {
  switch (row.view) {
    case plimsoll::BreakerView::kClosed:
      return "CLOSED";
    case plimsoll::BreakerView::kOpen:
      return "OPEN";
    case plimsoll::BreakerView::kHalfOpen:
    case plimsoll::BreakerView::kProbing:
      return "HALF_OPEN";
  }
  return "CLOSED";
}

Json BreakerChangeView(const std::optional<BreakerRow::Change>& change, const TimeBase& time) {
  if (!change.has_value()) return nullptr;
  return {{"time", TimeOf(change->at, time)},
          {"age_seconds", absl::ToDoubleSeconds(time.now - change->at)},
          {"message", change->message}};
}

// Of the fleet; null if the policy has none.
Json BreakerStatus(const std::optional<BreakerRow>& row, const TimeBase& time) {
  if (!row.has_value()) return nullptr;
  const BreakerEvidence& seen = row->evidence;
  return {{"state", StateOf(*row)},
          {"opened_total", row->opened_total},
          {"next_probe_seconds", absl::ToDoubleSeconds(row->cool_off_left)},
          {"prober", row->prober.empty() ? Json(nullptr) : Json(row->prober.value)},
          {"instances", row->instances},
          {"succeeded", seen.succeeded},
          {"failed", seen.failed},
          {"slow", seen.slow},
          {"hanging", seen.hanging},
          {"failures_in_a_row", seen.failures_in_a_row},
          {"last_change", BreakerChangeView(row->last_change, time)}};
}

Json DependencyStatus(const DependencyRow& row, const std::vector<const LimitRow*>& limits,
                      bool learning, const TimeBase& time) {
  Calls enforced = 0;
  int not_enforcing = 0;
  for (const LimitRow* limit : limits) {
    if (limit->mode == Mode::kEnforce) enforced += limit->enforced;
    not_enforcing += limit->mode != Mode::kEnforce;
  }
  return {{"health", Health(row, limits)},
          {"mode", std::string(ToString(row.mode))},
          {"instances", row.instances},
          {"not_enforcing", not_enforcing},
          {"in_flight", row.in_flight},
          {"enforced", enforced},
          {"granted", row.granted},
          {"reserved", row.reserved},
          {"wanted", row.wanted},
          {"algorithm_limit", row.algorithm_limit},
          {"admitted_per_second", row.admitted_per_second},
          {"rejected_per_second", row.rejected_per_second},
          {"latency_p50_seconds", SecondsOrNull(row.latency_p50)},
          {"latency_p99_seconds", SecondsOrNull(row.latency_p99)},
          {"baseline_latency_seconds", SecondsOrNull(row.baseline)},
          {"learning", learning},
          {"breaker", BreakerStatus(row.breaker, time)},
          {"last_decision", LastDecisionView(row.last_decision, time)}};
}

Json NumberOrNull(const std::optional<double>& number) {
  return number.has_value() ? Json(*number) : Json(nullptr);
}

// "P90", "P99.9".
std::string SignalText(const DecisionInputs& inputs) {
  if (inputs.signal == LatencySignal::kMean) return "MEAN";
  return absl::StrCat("P", inputs.percentile * 100);
}

Json InputsView(const DecisionInputs& inputs) {
  return {{"algorithm", Upper(inputs.algorithm)},
          {"baseline_latency_seconds", SecondsOrNull(inputs.baseline)},
          {"window_latency_seconds", SecondsOrNull(inputs.latency)},
          {"latency_signal", SignalText(inputs)},
          {"gradient", inputs.gradient},
          {"elasticity", NumberOrNull(inputs.elasticity)},
          {"elasticity_error", NumberOrNull(inputs.elasticity_error)},
          {"certified_baseline_seconds",
           SecondsOrNull(inputs.certified_baseline.value_or(absl::ZeroDuration()))},
          {"in_flight_max", inputs.in_flight_max},
          {"in_flight_mean", inputs.in_flight_mean},
          {"window_seconds", SecondsOrNull(inputs.length)},
          {"throughput_per_second", inputs.throughput},
          {"samples", inputs.samples},
          {"failed", inputs.failed},
          {"rejected", inputs.rejected},
          {"unclamped", inputs.unclamped},
          {"algorithm_limit", inputs.algorithm_limit},
          {"quota_capacity", inputs.quota},
          {"wanted", inputs.wanted}};
}

std::string StateOf(const InstanceRow& row) {
  if (row.evicted) return "EVICTED";
  if (row.fenced) return "FENCED";
  if (row.leaving) return "LEAVING";
  return row.connected ? "CONNECTED" : "SILENT";
}

}  // namespace

std::string TimeText(Instant at, const TimeBase& time) {
  return Rfc3339(time.wall - (time.now - at));
}

std::string Health(const DependencyRow& row, const std::vector<const LimitRow*>& limits) {
  if (row.instances == 0) return "NO_INSTANCES";
  const auto starved = [](const LimitRow* limit) { return IsStarved(*limit); };
  if (std::any_of(limits.begin(), limits.end(), starved)) return "STARVED";
  const auto at_floor = [](const LimitRow* limit) {
    return limit->explanation.binding == BindingConstraint::kFloor;
  };
  if (std::any_of(limits.begin(), limits.end(), at_floor)) return "AT_FLOOR";
  return row.wanted > row.granted || row.rejected_per_second > 0 ? "LIMITED" : "OK";
}

std::string LearningText(const Snapshot& snapshot, Instant now) {
  if (!snapshot.learning) return "";
  const std::string duration =
      snapshot.learning_until == kInfiniteFuture
          ? "until an operator vouches for the state with --trust-state"
          : absl::StrCat("for ", SecondsLeft(snapshot, now), " more seconds");
  return absl::StrCat("learning from agents ", duration, ", because: ", snapshot.store_lost_why);
}

Json StatusView(const Snapshot& snapshot, const ServerFacts& facts, const TimeBase& time) {
  std::int64_t limited = 0;
  std::int64_t overridden = 0;
  for (const DependencyRow& row : snapshot.dependencies) {
    limited += row.wanted > row.granted;
    overridden += row.pinned.has_value();
  }
  std::int64_t connected = 0;
  std::set<std::string> versions;
  for (const InstanceRow& row : snapshot.instances) {
    connected += row.connected;
    if (!row.agent_version.empty()) versions.insert(row.agent_version);
  }
  const auto sessions = static_cast<std::int64_t>(snapshot.instances.size());
  Json view = {{"version", facts.version}, {"role", facts.leads ? "LEADER" : "STANDBY"}};
  if (facts.state_mode == "ETCD") view["leader"] = facts.leader;
  view.update({{"epoch", snapshot.epoch.value},
               {"uptime_seconds", absl::ToDoubleSeconds(time.now - snapshot.started_at)},
               {"state", facts.state_mode},
               {"store_ok", snapshot.store_ok},
               {"observe_all", snapshot.observe_all},
               {"learning", LearningView(snapshot, time.now)},
               {"dependencies",
                {{"total", snapshot.dependencies.size()},
                 {"limited", limited},
                 {"overridden", overridden},
                 {"learning", snapshot.learning ? snapshot.dependencies.size() : 0}}},
               {"agents",
                {{"connected", connected},
                 {"silent", sessions - connected},
                 {"held_syncs", snapshot.held_syncs},
                 {"versions", versions}}},
               {"config", {{"hash", facts.config_hash}}}});
  return view;
}

Json DependencyView(const DependencyRow& row, const std::vector<const LimitRow*>& limits,
                    bool learning, const TimeBase& time,
                    const std::optional<DependencyFacts>& facts) {
  const Policy& policy = row.policy;
  Json view = {{"name", policy.name.value},
               {"origin", row.retired ? Json(nullptr) : Json(OriginOf(facts))},
               {"template", nullptr},
               {"description", policy.description},
               {"mode", std::string(ToString(policy.mode))},
               {"scope", std::string(ToString(policy.scope))}};
  AddAlgorithm(policy, view);
  view["call_deadline"] = Text(policy.call_deadline);
  view["window"] = WindowView(policy.window);
  view["quota"] = nullptr;
  if (policy.quota || !policy.services.empty()) view["quota"] = QuotaSettings(policy);
  view["outage"] = {{"base", policy.outage.base ? Json(*policy.outage.base) : Json(nullptr)},
                    {"base_lease", Text(policy.outage.base_lease)},
                    {"reserve", policy.outage.reserve}};
  view["breaker"] = policy.breaker ? BreakerSettingsView(*policy.breaker) : Json(nullptr);
  view["status"] = DependencyStatus(row, limits, learning, time);
  view["override"] = nullptr;
  if (!facts.has_value()) return view;
  if (!facts->made_from.empty()) view["template"] = facts->made_from;
  if (facts->override_facts) {
    view["override"] = OverrideView(policy.name, *facts->override_facts);
  }
  view["revision"] = absl::StrCat("dependencies.", facts->revision);
  view["create_time"] = CalendarText(facts->create_time);
  view["update_time"] = CalendarText(facts->update_time);
  return view;
}

std::string OriginOf(const std::optional<DependencyFacts>& facts) {
  if (!facts.has_value()) return "FILE";
  if (!facts->made_from.empty()) return "TEMPLATE";
  return facts->from_file ? "FILE" : "API";
}

Json QuotaView(const DependencyRow& row, const std::vector<const LimitRow*>& limits) {
  Json shares = Json::array();
  for (const LimitRow* limit : limits) {
    shares.push_back({{"service", limit->service.value},
                      {"instance_id", limit->instance.value},
                      {"granted", limit->granted},
                      {"reserved", limit->reserved},
                      {"wanted", limit->wanted},
                      {"in_flight", limit->in_flight},
                      {"silent_seconds", absl::ToDoubleSeconds(limit->age)}});
  }
  const bool bounded = row.policy.quota.has_value();
  const Calls quota = row.policy.quota.value_or(0);
  Json view = {
      {"dependency", row.policy.name.value},
      {"capacity", bounded ? Json(quota) : Json(nullptr)},
      {"policy", "FAIR_SHARE"},
      {"granted", row.granted},
      {"reserved", row.reserved},
      {"draining", bounded ? Json(std::max<std::int64_t>(0, row.reserved - quota)) : Json(nullptr)},
      {"orphaned", row.orphaned},
      {"unallocated",
       bounded ? Json(std::max<std::int64_t>(0, quota - row.reserved)) : Json(nullptr)},
      {"wanted", row.wanted},
      {"shares", shares}};
  // What can be put back.
  const Json settings = QuotaSettings(row.policy);
  for (const char* const key : {"instances_expected", "join_reserve", "services"}) {
    view[key] = settings[key];
  }
  return view;
}

Json LimitView(const LimitRow& row, bool has_quota, const TimeBase& time) {
  const Explanation& why = row.explanation;
  // Once the lease is over, what is in force is a step that was granted beforehand.
  const BindingConstraint binding =
      row.stage == LeaseStage::kLease ? why.binding : BindingConstraint::kFallback;
  return {{"dependency", row.dependency.value},
          {"service", row.service.value},
          {"instance_id", row.instance.value},
          {"session", row.session.value},
          {"enforced", row.mode == Mode::kEnforce ? Json(row.enforced) : Json(nullptr)},
          {"algorithm_limit", why.algorithm_limit},
          {"quota_share", has_quota ? Json(why.quota_share) : Json(nullptr)},
          {"floor", why.floor},
          {"ceiling", why.ceiling},
          {"in_flight", row.in_flight},
          {"binding_constraint", std::string(ToString(binding))},
          {"in_flight_max", row.in_flight_max},
          {"granted", row.granted},
          {"reserved", row.reserved},
          {"wanted", row.wanted},
          {"mode", std::string(ToString(row.mode))},
          {"lease_stage", std::string(ToString(row.stage))},
          {"age_seconds", absl::ToDoubleSeconds(row.age)},
          {"fenced", row.fenced},
          {"last_change",
           {{"event_id", why.event_id},
            {"reason", std::string(ToString(why.reason))},
            {"time", TimeText(row.changed_at, time)}}},
          {"last_decision", LastDecisionView(row.last_decision, time)}};
}

Json InstanceView(const InstanceRow& row, const TimeBase& time) {
  Json dependencies = Json::array();
  for (const DependencyId& dependency : row.dependencies) dependencies.push_back(dependency.value);
  return {{"instance_id", row.instance.value},
          {"service", row.service.value},
          {"session", row.session.value},
          {"agent_version", row.agent_version},
          {"zone", row.zone},
          {"state", StateOf(row)},
          {"last_report_age_seconds", absl::ToDoubleSeconds(row.age)},
          {"dependencies", dependencies},
          {"join_time", TimeText(row.joined_at, time)}};
}

Json EventView(const LogEvent& event, const TimeBase& time) {
  Json view = {{"id", event.id},
               {"type", std::string(ToString(event.type))},
               {"time", TimeText(event.at, time)}};
  const auto add = [&view](const char* key, const std::string& value) {
    if (!value.empty()) view[key] = value;
  };
  add("dependency", event.dependency.value);
  add("service", event.service.value);
  add("instance_id", event.instance.value);
  if (event.type == EventType::kLimitChanged || event.type == EventType::kDecision) {
    view["from"] = event.from;
    view["to"] = event.to;
    view["reason"] = std::string(ToString(event.reason));
  }
  if (event.type == EventType::kLimitChanged) {
    view["binding_constraint"] = std::string(ToString(event.binding));
  }
  view["message"] = event.message;
  if (event.inputs) view["inputs"] = InputsView(*event.inputs);
  return view;
}

}  // namespace plimsoll::internal
