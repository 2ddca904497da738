#include "api/http/src/metrics_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "api/http/src/metrics_catalog.h"
#include "tests/unit/api/prometheus_text.h"
#include "tests/unit/api/snapshot_samples.h"

namespace plimsoll::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MetricsInput SampleInput() {
  MetricsInput input;
  input.snapshot = std::make_shared<const Snapshot>(SampleSnapshot());
  input.api.requests[{"GET", "/v1/limits", 200}] = 3;
  input.api.durations["/v1/limits"].Record(absl::Milliseconds(3));
  input.agent.connections = 2;
  input.store_writes.Record(absl::Seconds(60));
  input.process = ReadProcessFacts();
  input.version = "0.1.0";
  input.config_hash = "f00d";
  input.shards.resize(3);
  input.shards[0] = {true, Epoch(7), {"a", "http://a:7481", "http://a:7480"}};
  input.shards[1].leader = {"b", "http://b:7481", "http://b:7480"};
  return input;
}

std::string KindName(MetricKind kind) {
  return kind == MetricKind::kCounter ? "counter"
         : kind == MetricKind::kGauge ? "gauge"
                                      : "histogram";
}

TEST(MetricsExporter, EveryLineBelongsToAFamilyOfTheCatalogue) {
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(SampleInput()));
  EXPECT_THAT(page.faults, IsEmpty());
  std::set<std::string> catalogue;
  for (const MetricInfo& info : MetricsCatalog()) {
    catalogue.insert(info.name);
    ASSERT_TRUE(page.types.contains(info.name)) << info.name << " is declared but not exported";
    EXPECT_EQ(page.types.at(info.name), KindName(info.kind)) << info.name;
    EXPECT_EQ(page.helps.at(info.name), info.help) << info.name;
  }
  for (const auto& [family, type] : page.types) EXPECT_TRUE(catalogue.contains(family)) << family;
}

// Led here, led elsewhere, led by nobody.
TEST(MetricsExporter, AShardThatNobodyIsKnownToLeadSaysSo) {
  MetricsInput input = SampleInput();
  const std::string page = ExportMetrics(input);
  EXPECT_THAT(page, HasSubstr("\nplimsoll_controller_shard_has_leader{shard=\"0\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("\nplimsoll_controller_shard_has_leader{shard=\"1\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("\nplimsoll_controller_shard_has_leader{shard=\"2\"} 0\n"));
  input.shards[0] = {true, Epoch(7), {}};
  EXPECT_THAT(ExportMetrics(input),
              HasSubstr("\nplimsoll_controller_shard_has_leader{shard=\"0\"} 1\n"))
      << "who leads it knows that, whatever it has seen of the store";
  input.shards.clear();
  EXPECT_THAT(ExportMetrics(input), Not(HasSubstr("plimsoll_controller_shard_has_leader{")));
}

// {plane="api",code="200"} as pairs.
std::vector<std::pair<std::string, std::string>> LabelsOf(const std::string& line) {
  std::vector<std::pair<std::string, std::string>> labels;
  const std::size_t open = line.find('{');
  if (open == std::string::npos) return labels;
  std::string text = line.substr(open + 1, line.rfind('}') - open - 1);
  for (std::size_t quote = text.find("=\""); quote != std::string::npos; quote = text.find("=\"")) {
    const std::size_t end = text.find('"', quote + 2);
    labels.emplace_back(text.substr(0, quote), text.substr(quote + 2, end - quote - 2));
    text = text.substr(std::min(text.size(), end + 2));
  }
  return labels;
}

TEST(MetricsExporter, LabelsHaveTheValuesOfTheCatalogueAndAllOfThemExistFromTheStart) {
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(SampleInput()));
  for (const MetricInfo& info : MetricsCatalog()) {
    for (const MetricLabel& label : info.labels) {
      if (label.values.empty()) continue;
      std::set<std::string> seen;
      for (const std::string& line : page.series.at(info.name)) {
        for (const auto& [name, value] : LabelsOf(line)) {
          if (name == label.name) seen.insert(value);
        }
      }
      const std::set<std::string> declared(label.values.begin(), label.values.end());
      // Routes are known to the server alone, so the sample has those of one plane.
      if (label.name == "plane") {
        for (const std::string& value : seen) EXPECT_TRUE(declared.contains(value)) << info.name;
      } else {
        EXPECT_EQ(seen, declared) << info.name << " " << label.name;
      }
    }
  }
}

TEST(MetricsExporter, TooManyDependenciesAreToldAsOne) {
  Snapshot snapshot = SampleSnapshot();
  DependencyRow more = snapshot.dependencies[1];
  more.policy.name = DependencyId("zz");
  snapshot.dependencies.push_back(more);
  MetricsInput input = SampleInput();
  input.snapshot = std::make_shared<const Snapshot>(snapshot);
  input.dependencies_max = 1;
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(input));
  const std::string prefix = "plimsoll_controller_";
  EXPECT_EQ(page.Value(prefix + R"(quota_wanted{dependency="__overflow__"})"), 244);
  EXPECT_EQ(page.Value(prefix + R"(windows_total{dependency="__overflow__",outcome="used"})"), 10);
  EXPECT_TRUE(std::isnan(page.Value(prefix + R"(quota_wanted{dependency="payments-api"})")));
  EXPECT_EQ(page.Value(prefix + "metrics_overflow"), 2);
}

