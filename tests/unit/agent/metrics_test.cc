#include "plimsoll/agent/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/src/local_bulkhead_factory.h"
#include "tests/unit/agent/agent_support.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

constexpr std::chrono::hours kLong(1);

// Keeps every series as "name{value,value}"; of a state set the active state as
// "name{dependency}=state", of a histogram the number of samples.
class RecordingSink final : public MetricsSink {
 public:
  void Counter(const MetricInfo& info, Labels labels, double value) override {
    Record(info, MetricType::kCounter, labels, 0, value);
  }
  void Gauge(const MetricInfo& info, Labels labels, double value) override {
    Record(info, MetricType::kGauge, labels, 0, value);
  }
  void Histogram(const MetricInfo& info, Labels labels, const DurationCounts& value) override {
    Record(info, MetricType::kHistogram, labels, 0, static_cast<double>(value.total()));
  }
  void StateSet(const MetricInfo& info, Labels labels, std::span<const std::string_view> states,
                std::string_view active) override {
    EXPECT_THAT(states, Contains(active)) << info.name;
    Record(info, MetricType::kStateSet, labels, 1, 1);
    active_[NameOf(info, labels)] = active;
  }

  double Value(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? -1 : found->second;
  }
  std::string Active(const std::string& name) const {
    const auto found = active_.find(name);
    return found == active_.end() ? "" : found->second;
  }
  const std::map<std::string, double>& values() const { return values_; }
  const std::set<std::string_view>& names() const { return names_; }

 private:
  static std::string NameOf(const MetricInfo& info, Labels labels) {
    std::string name(info.name);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      name += (i == 0 ? "{" : ",") + std::string(labels[i]);
    }
    return labels.empty() ? name : name + "}";
  }
  void Record(const MetricInfo& info, MetricType type, Labels labels, std::size_t missing,
              double value) {
    EXPECT_EQ(info.type, type) << info.name;
    EXPECT_EQ(labels.size() + missing, info.labels.size()) << info.name;
    // All series of a metric come in a row.
    if (names_.insert(info.name).second) last_ = info.name;
    EXPECT_EQ(last_, info.name);
    EXPECT_TRUE(values_.emplace(NameOf(info, labels), value).second)
        << NameOf(info, labels) << " is told twice";
  }

  std::map<std::string, double> values_;
  std::map<std::string, std::string> active_;
  std::set<std::string_view> names_;
  std::string_view last_;
};

RecordingSink Visit(const AgentSnapshot& snapshot) {
  RecordingSink sink;
  VisitMetrics(snapshot, sink);
  return sink;
}

RecordingSink Visit(const LocalBulkhead& local) {
  AgentSnapshot snapshot;
  snapshot.bulkheads = {local.Snapshot()};
  return Visit(snapshot);
}

BulkheadSnapshot FullSnapshot(const std::string& dependency) {
  BulkheadSnapshot snapshot;
  snapshot.dependency = dependency;
  snapshot.stats.classes = {ClassStats{.name = "default"}};
  snapshot.queue_wait.emplace();
  snapshot.limits = LimitFacts{8, 6, 1, 50};
  snapshot.binding = "quota";
  snapshot.limit_age = std::chrono::seconds(1);
  snapshot.changes = {{"up", "initial", 1}};
  snapshot.breaker = BreakerFacts{"closed", 2};
  snapshot.retries_denied = 3;
  return snapshot;
}

