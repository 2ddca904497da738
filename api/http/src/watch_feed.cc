#include "api/http/src/watch_feed.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/http/src/shard_views.h"

namespace plimsoll::internal {
namespace {

constexpr char kTopicWords[] = "limits, instances, quotas, events, config";

// All topics if none is named.
absl::StatusOr<WatchFilter> ReadFilter(const RoutedRequest& routed) {
  WatchFilter filter;
  filter.dependency = DependencyId(routed.Parameter("dependency"));
  filter.topics.fill(!routed.Has("topics"));
  if (!routed.Has("topics")) return filter;
  const std::vector<std::string> names = absl::StrSplit(routed.Parameter("topics"), ',');
  for (const std::string& name : names) {
    std::size_t topic = 0;
    while (topic < kWatchTopics && TopicName(static_cast<WatchTopic>(topic)) != name) ++topic;
    if (topic == kWatchTopics) {
      return absl::InvalidArgumentError(absl::StrCat("unknown topic '", name, "'; there are ",
                                                     kTopicWords, ", separated by commas"));
    }
    filter.topics[topic] = true;
  }
  return filter;
}

HttpResponse Refuse(const absl::Status& status) {
  std::string detail(status.message());
  if (absl::IsOutOfRange(status)) return ProblemResponse(410, "REVISION_COMPACTED", detail);
  const bool full = absl::IsResourceExhausted(status);
  HttpResponse response =
      ProblemResponse(503, full ? "WATCHERS_EXHAUSTED" : "NOT_READY", std::move(detail));
  response.headers.emplace_back("Retry-After", full ? "5" : "0");
  return response;
}

}  // namespace

WatchFeed::WatchFeed(ControllerView& controller, const Clock& clock, int watchers_max)
    : controller_(controller),
      clock_(clock),
      hub_(absl::StrCat(absl::ToUnixMillis(clock.WallTime())), watchers_max) {}

void WatchFeed::Open(const RoutedRequest& routed, const ExchangePtr& exchange) {
  const absl::StatusOr<WatchFilter> filter = ReadFilter(routed);
  if (!filter.ok()) {
    return exchange->Reply(
        ProblemResponse(400, "INVALID_ARGUMENT", std::string(filter.status().message())));
  }
  auto open = [this, exchange, filter = *filter, last_id = routed.request.last_event_id] {
    exchange->Reply(Stream(filter, last_id));
  };
  if (told_ != nullptr || controller_.shutting_down()) return open();
  Begin(std::move(open));
}

// What changes after the stream has begun must be told, so there must be something to compare with
// before it begins.
void WatchFeed::Begin(std::function<void()> then) {
  controller_.GetSnapshot([this, then](const std::shared_ptr<const Snapshot>& snapshot) {
    controller_.FindEvents({}, 1, [this, then, snapshot](const std::vector<LogEvent>& events) {
      if (told_ == nullptr) {
        told_ = snapshot;
        told_event_ = events.empty() ? "" : events.front().id;
      }
      then();
    });
  });
}

void WatchFeed::Poll() {
  const Instant now = clock_.Now();
  hub_.Beat(now);
  if (!hub_.IsWanted(now)) {
    told_ = nullptr;
    return;
  }
  if (told_ == nullptr || asking_) return;
  asking_ = true;
  controller_.GetSnapshot([this](const std::shared_ptr<const Snapshot>& snapshot) {
    EventLog::Filter fresh;
    fresh.after = told_event_;
    // One more than the hub remembers becomes a reset for everybody.
    const int limit = static_cast<int>(WatchHub::kRingMax) + 1;
    controller_.FindEvents(std::move(fresh), limit,
                           [this, snapshot](const std::vector<LogEvent>& events) {
                             asking_ = false;
                             Tell(snapshot, events);
                           });
  });
}

void WatchFeed::Tell(const std::shared_ptr<const Snapshot>& snapshot,
                     const std::vector<LogEvent>& events) {
  if (told_ == nullptr) return;
  const TimeBase time = Time();
  std::vector<WatchFrame> frames;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    frames.push_back(EventFrame(*event, time));
  }
  if (snapshot != told_) {
    std::vector<WatchFrame> changes = CompareSnapshots(told_.get(), *snapshot, time);
    frames.insert(frames.end(), std::make_move_iterator(changes.begin()),
                  std::make_move_iterator(changes.end()));
  }
  if (!events.empty()) told_event_ = events.front().id;
  told_ = snapshot;
  hub_.Publish(std::move(frames));
}

void WatchFeed::TellConfig(const std::string& hash) {
  if (told_ != nullptr) hub_.Publish({ConfigFrame(hash)});
}

// What is not led here is not told. One dependency is asked of who leads it.
std::string WatchFeed::Greeting(const WatchFilter& filter) const {
  if (!filter.dependency.empty()) return "";
  const std::string elsewhere = ElsewhereMembers(controller_.shards());
  return elsewhere.empty() ? "" : absl::StrCat("event: partial\ndata: {", elsewhere, "}\n\n");
}

HttpResponse WatchFeed::Stream(const WatchFilter& filter, const std::string& last_id) {
  auto stream = hub_.Open(filter, last_id, clock_.Now(), Greeting(filter));
  if (!stream.ok()) return Refuse(stream.status());
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.stream = *std::move(stream);
  return response;
}

}  // namespace plimsoll::internal
