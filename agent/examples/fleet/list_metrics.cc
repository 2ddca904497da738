#include "agent/examples/fleet/list_metrics.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/agent/metrics.h"

namespace plimsoll::fleet {
namespace {

using Values = std::vector<std::string>;

constexpr std::string_view kOpenLabels[] = {"dependency", "class", "version", "revision"};

bool IsOpen(std::string_view label) {
  return std::find(std::begin(kOpenLabels), std::end(kOpenLabels), label) != std::end(kOpenLabels);
}

// Notes which values labels have.
class ValueSink final : public MetricsSink {
 public:
  void Counter(const MetricInfo& info, Labels labels, double /*value*/) override {
    Note(info, labels);
  }
  void Gauge(const MetricInfo& info, Labels labels, double /*value*/) override {
    Note(info, labels);
  }
  void Histogram(const MetricInfo& info, Labels labels, const DurationCounts& /*value*/) override {
    Note(info, labels);
  }
  void StateSet(const MetricInfo& info, Labels /*labels*/, std::span<const std::string_view> states,
                std::string_view /*active*/) override {
    for (const std::string_view state : states) Note(info, info.labels.back(), state);
  }

  const Values& Of(std::string_view metric, std::string_view label) {
    return values_[{std::string(metric), std::string(label)}];
  }

 private:
  void Note(const MetricInfo& info, Labels labels) {
    for (std::size_t i = 0; i < labels.size(); ++i) Note(info, info.labels[i], labels[i]);
  }
  void Note(const MetricInfo& info, std::string_view label, std::string_view value) {
    if (IsOpen(label)) return;
    Values& values = values_[{std::string(info.name), std::string(label)}];
    if (std::find(values.begin(), values.end(), value) == values.end()) values.emplace_back(value);
  }

  std::map<std::pair<std::string, std::string>, Values> values_;
};

// An agent that has everything that an agent can tell of.
AgentSnapshot FullSnapshot() {
  AgentOptions options;
  options.controllers = {"http://127.0.0.1:9"};
  options.service = "any";
  options.log = [](std::string_view) {};
  const std::unique_ptr<Agent> agent = Agent::Start(options).value();
  agent->bulkhead("any");
  AgentSnapshot snapshot = agent->Snapshot();
  BulkheadSnapshot& bulkhead = snapshot.bulkheads.front();
  bulkhead.queue_wait.emplace();
  bulkhead.limits = LimitFacts{1, 1, 1, 1};
  bulkhead.binding = "quota";
  bulkhead.limit_age.emplace(0);
  bulkhead.breaker = BreakerFacts{"closed", 0};
  bulkhead.retries_denied = 0;
  return snapshot;
}

const char* TypeName(MetricType type) {
  if (type == MetricType::kCounter) return "counter";
  return type == MetricType::kHistogram ? "histogram" : "gauge";
}

std::string LabelsJson(const MetricInfo& info, ValueSink& sink) {
  std::vector<std::string> labels;
  for (const std::string_view label : info.labels) {
    const Values& values = sink.Of(info.name, label);
    const std::string list =
        values.empty() ? "null" : absl::StrCat("[\"", absl::StrJoin(values, "\", \""), "\"]");
    labels.push_back(absl::StrCat("\"", std::string(label), "\": ", list));
  }
  return absl::StrCat("{", absl::StrJoin(labels, ", "), "}");
}

}  // namespace

std::string AgentMetricsJson() {
  ValueSink sink;
  VisitMetrics(FullSnapshot(), sink);
  std::vector<std::string> metrics;
  for (const MetricInfo& info : AgentMetrics()) {
    metrics.push_back(absl::StrCat("  {\"name\": \"", std::string(info.name), "\", \"type\": \"",
                                   TypeName(info.type), "\", \"unit\": \"", std::string(info.unit),
                                   "\",\n   \"labels\": ", LabelsJson(info, sink),
                                   ",\n   \"help\": \"", std::string(info.help), "\"}"));
  }
  return absl::StrCat("[\n", absl::StrJoin(metrics, ",\n"), "\n]\n");
}

}  // namespace plimsoll::fleet
