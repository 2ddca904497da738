#include "tests/scale/report.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/scale/timetable.h"
#include "tests/scale/workload.h"

namespace plimsoll::scale {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

double Seconds(Instant at) { return static_cast<double>(at.ns) * 1e-9; }

double At(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

Values Spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"median", At(values, 0.5)}, {"99 %", At(values, 0.99)}, {"most", At(values, 1)}};
}

double PerSecond(const std::vector<std::int64_t>& bins, double from, double to) {
  const auto size = static_cast<double>(bins.size());
  const auto first = static_cast<std::ptrdiff_t>(std::min(from * 1e9 / kBinNs, size));
  const auto last = static_cast<std::ptrdiff_t>(std::min(to * 1e9 / kBinNs, size));
  const auto sum = std::accumulate(bins.begin() + first, bins.begin() + last, std::int64_t{0});
  return to > from ? static_cast<double>(sum) / (to - from) : 0;
}

void AddRates(const Options& options, const Figures& figures, std::vector<Line>& lines) {
  const double length = absl::ToDoubleSeconds(options.length);
  const double calm = absl::ToDoubleSeconds(Timetable::Calm(options));
  for (std::size_t i = 0; i < kCounts; ++i) {
    const auto& bins = figures.bins[i];
    const Count count = static_cast<Count>(i);
    lines.push_back({absl::StrCat(std::string(ToString(count)), "/s"),
                     {{"calm", PerSecond(bins, calm / 2, calm)},
                      {"afterwards", PerSecond(bins, calm, length)},
                      {"peak", static_cast<double>(figures.PeakPerSecond(count))},
                      {"in all", static_cast<double>(figures.Total(count))}}});
  }
}

enum class Cause { kRestart, kFailure, kReturn, kStart };

Cause CauseOf(const TakeOver& take_over, const Timetable& timetable) {
  if (take_over.from < 0) return Cause::kStart;
  const Outage* const outage = timetable.At(take_over.from, take_over.lost);
  if (outage == nullptr) return Cause::kReturn;
  return outage->kind == OutageKind::kRestart ? Cause::kRestart : Cause::kFailure;
}

void AddTakeOvers(const Options& options, const Figures& figures, Cause cause, const char* name,
                  std::vector<Line>& lines) {
  const Timetable timetable(options);
  std::vector<double> without;
  std::vector<double> heard;
  std::vector<double> restored;
  std::vector<double> lowest;
  std::vector<double> bounds;
  double open = 0;
  for (const TakeOver& one : figures.take_overs) {
    if (CauseOf(one, timetable) != cause) continue;
    without.push_back(Seconds(one.led) - Seconds(one.lost));
    lowest.push_back(-one.lowest);
    bounds.push_back(static_cast<double>(one.bounds));
    if (one.heard != Instant{}) heard.push_back(Seconds(one.heard) - Seconds(one.lost));
    one.restored != Instant{} ? restored.push_back(Seconds(one.restored) - Seconds(one.lost))
                              : void(++open);
  }
  if (without.empty()) return;
  std::sort(lowest.begin(), lowest.end());
  lines.push_back({absl::StrCat(name, ": take-overs"),
                   {{"number", static_cast<double>(without.size())}, {"cut short", open}}});
  lines.push_back({absl::StrCat(name, ": without an owner, s"), Spread(without)});
  lines.push_back({absl::StrCat(name, ": until 99 % are heard, s"), Spread(heard)});
  lines.push_back({absl::StrCat(name, ": until restored, s"), Spread(restored)});
  lines.push_back(
      {absl::StrCat(name, ": lowest use"),
       {{"median", -At(lowest, 0.5)}, {"99 %", -At(lowest, 0.99)}, {"least", -At(lowest, 1)}}});
  lines.push_back({absl::StrCat(name, ": bounds inherited"), Spread(bounds)});
}

// Of the seconds in which a controller owned something.
template <typename T>
Values LoadSpread(const std::vector<std::vector<T>>& rows, double unit,
                  const std::vector<std::vector<int>>& owned) {
  std::vector<double> means;
  double peak = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double sum = 0;
    double seconds = 0;
    for (std::size_t s = 0; s < rows[i].size(); ++s) {
      const double load = static_cast<double>(rows[i][s]) * unit;
      peak = std::max(peak, load);
      if (s >= owned[i].size() || owned[i][s] == 0) continue;
      sum += load;
      ++seconds;
    }
    if (seconds > 0) means.push_back(sum / seconds);
  }
  if (means.empty()) return {};
  const double mean =
      std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
  return {{"least", *std::min_element(means.begin(), means.end())},
          {"mean", mean},
          {"most", *std::max_element(means.begin(), means.end())},
          {"in one second", peak}};
}

void AddLoad(const Figures& figures, std::vector<Line>& lines) {
  lines.push_back({"controller: shards", LoadSpread(figures.owned, 1, figures.owned)});
  lines.push_back({"controller: messages/s", LoadSpread(figures.messages, 1, figures.owned)});
  double busy = 0;
  for (const auto& row : figures.busy_ns) busy += std::accumulate(row.begin(), row.end(), 0.0);
  if (busy == 0) return;
  lines.push_back(
      {"controller: core busy, % of a CPU", LoadSpread(figures.busy_ns, 1e-7, figures.owned)});
}