TEST(MetricsExporter, AReloadThatFailedIsToldBesideTheTimeOfTheLastThatDidNot) {
  MetricsInput input = SampleInput();
  const std::string prefix = "plimsoll_controller_config_last_reload_";
  EXPECT_EQ(ParsePrometheusText(ExportMetrics(input)).Value(prefix + "successful"), 1);
  input.load = {false, absl::FromUnixSeconds(1'700'000'000)};
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(input));
  EXPECT_EQ(page.Value(prefix + "successful"), 0);
  EXPECT_EQ(page.Value(prefix + "success_timestamp_seconds"), 1.7e9);
}

TEST(MetricsExporter, RequestsOverTheRateAreCountedByPlane) {
  MetricsInput input = SampleInput();
  input.api.requests[{"GET", "/v1/limits", 429}] = 4;
  input.api.requests[{"GET", "/v1/events", 429}] = 1;
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(input));
  const std::string name = "plimsoll_controller_http_requests_limited_total";
  EXPECT_EQ(page.Value(name + R"({plane="api"})"), 5);
  EXPECT_EQ(page.Value(name + R"({plane="agent"})"), 0);
}

TEST(MetricsExporter, StreamsAndTimesComeFromWhereTheyAreKnown) {
  MetricsInput input = SampleInput();
  Snapshot snapshot = SampleSnapshot();
  snapshot.push_latencies.Record(absl::Milliseconds(30));
  snapshot.event_times.Record(absl::Microseconds(20));
  input.snapshot = std::make_shared<const Snapshot>(snapshot);
  input.watch = {3, 2, 1};
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(input));
  const std::string prefix = "plimsoll_controller_";
  EXPECT_EQ(page.Value(prefix + "watchers"), 3);
  EXPECT_EQ(page.Value(prefix + "watchers_refused_total"), 2);
  EXPECT_EQ(page.Value(prefix + "watch_events_dropped_total"), 1);
  EXPECT_EQ(page.Value(prefix + R"(push_latency_seconds_bucket{le="0.025"})"), 0);
  EXPECT_EQ(page.Value(prefix + R"(push_latency_seconds_bucket{le="0.05"})"), 1);
  EXPECT_EQ(page.Value(prefix + "decision_duration_seconds_count"), 1);
  EXPECT_EQ(page.Value(prefix + R"(overrides{dependency="payments-api"})"), 0);
}

TEST(MetricsExporter, LearningIsToldForEachDependency) {
  Snapshot snapshot = SampleSnapshot();
  const std::string series = R"(plimsoll_controller_learning{dependency="payments-api"})";
  EXPECT_EQ(ParsePrometheusText(ExportMetrics(SampleInput())).Value(series), 0);
  snapshot.learning = true;
  MetricsInput input = SampleInput();
  input.snapshot = std::make_shared<const Snapshot>(snapshot);
  EXPECT_EQ(ParsePrometheusText(ExportMetrics(input)).Value(series), 1);
}

