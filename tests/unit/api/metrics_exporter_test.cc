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

using ::testing::IsEmpty;

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