bool IsSnakeCase(std::string_view name) {
  return !name.empty() && std::islower(static_cast<unsigned char>(name.front())) != 0 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

// What promtool would complain about.
TEST(MetricsCatalogueTest, KeepsTheRulesOfNames) {
  std::set<std::string_view> names;
  for (const MetricInfo& info : AgentMetrics()) {
    SCOPED_TRACE(std::string(info.name));
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_TRUE(IsSnakeCase(info.name));
    EXPECT_TRUE(info.name.starts_with("dependency_") || info.name.starts_with("plimsoll_agent_"));
    EXPECT_EQ(info.name.ends_with("_total"), info.type == MetricType::kCounter);
    EXPECT_EQ(info.name.ends_with("_seconds"), info.unit == "seconds");
    EXPECT_EQ(info.name.ends_with("_info"), info.unit == "info");
    for (const std::string_view suffix : {"_count", "_sum", "_bucket", "_created"}) {
      EXPECT_FALSE(info.name.ends_with(suffix));
    }
    EXPECT_TRUE(info.help.ends_with("."));
    EXPECT_LE(info.labels.size(), 3);
    for (const std::string_view label : info.labels) {
      EXPECT_TRUE(IsSnakeCase(label));
      EXPECT_TRUE(label != "job" && label != "instance" && label != "le" && label != "quantile");
    }
  }
  for (const std::string_view name :
       {"dependency_bulkhead_active", "dependency_bulkhead_capacity",
        "dependency_bulkhead_rejected_total", "dependency_request_duration_seconds",
        "dependency_request_errors_total"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(MetricsCatalogueTest, IsInTheReadme) {
  std::ifstream file(PLIMSOLL_TESTS_DIR "/../../../agent/README.md");
  std::stringstream readme;
  readme << file.rdbuf();
  for (const MetricInfo& info : AgentMetrics()) {
    EXPECT_THAT(readme.str(), HasSubstr("| `" + std::string(info.name) + "` |"));
  }
}

TEST(MetricsTest, EveryMetricOfTheCatalogueIsTold) {
  AgentSnapshot snapshot;
  snapshot.has_controller = true;
  snapshot.bulkheads = {FullSnapshot("payments-api")};
  const RecordingSink sink = Visit(snapshot);
  for (const MetricInfo& info : AgentMetrics()) EXPECT_TRUE(sink.names().contains(info.name));
}

TEST(MetricsTest, TellsFactsOfLimitsBreakersAndRetries) {
  AgentSnapshot snapshot;
  snapshot.bulkheads = {FullSnapshot("db")};
  const RecordingSink sink = Visit(snapshot);
  EXPECT_EQ(sink.Value("plimsoll_agent_algorithm_limit{db}"), 8);
  EXPECT_EQ(sink.Value("plimsoll_agent_quota_share{db}"), 6);
  EXPECT_EQ(sink.Value("plimsoll_agent_floor{db}"), 1);
  EXPECT_EQ(sink.Value("plimsoll_agent_ceiling{db}"), 50);
  EXPECT_EQ(sink.Value("plimsoll_agent_limit_age_seconds{db}"), 1);
  EXPECT_EQ(sink.Active("plimsoll_agent_binding_constraint{db}"), "quota");
  EXPECT_EQ(sink.Active("plimsoll_agent_breaker_state{db}"), "closed");
  EXPECT_EQ(sink.Value("plimsoll_agent_breaker_opened_total{db}"), 2);
  EXPECT_EQ(sink.Value("plimsoll_agent_retries_denied_total{db}"), 3);
  EXPECT_EQ(sink.Value("plimsoll_agent_limit_changes_total{db,up,initial}"), 1);
}

TEST(MetricsTest, DependenciesBeyondTwoHundredAreToldAsOne) {
  AgentSnapshot snapshot;
  for (int i = 0; i < 205; ++i) {
    BulkheadSnapshot one = FullSnapshot("dependency-" + std::to_string(i));
    one.stats.admitted = 1;
    one.stats.in_flight = 2;
    one.stats.refused[0] = 3;
    one.duration.counts[4] = 4;
    one.stats.oldest_wait = std::chrono::seconds(i);
    snapshot.bulkheads.push_back(one);
  }
  const RecordingSink sink = Visit(snapshot);
  EXPECT_EQ(sink.Value("plimsoll_agent_metrics_overflow_total"), 5);
  EXPECT_EQ(sink.Value("plimsoll_agent_admitted_total{dependency-199}"), 1);
  EXPECT_THAT(sink.values(), Not(Contains(Key("plimsoll_agent_admitted_total{dependency-200}"))));
  EXPECT_EQ(sink.Value("plimsoll_agent_admitted_total{__overflow__}"), 5);
  EXPECT_EQ(sink.Value("dependency_bulkhead_active{__overflow__}"), 10);
  EXPECT_EQ(sink.Value("dependency_bulkhead_rejected_total{__overflow__,limit}"), 15);
  EXPECT_EQ(sink.Value("dependency_request_duration_seconds{__overflow__}"), 20);
  EXPECT_EQ(sink.Value("plimsoll_agent_oldest_wait_seconds{__overflow__}"), 204);
  EXPECT_EQ(sink.Value("plimsoll_agent_retries_denied_total{__overflow__}"), 15);
  EXPECT_EQ(sink.Value("plimsoll_agent_limit_changes_total{__overflow__,up,initial}"), 5);
  // A state or a bound of several is none.
  EXPECT_EQ(sink.Active("plimsoll_agent_binding_constraint{__overflow__}"), "");
  EXPECT_EQ(sink.Value("plimsoll_agent_floor{__overflow__}"), -1);
}

TEST(MetricsTest, TwoHundredDependenciesAreNotTooMany) {
  AgentSnapshot snapshot;
  for (int i = 0; i < 200; ++i) snapshot.bulkheads.push_back(FullSnapshot(std::to_string(i)));
  const RecordingSink sink = Visit(snapshot);
  EXPECT_EQ(sink.Value("plimsoll_agent_metrics_overflow_total"), 0);
  EXPECT_EQ(sink.Value("plimsoll_agent_admitted_total{__overflow__}"), -1);
}

class AgentMetricsTest : public ::testing::Test {
 protected:
  void Start(FakeNetwork::Handler handler) {
    network_ = std::make_unique<FakeNetwork>(std::move(handler));
    agent_ = StartAgent(*network_, clock_);
  }
  void StartGranted(Calls limit) {
    Start([limit](const Sent& sent) { return AnswerWell(sent, limit); });
    agent_->bulkhead("db");
    ASSERT_TRUE(agent_->WaitUntilGranted(kLong).ok());
  }
  RecordingSink Metrics() { return Visit(agent_->Snapshot()); }

  ManualClock clock_;
  std::unique_ptr<FakeNetwork> network_;
  std::unique_ptr<Agent> agent_;
};

TEST_F(AgentMetricsTest, BeforeTheFirstGrantEverySeriesOfCountsIsThere) {
  Start([](const Sent&) { return std::nullopt; });
  agent_->bulkhead("db");
  const RecordingSink sink = Metrics();
  for (const std::string reason :
       {"limit", "queue_full", "deadline", "breaker_open", "draining", "tenant"}) {
    EXPECT_EQ(sink.Value("dependency_bulkhead_rejected_total{db," + reason + "}"), 0);
    EXPECT_EQ(sink.Value("plimsoll_agent_rejected_total{db,default," + reason + "}"), 0);
    EXPECT_EQ(sink.Value("plimsoll_agent_would_reject_total{db," + reason + "}"), 0);
  }
  for (const std::string kind : {"error", "overload", "timeout", "cancelled"}) {
    EXPECT_EQ(sink.Value("dependency_request_errors_total{db," + kind + "}"), 0);
  }
  for (const std::string change :
       {"up,latency_fell", "down,latency_rose", "up,probe", "down,probe", "down,fallback_entered",
        "up,fallback_left", "up,initial", "up,override_set", "down,override_set"}) {
    EXPECT_EQ(sink.Value("plimsoll_agent_limit_changes_total{db," + change + "}"), 0) << change;
  }
  for (const std::string result : {"ok", "error", "timeout"}) {
    EXPECT_EQ(sink.Value("plimsoll_agent_syncs_total{" + result + "}"), 0);
  }
  EXPECT_EQ(sink.Value("plimsoll_agent_offered_total{db,default}"), 0);
  EXPECT_EQ(sink.Value("dependency_request_duration_seconds{db}"), 0);
  EXPECT_EQ(sink.Value("plimsoll_agent_controller_connected"), 0);
  EXPECT_EQ(sink.Value("dependency_bulkhead_capacity{db}"), 0);
  EXPECT_EQ(sink.Active("plimsoll_agent_binding_constraint{db}"), "fallback");
  EXPECT_EQ(sink.Active("plimsoll_agent_lease_stage{db}"), "none");
  EXPECT_EQ(sink.Active("plimsoll_agent_mode{db}"), "enforce");
  // What no grant has said is not told.
  EXPECT_EQ(sink.Value("plimsoll_agent_algorithm_limit{db}"), -1);
  EXPECT_EQ(sink.Value("plimsoll_agent_limit_age_seconds{db}"), -1);
}

TEST_F(AgentMetricsTest, CountsWhatBecameOfCalls) {
  StartGranted(3);
  Bulkhead& db = agent_->bulkhead("db");
  Admission first = db.TryAcquire();
  Admission second = db.TryAcquire();
  Admission third = db.TryAcquire();
  EXPECT_FALSE(db.TryAcquire());
  EXPECT_FALSE(db.TryAcquire());
  clock_.Advance(absl::Milliseconds(20));
  first->Finish(Outcome::kError);
  second->Finish(Outcome::kTimeout);
  third->Finish(Outcome::kCancelled);
  static_cast<void>(db.TryAcquire());  // is leaked
  const RecordingSink sink = Metrics();
  EXPECT_EQ(sink.Value("plimsoll_agent_offered_total{db,default}"), 6);
  EXPECT_EQ(sink.Value("plimsoll_agent_admitted_total{db}"), 4);
  EXPECT_EQ(sink.Value("plimsoll_agent_completed_total{db}"), 2);
  EXPECT_EQ(sink.Value("plimsoll_agent_unsampled_total{db,ignored}"), 2);
  EXPECT_EQ(sink.Value("dependency_bulkhead_rejected_total{db,limit}"), 2);
  EXPECT_EQ(sink.Value("plimsoll_agent_rejected_total{db,default,limit}"), 2);
  EXPECT_EQ(sink.Value("dependency_request_errors_total{db,error}"), 1);
  EXPECT_EQ(sink.Value("dependency_request_errors_total{db,timeout}"), 1);
  EXPECT_EQ(sink.Value("dependency_request_errors_total{db,cancelled}"), 1);
  EXPECT_EQ(sink.Value("dependency_request_errors_total{db,overload}"), 0);
  EXPECT_EQ(sink.Value("plimsoll_agent_permits_leaked_total{db}"), 1);
  EXPECT_EQ(sink.Value("plimsoll_agent_in_flight_max{db}"), 3);
  EXPECT_EQ(sink.Value("dependency_bulkhead_active{db}"), 0);
  EXPECT_EQ(sink.Value("dependency_bulkhead_capacity{db}"), 3);
}

TEST_F(AgentMetricsTest, LatenciesLieInTheirBucketsToThreePerCent) {
  StartGranted(3);
  for (const int milliseconds : {2, 20, 20, 20'000}) {
    Admission call = agent_->bulkhead("db").TryAcquire();
    clock_.Advance(absl::Milliseconds(milliseconds));
    call->Succeed();
  }
  const DurationCounts counts = agent_->Snapshot().bulkheads[0].duration;
  EXPECT_EQ(counts.counts[1], 1);  // 1 to 2.5 ms
  EXPECT_EQ(counts.counts[4], 2);  // 10 to 25 ms
  EXPECT_EQ(counts.counts[13], 1);
  EXPECT_EQ(counts.total(), 4);
  EXPECT_NEAR(counts.sum_seconds, 20.042, 20.042 * 0.032);
}

void Explain(std::vector<Grant>& grants) {
  for (Grant& grant : grants) {
    grant.explanation = {9, 6, 2, 50, BindingConstraint::kQuota, Reason::kInitial, ""};
  }
}

TEST_F(AgentMetricsTest, TellWhatTheGrantSaid) {
  Start([](const Sent& sent) {
    auto answer = AnswerWell(sent, 6);
    if (!answer.has_value()) return answer;
    if (auto* const registered = std::get_if<RegisterAnswer>(&*answer)) Explain(registered->grants);
    if (auto* const synced = std::get_if<SyncAnswer>(&*answer)) Explain(synced->grants);
    return answer;
  });
  agent_->bulkhead("db");
  ASSERT_TRUE(agent_->WaitUntilGranted(kLong).ok());
  const RecordingSink sink = Metrics();
  EXPECT_EQ(sink.Value("plimsoll_agent_algorithm_limit{db}"), 9);
  EXPECT_EQ(sink.Value("plimsoll_agent_quota_share{db}"), 6);
  EXPECT_EQ(sink.Value("plimsoll_agent_floor{db}"), 2);
  EXPECT_EQ(sink.Value("plimsoll_agent_ceiling{db}"), 50);
  EXPECT_EQ(sink.Active("plimsoll_agent_binding_constraint{db}"), "quota");
  EXPECT_EQ(sink.Active("plimsoll_agent_lease_stage{db}"), "lease");
  EXPECT_EQ(sink.Value("plimsoll_agent_limit_changes_total{db,up,initial}"), 1);
  EXPECT_EQ(sink.Value("plimsoll_agent_controller_connected"), 1);
}

TEST_F(AgentMetricsTest, AfterTheLeaseTheFallbackBinds) {
  StartGranted(6);
  const double age = Metrics().Value("plimsoll_agent_limit_age_seconds{db}");
  clock_.Advance(absl::Minutes(90));
  const RecordingSink sink = Metrics();
  EXPECT_EQ(sink.Active("plimsoll_agent_binding_constraint{db}"), "fallback");
  EXPECT_EQ(sink.Active("plimsoll_agent_lease_stage{db}"), "base");
  EXPECT_EQ(sink.Value("dependency_bulkhead_capacity{db}"), 1);
  EXPECT_EQ(sink.Value("plimsoll_agent_limit_age_seconds{db}"), age + 5400);
}

TEST_F(AgentMetricsTest, DependenciesComeInTheOrderInWhichTheyWereMade) {
  StartGranted(1);
  agent_->bulkhead("cache");
  agent_->bulkhead("zoo");
  agent_->bulkhead("auth");
  std::vector<std::string> names;
  for (const BulkheadSnapshot& one : agent_->Snapshot().bulkheads) names.push_back(one.dependency);
  EXPECT_EQ(names, (std::vector<std::string>{"db", "cache", "zoo", "auth"}));
}

TEST(LocalMetricsTest, ALocalBulkheadTellsNothingThatOnlyAControllerKnows) {
  ManualClock clock;
  LocalBulkheadOptions options;
  options.dependency = "db";
  options.bulkhead.classes = {{"critical", 1.0}, {"batch", 0.5}};
  const auto local = *LocalBulkheadFactory::Make(options, clock, Random(1));
  ASSERT_TRUE(local->SetLimit(1).ok());
  Admission call = local->bulkhead().TryAcquire();
  EXPECT_FALSE(local->bulkhead().TryAcquire({.priority = 1}));
  const RecordingSink sink = Visit(*local);
  EXPECT_EQ(sink.Value("plimsoll_agent_algorithm_limit{db}"), 20);
  EXPECT_EQ(sink.Active("plimsoll_agent_binding_constraint{db}"), "override");
  EXPECT_EQ(sink.Value("plimsoll_agent_limit_changes_total{db,down,override_set}"), 1);
  EXPECT_EQ(sink.Value("plimsoll_agent_rejected_total{db,batch,limit}"), 1);
  EXPECT_EQ(sink.Value("plimsoll_agent_rejected_total{db,critical,limit}"), 0);
  EXPECT_EQ(sink.Value("plimsoll_agent_offered_total{db,critical}"), 1);
  for (const std::string name :
       {"plimsoll_agent_quota_share", "plimsoll_agent_limit_age_seconds",
        "plimsoll_agent_lease_stage", "plimsoll_agent_controller_connected",
        "plimsoll_agent_syncs_total"}) {
    EXPECT_FALSE(sink.names().contains(name)) << name;
  }
}

TEST(LocalMetricsTest, WaitsAreToldWhereThereIsAQueue) {
  LocalBulkheadOptions options;
  options.dependency = "db";
  for (const int capacity : {0, 5}) {
    options.bulkhead.queue.capacity = capacity;
    const RecordingSink sink = Visit(**MakeLocalBulkhead(options));
    EXPECT_EQ(sink.Value("plimsoll_agent_queue_wait_seconds{db}"), capacity == 0 ? -1 : 0);
    EXPECT_EQ(sink.Value("plimsoll_agent_waiting{db}"), 0);
    EXPECT_EQ(sink.Value("plimsoll_agent_oldest_wait_seconds{db}"), 0);
  }
}

// Scrapes while calls run: what is told never falls, and the sums are right in the end.
TEST(MetricsThreadsTest, ScrapingWhileCallsRun) {
  constexpr int kThreads = 3;
  constexpr int kCalls = 10'000;
  LocalBulkheadOptions options;
  options.dependency = "db";
  options.algorithm = "aimd";
  options.window = std::chrono::milliseconds(10);
  const auto local = *MakeLocalBulkhead(options);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) {
        if (Admission call = local->bulkhead().TryAcquire()) call->Finish(Outcome::kError);
      }
      --running;
    });
  }
  double before = 0;
  const auto scrape = [&] { return Visit(*local); };
  while (running > 0) {
    const double completed = scrape().Value("plimsoll_agent_completed_total{db}");
    EXPECT_GE(completed, before);
    before = completed;
  }
  for (std::thread& thread : threads) thread.join();
  const RecordingSink sink = scrape();
  EXPECT_EQ(sink.Value("plimsoll_agent_offered_total{db,default}"), kThreads * kCalls);
  EXPECT_EQ(sink.Value("plimsoll_agent_admitted_total{db}"),
            sink.Value("dependency_request_errors_total{db,error}"));
}

}  // namespace
}  // namespace plimsoll
