#include "agent/examples/demo/report.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace plimsoll::demo {
namespace {

std::string ToText(const LatencyHistogram& histogram) {
  std::string text;
  for (std::size_t bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
    if (histogram.count(bucket) == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ",", bucket, ":", histogram.count(bucket));
  }
  return text;
}

bool FromText(absl::string_view text, LatencyHistogram& histogram) {
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair = absl::StrSplit(part, ':');
    std::uint32_t bucket = 0;
    std::uint32_t count = 0;
    if (!absl::SimpleAtoi(pair.first, &bucket) || !absl::SimpleAtoi(pair.second, &count)) {
      return false;
    }
    if (bucket >= LatencyHistogram::kBuckets) return false;
    histogram.Add(bucket, count);
  }
  return true;
}

bool SetField(Report& report, absl::string_view name, absl::string_view value) {
  if (name == "sent") return absl::SimpleAtoi(value, &report.sent);
  if (name == "succeeded") return absl::SimpleAtoi(value, &report.succeeded);
  if (name == "errors") return absl::SimpleAtoi(value, &report.errors);
  if (name == "rejected") return absl::SimpleAtoi(value, &report.rejected);
  if (name == "limit") return absl::SimpleAtoi(value, &report.limit);
  if (name == "in_flight") return absl::SimpleAtoi(value, &report.in_flight);
  if (name == "granted") return absl::SimpleAtoi(value, &report.granted_ns);
  if (name == "written") return absl::SimpleAtoi(value, &report.written_ns);
  if (name == "stepped_down") return absl::SimpleAtoi(value, &report.stepped_down);
  if (name == "latency") return FromText(value, report.latency);
  return name == "refusal" && FromText(value, report.refusal);
}

}  // namespace

void Report::Merge(const Report& other) {
  sent += other.sent;
  succeeded += other.succeeded;
  errors += other.errors;
  rejected += other.rejected;
  limit = other.limit;
  in_flight = other.in_flight;
  granted_ns = other.granted_ns;
  written_ns = other.written_ns;
  stepped_down = other.stepped_down;
  latency.Merge(other.latency);
  refusal.Merge(other.refusal);
}

std::string ToLine(const Report& report) {
  return absl::StrCat("sent=", report.sent, " succeeded=", report.succeeded,
                      " errors=", report.errors, " rejected=", report.rejected,
                      " limit=", report.limit, " in_flight=", report.in_flight,
                      " granted=", report.granted_ns, " written=", report.written_ns,
                      " stepped_down=", report.stepped_down, " latency=", ToText(report.latency),
                      " refusal=", ToText(report.refusal));
}

absl::StatusOr<Report> ReportFromLine(const std::string& line) {
  Report report;
  for (const absl::string_view field : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(field, '=');
    if (parts.size() != 2 || !SetField(report, parts[0], parts[1])) {
      return absl::InvalidArgumentError(absl::StrCat("not a report of a replica: ", line));
    }
  }
  return report;
}

void Tally::Sent() {
  MutexLock lock(mutex_);
  ++report_.sent;
}

void Tally::Ended(bool succeeded, absl::Duration latency) {
  MutexLock lock(mutex_);
  ++(succeeded ? report_.succeeded : report_.errors);
  report_.latency.Record(latency);
}

void Tally::Rejected(absl::Duration time_to_refuse) {
  MutexLock lock(mutex_);
  ++report_.rejected;
  report_.RecordRefusal(time_to_refuse);
}

Report Tally::Take() {
  MutexLock lock(mutex_);
  return std::exchange(report_, Report{});
}

}  // namespace plimsoll::demo
