#include "api/http/src/shard_merge.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

void Decorate(int shard, std::optional<LastDecision>& decision) {
  if (decision.has_value() && !decision->event_id.empty()) {
    decision->event_id = ShardedId(shard, decision->event_id);
  }
}

void AddRows(int shard, const Snapshot& from, Snapshot& whole) {
  for (DependencyRow row : from.dependencies) {
    Decorate(shard, row.last_decision);
    whole.dependencies.push_back(std::move(row));
  }
  for (InstanceRow row : from.instances) {
    row.session.value = ShardedId(shard, row.session.value);
    whole.instances.push_back(std::move(row));
  }
  for (LimitRow row : from.limits) {
    row.session.value = ShardedId(shard, row.session.value);
    Decorate(shard, row.last_decision);
    whole.limits.push_back(std::move(row));
  }
}

void AddCounts(const Snapshot& from, Snapshot& whole) {
  whole.held_syncs += from.held_syncs;
  for (std::size_t i = 0; i < kSyncResults; ++i) whole.syncs_total[i] += from.syncs_total[i];
  whole.instances_expired_total += from.instances_expired_total;
  whole.report_ages.Add(from.report_ages);
  whole.push_latencies.Add(from.push_latencies);
  whole.event_times.Add(from.event_times);
  whole.writes_total += from.writes_total;
  whole.write_failures_total += from.write_failures_total;
}

void AddState(const Snapshot& from, Snapshot& whole) {
  whole.epoch = std::max(whole.epoch, from.epoch);
  whole.at = std::max(whole.at, from.at);
  whole.started_at = std::min(whole.started_at, from.started_at);
  whole.store_ok = whole.store_ok && from.store_ok;
  whole.observe_all = whole.observe_all || from.observe_all;
  if (from.learning && (!whole.learning || from.learning_until > whole.learning_until)) {
    whole.learning_until = from.learning_until;
  }
  whole.learning = whole.learning || from.learning;
  if (whole.store_lost_why.empty()) whole.store_lost_why = from.store_lost_why;
}

// Newer first.
using Place = std::tuple<Instant, int>;

}  // namespace

std::string ShardedId(int shard, const std::string& id) { return absl::StrCat(shard, ".", id); }

std::optional<std::pair<int, std::string>> SplitShardedId(const std::string& id) {
  const std::size_t dot = id.find('.');
  int shard = 0;
  if (dot == std::string::npos || !absl::SimpleAtoi(id.substr(0, dot), &shard)) return std::nullopt;
  return std::pair(shard, id.substr(dot + 1));
}

Snapshot MergeSnapshots(const ShardSnapshots& snapshots, const Snapshot& idle) {
  if (snapshots.empty()) return idle;
  Snapshot whole;
  whole.at = idle.at;
  whole.started_at = snapshots.front().second->started_at;
  for (const auto& [shard, snapshot] : snapshots) {
    AddState(*snapshot, whole);
    AddCounts(*snapshot, whole);
    AddRows(shard, *snapshot, whole);
  }
  std::sort(whole.dependencies.begin(), whole.dependencies.end(),
            [](const auto& a, const auto& b) { return a.policy.name < b.policy.name; });
  std::sort(whole.instances.begin(), whole.instances.end(), [](const auto& a, const auto& b) {
    return std::tie(a.service, a.instance, a.session) < std::tie(b.service, b.instance, b.session);
  });
  std::sort(whole.limits.begin(), whole.limits.end(), [](const auto& a, const auto& b) {
    return std::tie(a.dependency, a.service, a.instance, a.session) <
           std::tie(b.dependency, b.service, b.instance, b.session);
  });
  return whole;
}

std::optional<LogEvent> GetFromLogs(const ShardLogs& logs, const std::string& id) {
  const auto split = SplitShardedId(id);
  if (!split.has_value()) return std::nullopt;
  for (const auto& [shard, log] : logs) {
    if (shard != split->first) continue;
    std::optional<LogEvent> event = log->Get(split->second);
    if (event.has_value()) event->id = ShardedId(shard, event->id);
    return event;
  }
  return std::nullopt;
}

std::vector<LogEvent> FindInLogs(const ShardLogs& logs, const EventLog::Filter& filter, int limit) {
  const auto place_of = [&logs](const std::string& id) -> std::optional<Place> {
    const std::optional<LogEvent> event = GetFromLogs(logs, id);
    if (!event.has_value()) return std::nullopt;
    return Place(event->at, SplitShardedId(id)->first);
  };
  const std::optional<Place> before = place_of(filter.before);
  const std::optional<Place> after = place_of(filter.after);
  // What it stood behind is gone, and all that is older with it.
  if (!filter.before.empty() && !before.has_value()) return {};
  std::vector<std::pair<Place, LogEvent>> found;
  for (const auto& [shard, log] : logs) {
    EventLog::Filter own = filter;
    own.before.clear();
    own.after.clear();
    if (before.has_value() && std::get<1>(*before) == shard) {
      own.before = SplitShardedId(filter.before)->second;
    }
    if (after.has_value() && std::get<1>(*after) == shard) {
      own.after = SplitShardedId(filter.after)->second;
    }
    if (before.has_value() && own.before.empty()) {
      // Of the same instant, those of lower shards only.
      const absl::Duration same =
          shard < std::get<1>(*before) ? absl::Nanoseconds(1) : absl::ZeroDuration();
      const Instant end = std::get<0>(*before) + same;
      if (!own.until.has_value() || end < *own.until) own.until = end;
    }
    if (after.has_value() && own.after.empty()) {
      const absl::Duration same =
          shard > std::get<1>(*after) ? absl::ZeroDuration() : absl::Nanoseconds(1);
      const Instant begin = std::get<0>(*after) + same;
      if (!own.since.has_value() || begin > *own.since) own.since = begin;
    }
    for (LogEvent& event : log->Find(own, limit)) {
      event.id = ShardedId(shard, event.id);
      found.emplace_back(Place(event.at, shard), std::move(event));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<LogEvent> events;
  for (auto& [place, event] : found) {
    if (static_cast<int>(events.size()) == limit) break;
    events.push_back(std::move(event));
  }
  return events;
}

std::vector<std::string> MergeAudit(std::vector<std::vector<std::string>> records, int limit) {
  std::vector<std::pair<std::string, std::string>> timed;
  for (std::vector<std::string>& shard : records) {
    for (std::string& record : shard) {
      const auto json = nlohmann::json::parse(record, nullptr, false);
      std::string time = json.is_object() ? json.value("time", "") : "";
      timed.emplace_back(std::move(time), std::move(record));
    }
  }
  // The times are RFC 3339 in UTC.
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> merged;
  for (auto& [time, record] : timed) {
    if (static_cast<int>(merged.size()) == limit) break;
    merged.push_back(std::move(record));
  }
  return merged;
}

}  // namespace plimsoll::internal