TEST(MetricsExporter, ValuesComeFromTheSnapshot) {
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(SampleInput()));
  const std::string prefix = "plimsoll_controller_";
  EXPECT_EQ(page.Value(prefix + R"(quota_capacity{dependency="payments-api"})"), 50);
  EXPECT_EQ(page.Value(prefix + R"(quota_reserved{dependency="payments-api"})"), 51);
  EXPECT_EQ(page.Value(prefix + R"(quota_draining{dependency="payments-api"})"), 1);
  EXPECT_EQ(page.Value(prefix + R"(quota_unallocated{dependency="payments-api"})"), 0);
  EXPECT_EQ(page.Value(prefix + R"(instances{service="checkout"})"), 1);
  EXPECT_EQ(page.Value(prefix + "sessions"), 2);
  EXPECT_EQ(page.Value(prefix + R"(syncs_total{result="stale"})"), 4);
  EXPECT_EQ(page.Value(prefix + R"(windows_total{dependency="payments-api",outcome="stale"})"), 2);
  EXPECT_EQ(page.Value(prefix + R"(limit_changes_total{dependency="payments-api",direction="down",)"
                                R"(reason="latency_rose"})"),
            6);
  EXPECT_EQ(page.Value(prefix + R"(http_requests_total{plane="api",method="GET",)"
                                R"(route="/v1/limits",code="200"})"),
            3);
  EXPECT_EQ(page.Value(prefix + R"(http_connections{plane="agent"})"), 2);
  EXPECT_GT(page.Value("process_resident_memory_bytes"), 1e5);
  EXPECT_GT(page.Value("process_start_time_seconds"), 1e9);
  EXPECT_GT(page.Value("process_open_fds"), 0);
}

TEST(MetricsExporter, WithoutAQuotaThereIsNoSeriesOfIt) {
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(SampleInput()));
  EXPECT_TRUE(
      std::isnan(page.Value(R"(plimsoll_controller_quota_capacity{dependency="orders-db"})")));
  EXPECT_TRUE(std::isnan(
      page.Value(R"(plimsoll_controller_baseline_latency_seconds{dependency="orders-db"})")));
}

TEST(MetricsExporter, HistogramsAreCumulativeAndEndAtInfinity) {
  const PrometheusPage page = ParsePrometheusText(ExportMetrics(SampleInput()));
  const std::string name = "plimsoll_controller_http_request_duration_seconds";
  const std::string labels = R"(plane="api",route="/v1/limits")";
  EXPECT_EQ(page.Value(name + "_bucket{" + labels + R"(,le="0.0025"})"), 0);
  EXPECT_EQ(page.Value(name + "_bucket{" + labels + R"(,le="0.005"})"), 1);
  EXPECT_EQ(page.Value(name + "_bucket{" + labels + R"(,le="+Inf"})"), 1);
  EXPECT_EQ(page.Value(name + "_count{" + labels + "}"), 1);
  const std::string writes = "plimsoll_controller_store_write_duration_seconds";
  EXPECT_EQ(page.Value(writes + R"(_bucket{le="10"})"), 0);
  EXPECT_EQ(page.Value(writes + R"(_bucket{le="+Inf"})"), 1);
}

TEST(MetricsExporter, SeriesOfSingleInstancesAreCapped) {
  MetricsInput input = SampleInput();
  const std::string series =
      R"(plimsoll_controller_instance_limit{dependency="payments-api",service="checkout",)"
      R"(instance_id="checkout-0"})";
  input.pairs_max = 2;
  EXPECT_EQ(ParsePrometheusText(ExportMetrics(input)).Value(series), 38);
  input.pairs_max = 1;
  EXPECT_TRUE(std::isnan(ParsePrometheusText(ExportMetrics(input)).Value(series)));
}

}  // namespace
}  // namespace plimsoll::internal
