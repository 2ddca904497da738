#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/cli/src/argument_parser.h"
#include "api/cli/src/commands.h"
#include "api/cli/src/event_stream.h"
#include "api/cli/src/humane.h"

namespace plimsoll::cli {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(2);
constexpr int kFailuresMax = 5;  // in a row; then it is no restart

// Fields that move without anything having changed.
void DropMeasured(Json& item) {
  for (const char* const key :
       {"age_seconds", "in_flight", "in_flight_max", "last_decision", "last_report_age_seconds",
        "report_lag_seconds", "status", "shares", "wanted", "reserved"}) {
    item.erase(key);
  }
}

// A controller that restarts is back within a few looks.
bool Passes(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

// Prints what changes about some topics: from the event stream or, if there is none, by looking
// again and again. Confined to one call of Follow().
class Follower {
 public:
  Follower(Session& session, std::string topics, absl::Duration interval, int count)
      : session_(session), topics_(std::move(topics)), interval_(interval), left_(count) {}

  absl::StatusOr<int> Run() {
    int failures = 0;
    while (true) {
      const std::size_t before = printed_;
      const absl::Status status = Stream();
      if (done_) return kExitFine;
      if (absl::IsUnimplemented(status)) return Poll();
      if (!status.ok() && !Passes(status)) return status;
      failures = printed_ > before ? 0 : failures + 1;
      if (failures > kFailuresMax && !status.ok()) return status;
      session_.context.pause(interval_);
    }
  }

 private:
  void Print(const Json& line) {
    session_.context.out(ToLine(line) + "\n");
    ++printed_;
    if (left_ > 0 && --left_ == 0) done_ = true;
  }

  // kUnimplemented: there is no stream to be had, so poll.
  absl::Status Stream() {
    RestRequest request;
    request.target = absl::StrCat(
        "/v1/watch",
        Query({{"topics", topics_}, {"dependency", session_.call.Text("--dependency")}}));
    if (!reader_.last_id().empty())
      request.headers.emplace_back("Last-Event-ID", reader_.last_id());
    const absl::StatusOr<RestResponse> answer =
        session_.client.transport().Stream(request, [this](std::string_view bytes) {
          for (const StreamEvent& event : reader_.Read(bytes)) {
            if (event.name == "partial") {
              TellPartial(Json::parse(event.data, nullptr, false));
            } else if (!done_) {
              Print(ToLineOf(event));
            }
          }
          return !done_;
        });
    if (!answer.ok()) return answer.status();
    if (answer->status == 200) return absl::OkStatus();
    if (answer->status == 410) {
      reader_.Forget();
      session_.context.error(
          "the stream cannot go on from where it was: some changes are missing\n");
      return absl::OkStatus();
    }
    if (answer->status == 503 || answer->status == 404) return absl::UnimplementedError("");
    return ToStatus(*answer);
  }

  // Not on stdout, and not again and again: it is no change.
  void TellPartial(const Json& body) {
    if (At(body, "/partial") != Json(true) || std::exchange(told_partial_, true)) return;
    std::set<std::string> others;
    for (const Json& shard : At(body, "/elsewhere")) {
      const std::string api = TextAt(shard, "/api");
      others.insert(api.empty() ? "nobody now" : Tame(api));
    }
    session_.context.error(absl::StrCat(
        "only changes in the shards that this controller leads are told; the others are led by ",
        absl::StrJoin(others, ", "), ": follow them with --addr\n"));
  }

  static Json ToLineOf(const StreamEvent& event) {
    Json data = Json::parse(event.data, nullptr, false);
    if (data.is_discarded()) data = event.data;
    return {{"event", event.name}, {"id", event.id}, {"data", data}};
  }

  absl::StatusOr<int> Poll() {
    session_.context.error("no stream is free: looking every " +
                           HumaneSeconds(absl::ToDoubleSeconds(interval_)) + " instead\n");
    int failures = 0;
    for (bool first = true; !done_; first = false) {
      absl::Status status;
      for (const std::string& topic : std::vector<std::string>(absl::StrSplit(topics_, ','))) {
        status.Update(Look(topic, first));
      }
      failures = status.ok() ? 0 : failures + 1;
      if (!status.ok() && (!Passes(status) || failures > kFailuresMax)) return status;
      if (!done_) session_.context.pause(interval_);
    }
    return kExitFine;
  }

  static const char* PathOf(const std::string& topic) {
    if (topic == "limits") return "/v1/limits";
    if (topic == "instances") return "/v1/instances";
    if (topic == "quotas") return "/v1/dependencies";
    return topic == "events" ? "/v1/events" : nullptr;
  }

  // Only limits and events can be asked for by dependency.
  std::string TargetOf(const std::string& topic) const {
    const bool by_dependency = topic == "limits" || topic == "events";
    return absl::StrCat(
        PathOf(topic),
        Query({{"dependency", by_dependency ? session_.call.Text("--dependency") : ""},
               {"page_size", "1000"}}));
  }

  absl::Status Look(const std::string& topic, bool first) {
    if (PathOf(topic) == nullptr) return absl::OkStatus();
    RestRequest request;
    request.target = TargetOf(topic);
    std::string& tag = tags_[topic];
    if (!tag.empty()) request.headers.emplace_back("If-None-Match", tag);
    const absl::StatusOr<RestResponse> answer = session_.client.transport().Send(request);
    if (!answer.ok()) return answer.status();
    if (answer->status == 304) return absl::OkStatus();
    if (answer->status != 200) return ToStatus(*answer);
    tag = answer->Header("etag");
    const Json body = Json::parse(answer->body, nullptr, false);
    TellPartial(body);
    const Json& items = At(body, "/items");
    // Events come newest first.
    std::vector<Json> list(items.begin(), items.end());
    if (topic == "events") std::reverse(list.begin(), list.end());
    for (const Json& item : list) Compare(topic, item, first);
    return absl::OkStatus();
  }

  void Compare(const std::string& topic, const Json& item, bool first) {
    const std::string kind = topic == "quotas" ? "dependencies" : topic;
    std::string key = topic;
    for (const std::string& pointer : KindOf(kind).key) {
      absl::StrAppend(&key, "\n", TextAt(item, pointer));
    }
    Json essence = item;
    DropMeasured(essence);
    std::string& known = known_[key];
    std::string now = ToLine(essence);
    if (known == now) return;
    known = std::move(now);
    if (!first && !done_) {
      Print({{"event", topic.substr(0, topic.size() - 1)}, {"id", ""}, {"data", item}});
    }
  }

  Session& session_;
  const std::string topics_;
  const absl::Duration interval_;
  int left_;  // lines until the end; 0: there is none
  std::size_t printed_ = 0;
  bool done_ = false;
  bool told_partial_ = false;
  EventStreamReader reader_;
  std::map<std::string, std::string> tags_;   // by topic
  std::map<std::string, std::string> known_;  // what was seen last, by topic and key
};

const Kind& TopKind() {
  static const Kind& kind =
      *new Kind{"dependencies",
                "/v1/dependencies",
                "",
                {"/name"},
                {{"NAME", "/name"},
                 {"MODE", "/mode", Cell::kWord},
                 {"HEALTH", "/status/health", Cell::kWord},
                 {"IN FLIGHT", "/status/in_flight", Cell::kNumber},
                 {"ENFORCED", "/status/enforced", Cell::kNumber},
                 {"WANTED", "/status/wanted", Cell::kNumber},
                 {"ADMITTED/S", "/status/admitted_per_second", Cell::kNumber},
                 {"REJECTED/S", "/status/rejected_per_second", Cell::kNumber},
                 {"P50", "/status/latency_p50_seconds", Cell::kSeconds},
                 {"P99", "/status/latency_p99_seconds", Cell::kSeconds},
                 {"BASELINE", "/status/baseline_latency_seconds", Cell::kSeconds}}};
  return kind;
}

absl::StatusOr<std::string> Screen(Session& session) {
  const std::string name = session.call.Text("--dependency");
  ListingOptions options = ListingOptionsOf(session);
  options.sort_by = "-rejected/s";
  Json list;
  if (name.empty()) {
    absl::StatusOr<Json> answer = session.client.List("/v1/dependencies", {});
    if (!answer.ok()) return answer.status();
    list = *std::move(answer);
  } else {
    absl::StatusOr<Json> answer = session.client.Get(DependencyPath(name));
    if (!answer.ok()) return answer.status();
    list = {{"items", Json::array({*answer})}};
  }
  absl::StatusOr<std::string> text = FormatList(TopKind(), list, options);
  if (!text.ok() || name.empty()) return text;
  const absl::StatusOr<Json> limits = session.client.List("/v1/limits", {{"dependency", name}});
  if (!limits.ok()) return limits.status();
  options.sort_by = "-in_flight";
  const absl::StatusOr<std::string> rows = FormatList(KindOf("limits"), *limits, options);
  if (!rows.ok()) return rows.status();
  return absl::StrCat(*text, "\n", *rows);
}

// Not more lines than the terminal has, or it would scroll.
std::string Fitting(const std::string& text, int rows) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  lines.pop_back();
  const auto room = static_cast<std::size_t>(rows);
  if (rows < 3 || lines.size() < room) return text;
  const std::size_t left = lines.size() - (room - 2);
  lines.resize(room - 2);
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\nand ", left, " more lines\n");
}

void Draw(const Session& session, const std::string& screen) {
  const std::string time =
      absl::FormatTime("%H:%M:%S UTC", session.context.clock.WallTime(), absl::UTCTimeZone());
  const std::string text = absl::StrCat(time, "\n", screen);
  if (!session.context.out_is_terminal) return session.context.out(text + "\n");
  // Home, each line to its end, and nothing of the screen before below it: no flicker.
  session.context.out(absl::StrCat(
      "\x1b[H",
      absl::StrReplaceAll(Fitting(text, session.context.out_size().rows), {{"\n", "\x1b[K\n"}}),
      "\x1b[J"));
}

}  // namespace

