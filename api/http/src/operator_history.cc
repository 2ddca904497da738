// What has happened: the log, who changed what, the recorded numbers, and the advice made of them.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/http/src/audit_page.h"
#include "api/http/src/operator_plane.h"
#include "api/http/src/paging.h"
#include "api/http/src/replies.h"
#include "api/http/src/sizing_view.h"
#include "api/http/src/snapshot_rows.h"
#include "api/http/src/timeseries.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

// `events` holds one more than the page if there is a next one.
HttpResponse EventsPage(const PageRequest& page, const std::vector<LogEvent>& events,
                        const TimeBase& time) {
  Json items = Json::array();
  const std::size_t count = std::min(events.size(), page.size);
  for (std::size_t i = 0; i < count; ++i) items.push_back(EventView(events[i], time));
  const bool more = events.size() > page.size;
  return JsonReply(
      200, {{"items", items},
            {"next_page_token", more ? MakePageToken(page, events[count - 1].id) : std::string()}});
}

// The parameters since and until of the log.
absl::Status ReadSpan(const RoutedRequest& routed, const TimeBase& time, EventLog::Filter& filter) {
  for (const char* name : {"since", "until"}) {
    if (!routed.Has(name)) continue;
    const absl::StatusOr<Instant> at = ReadTime(name, routed.Parameter(name), time);
    if (!at.ok()) return at.status();
    (std::string(name) == "since" ? filter.since : filter.until) = *at;
  }
  return absl::OkStatus();
}

}  // namespace

HttpResponse OperatorPlane::Sizing(const RoutedRequest& routed) const {
  const std::string dependency = routed.Parameter("dependency");
  std::vector<SizingAdvice> advice = sizing_.Advise();
  std::erase_if(advice, [&dependency](const SizingAdvice& one) {
    return !PassesFilter(dependency, one.dependency.value);
  });
  return JsonReply(200, SizingView(advice));
}

HttpResponse OperatorPlane::Timeseries(const RoutedRequest& routed,
                                       const Snapshot& snapshot) const {
  const TimeBase time = Time();
  const auto query = ReadHistoryQuery(routed, history_, time);
  if (!query.ok()) {
    return ProblemResponse(400, "INVALID_ARGUMENT", std::string(query.status().message()));
  }
  if (const auto table = history_.Read(*query)) {
    return TimeseriesResponse(*query, *table, history_, time);
  }
  if (query->instance.empty() && FindDependency(snapshot, query->dependency) != nullptr) {
    History::Table nothing_yet;
    nothing_yet.columns.resize(query->metrics.size());
    return TimeseriesResponse(*query, nothing_yet, history_, time);
  }
  return ProblemResponse(
      404, "NOT_FOUND",
      absl::StrCat("there is no history of '", query->dependency,
                   query->instance.empty() ? "" : absl::StrCat("' at '", query->instance),
                   "'; it is kept of ", History::kSeriesMax, " dependencies and pairs at most"));
}

void OperatorPlane::Events(const RoutedRequest& routed, const ExchangePtr& exchange) {
  const absl::StatusOr<PageRequest> page = ReadPageRequest(routed);
  if (!page.ok()) return exchange->Reply(PageFault(page.status()));
  EventLog::Filter filter;
  filter.dependency.value = routed.Parameter("dependency");
  filter.instance.value = routed.Parameter("instance_id");
  filter.before = page->after;
  const std::string type = routed.Parameter("type");
  const std::string reason = routed.Parameter("reason");
  if (!type.empty()) filter.type = EventTypeFromString(type);
  if (!reason.empty()) filter.reason = ReasonFromString(reason);
  if ((!type.empty() && !filter.type) || (!reason.empty() && !filter.reason)) {
    return exchange->Reply(
        ProblemResponse(400, "INVALID_ARGUMENT", "type or reason is not a word of its list"));
  }
  if (const auto fault = ReadSpan(routed, Time(), filter); !fault.ok()) {
    return exchange->Reply(ProblemResponse(400, "INVALID_ARGUMENT", std::string(fault.message())));
  }
  // One more than asked for tells whether there is a next page.
  const int limit = static_cast<int>(page->size) + 1;
  controller_.FindEvents(std::move(filter), limit,
                         [this, exchange, page = *page](std::vector<LogEvent> events) {
                           ReplyWith(*exchange, [&] { return EventsPage(page, events, Time()); });
                         });
}

void OperatorPlane::Event(const RoutedRequest& routed, const ExchangePtr& exchange) {
  const std::string id = routed.names[0];
  controller_.GetEvent(id, [this, exchange, id](const std::optional<LogEvent>& event) {
    ReplyWith(*exchange, [&] {
      return event ? JsonReply(200, EventView(*event, Time())) : NoSuch("event", id);
    });
  });
}

void OperatorPlane::Audit(const RoutedRequest& routed, const ExchangePtr& exchange) {
  const absl::StatusOr<PageRequest> page = ReadPageRequest(routed);
  if (!page.ok()) return exchange->Reply(PageFault(page.status()));
  controller_.ReadAudit(
      AuditRecordsFor(*page),
      [exchange, page = *page](const absl::StatusOr<std::vector<std::string>>& records) {
        ReplyWith(*exchange, [&] {
          if (records.ok()) return AuditPage(page, *records);
          HttpResponse response =
              ProblemResponse(503, "STORE_UNAVAILABLE",
                              absl::StrCat("the records cannot be read: ",
                                           std::string(records.status().message())));
          response.headers.emplace_back("Retry-After", "1");
          return response;
        });
      });
}

}  // namespace plimsoll::internal
