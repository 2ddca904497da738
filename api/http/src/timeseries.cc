#include "api/http/src/timeseries.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDigits = 6;  // more than a float holds would be noise

double Rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, kDigits - std::ceil(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json Cell(HistoryMetric metric, const std::optional<double>& value) {
  if (!value.has_value()) return nullptr;
  if (IsCount(metric)) return std::llround(*value);
  return Rounded(*value);
}

std::vector<HistoryMetric> AllMetrics(bool of_instance) {
  std::vector<HistoryMetric> metrics;
  for (std::size_t i = 0; i < (of_instance ? kInstanceMetrics : kHistoryMetrics); ++i) {
    metrics.push_back(static_cast<HistoryMetric>(i));
  }
  return metrics;
}

std::string MetricNames() {
  return absl::StrJoin(AllMetrics(false), ", ", [](std::string* out, HistoryMetric metric) {
    absl::StrAppend(out, std::string(ToString(metric)));
  });
}

// Several are separated by commas.
absl::StatusOr<std::vector<HistoryMetric>> ReadMetrics(const std::string& text) {
  std::vector<HistoryMetric> metrics;
  const std::vector<std::string> names = absl::StrSplit(text, ',');
  for (const std::string& name : names) {
    const std::optional<HistoryMetric> metric = HistoryMetricFromString(name);
    if (!metric.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("unknown metric '", name, "'; there are ",
                                                     MetricNames(), ", separated by commas"));
    }
    metrics.push_back(*metric);
  }
  return metrics;
}

absl::StatusOr<int> ReadSteps(const std::string& text, const History& history) {
  absl::Duration step;
  if (!absl::ParseDuration(text, &step) || step <= absl::ZeroDuration() || step > history.keep()) {
    return absl::InvalidArgumentError(absl::StrCat("step must be a duration of at most ",
                                                   absl::FormatDuration(history.keep()),
                                                   " with a unit, such as \"30s\""));
  }
  return static_cast<int>(absl::Ceil(step, history.step()) / history.step());
}

}  // namespace

absl::StatusOr<Instant> ReadTime(const std::string& name, const std::string& text,
                                 const TimeBase& time) {
  absl::Time when;
  absl::Duration ago;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &when, &error)) {
    return time.now - (time.wall - when);
  }
  if (absl::ParseDuration(text, &ago) && ago >= absl::ZeroDuration()) return time.now - ago;
  return absl::InvalidArgumentError(absl::StrCat(
      name, " must be a time such as \"2026-11-29T17:00:00Z\", or how long ago, such as \"15m\""));
}

absl::StatusOr<History::Query> ReadHistoryQuery(const RoutedRequest& routed, const History& history,
                                                const TimeBase& time) {
  History::Query query;
  query.dependency = routed.Parameter("dependency");
  query.instance = routed.Parameter("instance_id");
  if (query.dependency.empty()) {
    return absl::InvalidArgumentError("name the dependency: ?dependency=NAME");
  }
  query.metrics = AllMetrics(!query.instance.empty());
  if (routed.Has("metric")) {
    auto metrics = ReadMetrics(routed.Parameter("metric"));
    if (!metrics.ok()) return metrics.status();
    query.metrics = *std::move(metrics);
  }
  if (routed.Has("since")) {
    const auto since = ReadTime("since", routed.Parameter("since"), time);
    if (!since.ok()) return since.status();
    query.since = *since;
  }
  if (routed.Has("step")) {
    const auto steps = ReadSteps(routed.Parameter("step"), history);
    if (!steps.ok()) return steps.status();
    query.steps = *steps;
  }
  return query;
}

HttpResponse TimeseriesResponse(const History::Query& query, const History::Table& table,
                                const History& history, const TimeBase& time) {
  Json columns = Json::object();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    Json column = Json::array();
    for (const auto& value : table.columns[i]) column.push_back(Cell(query.metrics[i], value));
    columns[std::string(ToString(query.metrics[i]))] = std::move(column);
  }
  Json body = {{"dependency", query.dependency}};
  if (!query.instance.empty()) body["instance_id"] = query.instance;
  body["step_seconds"] = absl::ToDoubleSeconds(history.step() * query.steps);
  body["start_time"] = table.rows > 0 ? Json(TimeText(table.start, time)) : Json(nullptr);
  body["columns"] = std::move(columns);
  HttpResponse response;
  response.body = body.dump();
  return response;
}

}  // namespace plimsoll::internal
