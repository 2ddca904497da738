#include "plimsoll/controller/event_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, kEventTypes> kTypeNames = {
    "LIMIT_CHANGED",        "DECISION",
    "INSTANCE_JOINED",      "INSTANCE_LEFT",
    "INSTANCE_EXPIRED",     "DUPLICATE_INSTANCE",
    "UNKNOWN_DEPENDENCY",   "STORE_FAILED",
    "STORE_RECOVERED",      "STARTED",
    "STORE_LOST",           "LEARNING_ENDED",
    "QUOTA_CHANGED",        "DEPOSED",
    "BREAKER_OPENED",       "BREAKER_CLOSED",
    "OVERRIDE_SET",         "OVERRIDE_CLEARED",
    "DEPENDENCY_CREATED",   "DEPENDENCY_UPDATED",
    "DEPENDENCY_DELETED",   "CONFIG_RELOADED",
    "CONFIG_RELOAD_FAILED", "LEADER_CHANGED"};

// Has from, to and reason.
bool HasReason(EventType type) {
  return type == EventType::kLimitChanged || type == EventType::kDecision;
}

struct EventId {
  std::int64_t epoch = 0;
  std::int64_t number = 0;
};

// The whole text as a number without sign, or nothing.
std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || text.front() == '-') return std::nullopt;
  return number;
}

std::optional<EventId> ParseId(std::string_view id) {
  const std::size_t dash = id.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto epoch = ParseNumber(id.substr(0, dash));
  const auto number = ParseNumber(id.substr(dash + 1));
  if (!epoch || !number) return std::nullopt;
  return EventId{*epoch, *number};
}

bool Matches(const EventLog::Filter& filter, const LogEvent& event) {
  return (filter.dependency.empty() || filter.dependency == event.dependency) &&
         (filter.instance.empty() || filter.instance == event.instance) &&
         (!filter.until || event.at < *filter.until) &&
         (!filter.type || *filter.type == event.type) &&
         (!filter.reason || (HasReason(event.type) && *filter.reason == event.reason));
}

}  // namespace

std::string_view ToString(EventType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

std::optional<EventType> EventTypeFromString(std::string_view name) {
  for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
    if (absl::EqualsIgnoreCase({kTypeNames[i].data(), kTypeNames[i].size()},
                               {name.data(), name.size()})) {
      return static_cast<EventType>(i);
    }
  }
  return std::nullopt;
}

EventLog::EventLog(Epoch epoch, int keep)
    : epoch_(epoch), keep_(static_cast<std::size_t>(std::max(keep, 0))), totals_(kEventTypes) {}

std::string EventLog::Append(LogEvent event) {
  ++totals_[static_cast<std::size_t>(event.type)];
  event.id = absl::StrCat(epoch_.value, "-", next_++);
  std::string id = event.id;
  events_.push_back(std::move(event));
  if (events_.size() > keep_) events_.pop_front();
  return id;
}

// The place of the oldest event that the filter may let through.
std::size_t EventLog::BeginOf(const Filter& filter) const {
  std::size_t begin = 0;
  const auto after = ParseId(filter.after);
  if (after && after->epoch > epoch_.value) return events_.size();
  if (after && after->epoch == epoch_.value) {
    const std::int64_t first = next_ - static_cast<std::int64_t>(events_.size());
    begin = static_cast<std::size_t>(std::clamp<std::int64_t>(
        after->number + 1 - first, 0, static_cast<std::int64_t>(events_.size())));
  }
  if (!filter.since) return begin;
  // Events are in the order of time.
  const auto young =
      std::partition_point(events_.begin(), events_.end(),
                           [&filter](const LogEvent& event) { return event.at < *filter.since; });
  return std::max(begin, static_cast<std::size_t>(young - events_.begin()));
}

std::vector<LogEvent> EventLog::Find(const Filter& filter, int limit) const {
  std::size_t end = events_.size();
  if (!filter.before.empty()) {
    const auto id = ParseId(filter.before);
    if (!id || id->epoch < epoch_.value) return {};
    const std::int64_t first = next_ - static_cast<std::int64_t>(events_.size());
    if (id->epoch == epoch_.value && id->number < next_) {
      end = static_cast<std::size_t>(std::max<std::int64_t>(id->number - first, 0));
    }
  }
  const std::size_t begin = BeginOf(filter);
  std::vector<LogEvent> found;
  while (end > begin && static_cast<std::int64_t>(found.size()) < limit) {
    const LogEvent& event = events_[--end];
    if (Matches(filter, event)) found.push_back(event);
  }
  return found;
}

std::optional<LogEvent> EventLog::Get(const std::string& id) const {
  const auto parsed = ParseId(id);
  const std::int64_t first = next_ - static_cast<std::int64_t>(events_.size());
  if (!parsed || parsed->epoch != epoch_.value || parsed->number < first ||
      parsed->number >= next_) {
    return std::nullopt;
  }
  return events_[static_cast<std::size_t>(parsed->number - first)];
}

std::int64_t EventLog::total(EventType type) const {
  return totals_[static_cast<std::size_t>(type)];
}

}  // namespace plimsoll