absl::StatusOr<int> Follow(Session& session, const std::string& topics) {
  const absl::StatusOr<int> count = WholeOf(session.call, "--count", 0);
  if (!count.ok()) return count.status();
  const absl::StatusOr<absl::Duration> interval = DurationOf(session.call, "--interval", kInterval);
  if (!interval.ok()) return interval.status();
  return Follower(session, topics, *interval, *count).Run();
}

absl::StatusOr<int> RunWatch(Session& session) {
  const std::string topics = session.call.Word(0);
  return Follow(session, topics.empty() ? "limits,instances,quotas,events,config" : topics);
}

absl::StatusOr<int> RunTop(Session& session) {
  const absl::StatusOr<int> count = WholeOf(session.call, "--count", 0);
  if (!count.ok()) return count.status();
  const absl::StatusOr<absl::Duration> interval = DurationOf(session.call, "--interval", kInterval);
  if (!interval.ok()) return interval.status();
  int failures = 0;
  for (int shown = 0; *count == 0 || shown < *count; ++shown) {
    if (shown > 0) session.context.pause(*interval);
    const absl::StatusOr<std::string> screen = Screen(session);
    failures = screen.ok() ? 0 : failures + 1;
    const bool goes_on = shown > 0 && Passes(screen.status()) &&
                         (session.context.out_is_terminal || failures <= kFailuresMax);
    if (!screen.ok() && !goes_on) return screen.status();
    if (screen.ok()) {
      Draw(session, *screen);
      continue;
    }
    const std::string why =
        absl::StrCat("plimsoll: ", std::string(screen.status().message()), "\n");
    session.context.out_is_terminal ? Draw(session, why) : session.context.error(why);
  }
  return kExitFine;
}

}  // namespace plimsoll::cli
