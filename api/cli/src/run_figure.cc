#include "api/cli/src/run_figure.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/cli/src/describe.h"

namespace plimsoll::cli {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Latencies that differ by more than this need a logarithmic axis.
constexpr double kLogarithmicFrom = 12;

using Value = std::function<double(const LoadSample&)>;

double Ms(absl::Duration latency) {
  return latency > absl::ZeroDuration() ? absl::ToDoubleMilliseconds(latency) : kUnknown;
}

Line LineOf(const std::string& name, int style, const LoadRun& run, const Value& value) {
  Line line{name, {style, false}, {}, false};
  for (const LoadSample& sample : run.samples) {
    line.points.push_back({absl::ToDoubleSeconds(sample.at), value(sample)});
  }
  return line;
}

// What the best static limit has, phase by phase.
Line OptimumLine(const Outcome& outcome, const std::function<double(const Optimum&)>& value) {
  Line line{"best static limit", {0, true}, {}, true};
  for (std::size_t p = 0; p < outcome.optima.size(); ++p) {
    const double y = outcome.optima[p] ? value(*outcome.optima[p]) : kUnknown;
    line.points.push_back({absl::ToDoubleSeconds(outcome.scenario.phases[p].start), y});
  }
  if (!line.points.empty()) {
    line.points.push_back({absl::ToDoubleSeconds(outcome.scenario.length), line.points.back().y});
  }
  return line;
}

bool HasOptima(const Outcome& outcome) {
  return std::any_of(outcome.optima.begin(), outcome.optima.end(),
                     [](const auto& optimum) { return optimum.has_value(); });
}

void AddOptimum(const Outcome& outcome, Panel& panel,
                const std::function<double(const Optimum&)>& value) {
  if (HasOptima(outcome)) panel.lines.push_back(OptimumLine(outcome, value));
}

// The name of a value, or that of the law where several are compared; laws have their styles.
struct Named {
  std::string name;
  int style;
  Value value;
};

void AddLines(const Outcome& outcome, const std::vector<Named>& values, Panel& panel) {
  const bool several = outcome.laws.size() > 1;
  for (std::size_t law = 0; law < outcome.laws.size(); ++law) {
    for (const Named& named : values) {
      panel.lines.push_back(LineOf(several ? outcome.laws[law].law : named.name,
                                   several ? static_cast<int>(law % 8) : named.style,
                                   outcome.laws[law].first, named.value));
    }
  }
}

Panel LimitPanel(const Outcome& outcome) {
  Panel panel;
  panel.title = "limit per replica";
  AddOptimum(outcome, panel, [](const Optimum& optimum) { return double(optimum.limit); });
  AddLines(outcome, {{"limit", 0, [](const LoadSample& s) { return s.limit; }}}, panel);
  return panel;
}

Panel InFlightPanel(const Outcome& outcome) {
  Panel panel;
  panel.title = "calls in flight";
  std::vector<Named> values = {
      {"in flight", 0, [](const LoadSample& s) { return double(s.in_flight); }}};
  if (outcome.laws.size() == 1) {
    values.push_back(
        {"sum of the limits", 1, [](const LoadSample& s) { return double(s.limits); }});
  }
  AddLines(outcome, values, panel);
  const std::optional<Calls>& quota = outcome.scenario.policy.quota;
  if (quota) panel.levels.push_back({absl::StrCat("quota ", *quota), double(*quota)});
  return panel;
}

Panel ThroughputPanel(const Outcome& outcome) {
  Panel panel;
  const bool several = outcome.laws.size() > 1;
  panel.title = several ? "good calls per second" : "calls per second";
  AddOptimum(outcome, panel, [](const Optimum& optimum) { return optimum.good; });
  std::vector<Named> values = {{"good", 2, [](const LoadSample& s) { return s.good; }}};
  if (!several) {
    values.push_back({"offered", 0, [](const LoadSample& s) { return s.offered; }});
    values.push_back({"rejected", 1, [](const LoadSample& s) { return s.rejected; }});
  }
  AddLines(outcome, values, panel);
  return panel;
}

bool IsWide(const Panel& panel) {
  double low = HUGE_VAL;
  double high = 0;
  for (const Line& line : panel.lines) {
    for (const Point& point : line.points) {
      if (!std::isfinite(point.y)) continue;
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
  }
  return high > low * kLogarithmicFrom;
}

Panel LatencyPanel(const Outcome& outcome) {
  Panel panel;
  const bool several = outcome.laws.size() > 1;
  AddOptimum(outcome, panel, [](const Optimum& optimum) { return Ms(optimum.latency_p99); });
  std::vector<Named> values = {{"p99", 1, [](const LoadSample& s) { return Ms(s.latency_p99); }}};
  if (!several) {
    values.push_back({"mean", 0, [](const LoadSample& s) { return Ms(s.latency_mean); }});
  }
  AddLines(outcome, values, panel);
  panel.levels.push_back({absl::StrCat("deadline ", LatencyText(outcome.scenario.deadline)),
                          Ms(outcome.scenario.deadline)});
  panel.logarithmic = IsWide(panel);
  panel.title = absl::StrCat(several ? "latency p99, ms" : "latency, ms",
                             panel.logarithmic ? " (logarithmic)" : "");
  return panel;
}

std::vector<Line> LawLegend(const Outcome& outcome) {
  std::vector<Line> legend;
  if (outcome.laws.size() < 2) return legend;
  for (std::size_t law = 0; law < outcome.laws.size(); ++law) {
    legend.push_back({outcome.laws[law].law, {static_cast<int>(law % 8), false}, {}, false});
  }
  if (HasOptima(outcome)) legend.push_back({"best static limit", {0, true}, {}, false});
  return legend;
}

std::string Summary(const Outcome& outcome) {
  std::vector<std::string> laws;
  for (const LawOutcome& law : outcome.laws) {
    double good = 0;
    for (const PhaseOutcome& phase : law.phases) {
      good += phase.result.good * absl::ToDoubleSeconds(phase.result.length);
    }
    laws.push_back(absl::StrFormat("%s had %.0f good calls per second on average", law.law,
                                   good / absl::ToDoubleSeconds(outcome.scenario.length)));
  }
  return absl::StrCat("Lines over ", LatencyText(outcome.scenario.length),
                      " of simulated time: limit per replica, calls in flight, throughput and ",
                      "latency. ", absl::StrJoin(laws, "; "), ".");
}

double Step(const LogEvent& decision) {
  const double larger = std::max({decision.from, decision.to, 1});
  return std::abs(decision.to - decision.from) / larger;
}

}  // namespace

std::vector<LogEvent> NotableDecisions(const std::vector<LogEvent>& decisions, std::size_t count) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const EventType type = decisions[i].type;
    if (type == EventType::kLimitChanged || type == EventType::kDecision) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return Step(decisions[a]) > Step(decisions[b]);
  });
  order.resize(std::min(order.size(), count));
  std::sort(order.begin(), order.end());
  std::vector<LogEvent> notable;
  for (const std::size_t i : order) notable.push_back(decisions[i]);
  return notable;
}

