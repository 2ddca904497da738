#include "api/http/src/watch_frames.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, kWatchTopics> kTopics = {"limits", "instances", "quotas",
                                                                "events", "config"};
constexpr std::array<std::string_view, kWatchTopics> kEvents = {"limit", "instance", "quota",
                                                                "event", "config"};

WatchFrame Frame(WatchTopic topic, std::vector<DependencyId> about, const Json& data) {
  return {topic, std::move(about), data.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

// Walks two sorted lists side by side: changed(old or null, now) for what is there, gone(old) for
// what is not any more.
template <typename Row, typename Key, typename Changed, typename Gone>
void Walk(const std::vector<Row>& old, const std::vector<Row>& now, Key key, Changed changed,
          Gone gone) {
  auto before = old.begin();
  for (const Row& row : now) {
    for (; before != old.end() && key(*before) < key(row); ++before) gone(*before);
    const bool known = before != old.end() && key(*before) == key(row);
    changed(known ? &*before : nullptr, row);
    if (known) ++before;
  }
  for (; before != old.end(); ++before) gone(*before);
}

auto LimitKey(const LimitRow& row) {
  return std::tie(row.dependency, row.service, row.instance, row.session);
}
auto InstanceKey(const InstanceRow& row) {
  return std::tie(row.service, row.instance, row.session);
}
const DependencyId& DependencyKey(const DependencyRow& row) { return row.policy.name; }

// What a frame of limits is for.
auto Essence(const LimitRow& row) {
  const Explanation& why = row.explanation;
  return std::tuple(row.mode, row.enforced, row.granted, row.stage, row.fenced, why.algorithm_limit,
                    why.quota_share, why.floor, why.ceiling, why.binding, why.reason);
}
auto Essence(const InstanceRow& row) {
  return std::tie(row.connected, row.leaving, row.fenced, row.agent_version, row.dependencies);
}
auto Essence(const DependencyRow& row) {
  return std::tie(row.policy.quota, row.granted, row.reserved, row.orphaned, row.wanted,
                  row.instances);
}

Json Gone(Json data) {
  data["gone"] = true;
  return data;
}

void CompareLimits(const Snapshot& old, const Snapshot& now, const TimeBase& time,
                   std::vector<WatchFrame>& frames) {
  std::map<DependencyId, bool> has_quota;
  for (const DependencyRow& row : now.dependencies) {
    has_quota[row.policy.name] = row.policy.quota.has_value();
  }
  const auto changed = [&](const LimitRow* before, const LimitRow& row) {
    if (before != nullptr && Essence(*before) == Essence(row)) return;
    Json view = LimitView(row, has_quota[row.dependency], time);
    view["reason"] = view["last_change"]["reason"];
    view["event_id"] = view["last_change"]["event_id"];
    frames.push_back(Frame(WatchTopic::kLimits, {row.dependency}, view));
  };
  const auto gone = [&](const LimitRow& row) {
    frames.push_back(Frame(WatchTopic::kLimits, {row.dependency},
                           Gone({{"dependency", row.dependency.value},
                                 {"service", row.service.value},
                                 {"instance_id", row.instance.value},
                                 {"session", row.session.value}})));
  };
  Walk(old.limits, now.limits, LimitKey, changed, gone);
}

void CompareInstances(const Snapshot& old, const Snapshot& now, const TimeBase& time,
                      std::vector<WatchFrame>& frames) {
  const auto changed = [&](const InstanceRow* before, const InstanceRow& row) {
    if (before != nullptr && Essence(*before) == Essence(row)) return;
    frames.push_back(Frame(WatchTopic::kInstances, row.dependencies, InstanceView(row, time)));
  };
  const auto gone = [&](const InstanceRow& row) {
    frames.push_back(Frame(WatchTopic::kInstances, row.dependencies,
                           Gone({{"instance_id", row.instance.value},
                                 {"service", row.service.value},
                                 {"session", row.session.value}})));
  };
  Walk(old.instances, now.instances, InstanceKey, changed, gone);
}

void CompareQuotas(const Snapshot& old, const Snapshot& now, std::vector<WatchFrame>& frames) {
  const auto changed = [&](const DependencyRow* before, const DependencyRow& row) {
    if (before != nullptr && Essence(*before) == Essence(row)) return;
    Json view = QuotaView(row, {});
    view.erase("shares");  // who wants them lists them
    frames.push_back(Frame(WatchTopic::kQuotas, {row.policy.name}, view));
  };
  const auto gone = [&](const DependencyRow& row) {
    frames.push_back(Frame(WatchTopic::kQuotas, {row.policy.name},
                           Gone({{"dependency", row.policy.name.value}})));
  };
  Walk(old.dependencies, now.dependencies, DependencyKey, changed, gone);
}

}  // namespace

std::string_view TopicName(WatchTopic topic) { return kTopics[static_cast<std::size_t>(topic)]; }
std::string_view EventName(WatchTopic topic) { return kEvents[static_cast<std::size_t>(topic)]; }

std::vector<WatchFrame> CompareSnapshots(const Snapshot* old, const Snapshot& now,
                                         const TimeBase& time) {
  std::vector<WatchFrame> frames;
  if (old == nullptr) return frames;
  CompareInstances(*old, now, time, frames);
  CompareQuotas(*old, now, frames);
  CompareLimits(*old, now, time, frames);
  return frames;
}

WatchFrame EventFrame(const LogEvent& event, const TimeBase& time) {
  std::vector<DependencyId> about;
  if (!event.dependency.empty()) about.push_back(event.dependency);
  return Frame(WatchTopic::kEvents, std::move(about), EventView(event, time));
}

WatchFrame ConfigFrame(const std::string& hash) {
  return Frame(WatchTopic::kConfig, {}, {{"hash", hash}});
}

}  // namespace plimsoll::internal