void AddCosts(const Options& options, const Figures& figures, double sampled,
              std::vector<Line>& lines) {
  double busy = 0;
  for (const auto& row : figures.busy_ns) busy += std::accumulate(row.begin(), row.end(), 0.0);
  const double events = static_cast<double>(figures.Total(Count::kCoreEvents)) * sampled;
  if (busy > 0) {
    lines.push_back(
        {"core",
         {{"us per event", busy / events * 1e-3}, {"longest, ms", figures.longest_ns * 1e-6}}});
  }
  if (options.etcd_requests_per_second <= 0) return;
  const double capacity = options.etcd_requests_per_second;
  std::vector<std::int64_t> requests = figures.bins[static_cast<std::size_t>(Count::kWrites)];
  const std::vector<std::int64_t> reads[] = {figures.bins[static_cast<std::size_t>(Count::kRounds)],
                                             figures.bins[static_cast<std::size_t>(Count::kLooks)]};
  for (const auto& row : reads) {
    requests.resize(std::max(requests.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) requests[i] += row[i];
  }
  const auto& operations = figures.bins[static_cast<std::size_t>(Count::kOperations)];
  lines.push_back({"etcd of so many requests/s",
                   {{"requests/s", capacity},
                    {"behind at most, s", WorstDelay(requests, capacity)},
                    {"if each put were one, s", WorstDelay(operations, capacity)}}});
}

double MeanUse(const Figures& figures, const Options& options) {
  const auto from =
      static_cast<std::ptrdiff_t>(std::min(absl::ToDoubleSeconds(Timetable::Calm(options)) * 4 / 2,
                                           static_cast<double>(figures.used.size())));
  const auto used = std::accumulate(figures.used.begin() + from, figures.used.end(), 0.0);
  const auto usable = std::accumulate(figures.usable.begin() + from, figures.usable.end(), 0.0);
  return usable > 0 ? used / usable : 1;
}

}  // namespace

double WorstDelay(const std::vector<std::int64_t>& writes_by_bin, double per_second) {
  const double per_bin = per_second * kBinNs / 1e9;
  double behind = 0;
  double most = 0;
  for (const std::int64_t writes : writes_by_bin) {
    behind = std::max(0.0, behind + static_cast<double>(writes) - per_bin);
    most = std::max(most, behind);
  }
  return most / per_second;
}

std::vector<Line> Report(const Options& options, const Figures& figures, double sampled) {
  const Workload workload = MakeWorkload(options);
  std::vector<Line> lines;
  lines.push_back({"fleet",
                   {{"controllers", options.controllers},
                    {"agents", options.agents},
                    {"dependencies", options.dependencies},
                    {"shards", options.shards},
                    {"sampled, %", sampled * 100}}});
  lines.push_back({"sessions",
                   {{"number", static_cast<double>(workload.sessions)},
                    {"memberships", static_cast<double>(workload.memberships)},
                    {"of a dependency: median", workload.members_median},
                    {"most", workload.members_max}}});
  lines.push_back({"outages",
                   {{"number", static_cast<double>(Timetable(options).outages().size())},
                    {"seconds simulated", absl::ToDoubleSeconds(options.length)}}});
  lines.push_back({"quota",
                   {{"checks", static_cast<double>(figures.checks)},
                    {"violations", static_cast<double>(figures.violations)}}});
  lines.push_back({"largest sum / quota",
                   {{"limits", figures.limits_max},
                    {"in flight", figures.in_flight_max},
                    {"reservations", figures.reserved_max}}});
  lines.push_back({"use of the quota", {{"mean", MeanUse(figures, options)}}});
  lines.push_back({"start: until settled, s", Spread(figures.started)});
  AddTakeOvers(options, figures, Cause::kRestart, "restart", lines);
  AddTakeOvers(options, figures, Cause::kFailure, "failure", lines);
  AddTakeOvers(options, figures, Cause::kReturn, "return", lines);
  AddRates(options, figures, lines);
  AddLoad(figures, lines);
  AddCosts(options, figures, sampled, lines);
  return lines;
}

std::string AsText(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    absl::StrAppendFormat(&text, "%-36s", line.name);
    for (const auto& [name, value] : line.values) {
      absl::StrAppendFormat(&text, "  %s %.*f", name,
                            value == static_cast<double>(static_cast<std::int64_t>(value)) ? 0 : 3,
                            value);
    }
    text += "\n";
  }
  return text;
}

std::string AsJson(const std::vector<Line>& lines) {
  const auto pair = [](std::string* out, const std::pair<std::string, double>& value) {
    absl::StrAppendFormat(out, "\"%s\":%.9g", value.first, value.second);
  };
  const auto object = [&pair](std::string* out, const Line& line) {
    absl::StrAppend(out, "\"", line.name, "\":{", absl::StrJoin(line.values, ",", pair), "}");
  };
  return absl::StrCat("{", absl::StrJoin(lines, ",", object), "}\n");
}

}  // namespace plimsoll::scale