std::string TimeText(const LogEvent& decision) {
  return absl::StrFormat("%.1f s", double(decision.at.ns) / 1e9);
}

std::string Whose(const LogEvent& decision) {
  if (decision.instance.empty()) return "pool";
  return absl::StrCat(decision.service.value, "/", decision.instance.value);
}

Figure RunFigure(const Outcome& outcome, std::size_t marks_max) {
  Figure figure;
  std::vector<std::string> names;
  for (const LawOutcome& law : outcome.laws) names.push_back(law.law);
  figure.title =
      absl::StrCat("Scenario ", outcome.scenario.name, " under ", absl::StrJoin(names, ", "));
  figure.description = Summary(outcome);
  figure.length = absl::ToDoubleSeconds(outcome.scenario.length);
  for (const LoadPhase& phase : outcome.scenario.phases) {
    figure.boundaries.push_back({absl::ToDoubleSeconds(phase.start), phase.name});
  }
  figure.panels = {LimitPanel(outcome), InFlightPanel(outcome), ThroughputPanel(outcome),
                   LatencyPanel(outcome)};
  figure.legend = LawLegend(outcome);
  for (Panel& panel : figure.panels) panel.legend = figure.legend.empty();
  if (outcome.laws.size() != 1) return figure;
  for (const LogEvent& decision : NotableDecisions(outcome.laws[0].first.decisions, marks_max)) {
    figure.marks.push_back(
        {double(decision.at.ns) / 1e9, decision.to > decision.from,
         absl::StrCat(TimeText(decision), " ", Whose(decision), " ", decision.from, " to ",
                      decision.to, ": ", decision.message)});
  }
  return figure;
}

}  // namespace plimsoll::cli
