#include "plimsoll/agent/prometheus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "tests/unit/agent/agent_support.h"
#include "tests/unit/api/prometheus_text.h"

namespace plimsoll {
namespace {

using ::testing::IsEmpty;

std::string PageOf(const prometheus::Collectable& metrics) {
  return prometheus::TextSerializer().Serialize(metrics.Collect());
}

std::string Golden() {
  std::ifstream file(PLIMSOLL_TESTS_DIR "/golden_metrics.txt");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class PrometheusTest : public ::testing::Test {
 protected:
  PrometheusTest() {
    agent_ = StartAgent(network_, clock_);
    metrics_ = MakePrometheusCollectable(*agent_);
  }
  void Grant(Calls limit) {
    limit_ = limit;
    agent_->bulkhead("db");
    ASSERT_TRUE(agent_->WaitUntilGranted(std::chrono::hours(1)).ok());
  }

  ManualClock clock_;
  std::atomic<Calls> limit_{0};
  FakeNetwork network_{[this](const Sent& sent) -> std::optional<internal::Answer> {
    return AnswerWell(sent, limit_);
  }};
  std::unique_ptr<Agent> agent_;
  std::shared_ptr<prometheus::Collectable> metrics_;
};

// Calls whose every number is known. Whoever changes the page on purpose writes it anew.
TEST_F(PrometheusTest, WritesThePageOfAnAgent) {
  Grant(2);
  Bulkhead& db = agent_->bulkhead("db");
  Admission first = db.TryAcquire();
  Admission second = db.TryAcquire();
  EXPECT_FALSE(db.TryAcquire());
  clock_.Advance(absl::Milliseconds(20));
  first->Finish(Outcome::kSuccess);
  second->Finish(Outcome::kTimeout);
  const auto metrics = MakePrometheusCollectable([this] {
    AgentSnapshot snapshot = agent_->Snapshot();
    snapshot.connected = true;  // the agent's thread decides when
    snapshot.syncs = {12, 1, 2};
    return snapshot;
  });
  const std::string page = PageOf(*metrics);
  const std::string file = ::testing::TempDir() + "golden_metrics.txt";
  if (page != Golden()) std::ofstream(file) << page;
  EXPECT_EQ(page, Golden()) << "the page is in " << file;
}

TEST_F(PrometheusTest, ThePageCanBeRead) {
  Grant(2);
  const PrometheusPage page = ParsePrometheusText(PageOf(*metrics_));
  EXPECT_THAT(page.faults, IsEmpty());
  EXPECT_EQ(page.Value("dependency_bulkhead_capacity{dependency=\"db\"}"), 2);
  EXPECT_EQ(page.types.at("dependency_request_duration_seconds"), "histogram");
  EXPECT_EQ(page.Value("plimsoll_agent_lease_stage{dependency=\"db\",stage=\"lease\"}"), 1);
  EXPECT_EQ(page.Value("plimsoll_agent_lease_stage{dependency=\"db\",stage=\"base\"}"), 0);
  for (const auto& [family, series] : page.series) {
    EXPECT_TRUE(page.helps.contains(family)) << family;
  }
}

TEST_F(PrometheusTest, BucketsAreCumulative) {
  Grant(2);
  for (const int milliseconds : {2, 20}) {
    Admission call = agent_->bulkhead("db").TryAcquire();
    clock_.Advance(absl::Milliseconds(milliseconds));
    call->Succeed();
  }
  const PrometheusPage page = ParsePrometheusText(PageOf(*metrics_));
  const auto bucket = [&page](const std::string& end) {
    return page.Value("dependency_request_duration_seconds_bucket{dependency=\"db\",le=\"" + end +
                      "\"}");
  };
  EXPECT_EQ(bucket("0.001"), 0);
  EXPECT_EQ(bucket("0.0025"), 1);
  EXPECT_EQ(bucket("0.01"), 1);
  EXPECT_EQ(bucket("0.025"), 2);
  EXPECT_EQ(bucket("+Inf"), 2);
  EXPECT_EQ(page.Value("dependency_request_duration_seconds_count{dependency=\"db\"}"), 2);
}

TEST_F(PrometheusTest, AnySnapshotCanBeExported) {
  const auto metrics = MakePrometheusCollectable([] {
    AgentSnapshot snapshot;
    snapshot.version = "1.2.3";
    return snapshot;
  });
  const PrometheusPage page = ParsePrometheusText(PageOf(*metrics));
  EXPECT_EQ(page.Value("plimsoll_agent_build_info{version=\"1.2.3\",revision=\"\"}"), 1);
  EXPECT_FALSE(page.series.contains("plimsoll_agent_syncs_total"));
}

}  // namespace
}  // namespace plimsoll
