#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/http/src/views.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/snapshot.h"

namespace plimsoll::internal {

// What a stream of /v1/watch may be about.
enum class WatchTopic { kLimits, kInstances, kQuotas, kEvents, kConfig };
inline constexpr std::size_t kWatchTopics = 5;
// "limits" and so on, as in the parameter `topics`; and "limit", as the name of its events. Both of
// static storage.
std::string_view TopicName(WatchTopic topic);
std::string_view EventName(WatchTopic topic);

// One thing that changed.
struct WatchFrame {
  WatchTopic topic = WatchTopic::kEvents;
  std::vector<DependencyId> about;  // empty: about none in particular, so for everybody
  std::string data;                 // JSON
};

// Frames for what changed from one snapshot to the next: limits and what binds them, instances and
// their state, quotas and who holds them. Numbers that change with each call, such as how many are
// in flight, make no frame of limits or instances. O(rows). `old` may be null: nothing changed.
// Thread-safe.
std::vector<WatchFrame> CompareSnapshots(const Snapshot* old, const Snapshot& now,
                                         const TimeBase& time);
WatchFrame EventFrame(const LogEvent& event, const TimeBase& time);
WatchFrame ConfigFrame(const std::string& hash);

}  // namespace plimsoll::internal
