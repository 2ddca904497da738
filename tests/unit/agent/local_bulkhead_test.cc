#include "plimsoll/agent/local_bulkhead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/src/local_bulkhead_factory.h"
#include "plimsoll/core/clock.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

LocalBulkheadOptions Options(const std::string& algorithm) {
  LocalBulkheadOptions options;
  options.dependency = "payments-api";
  options.algorithm = algorithm;
  return options;
}

// Workers that take `service` for a call, and a queue without bound before them. Callers ask every
// millisecond until they are refused.
class Plant {
 public:
  Plant(std::size_t workers, absl::Duration service) : service_(service), free_at_(workers) {}

  void Run(Bulkhead& bulkhead, ManualClock& clock, absl::Duration length) {
    const Instant end = clock.Now() + length;
    while (clock.Now() < end) {
      while (!calls_.empty() && calls_.front().ends <= clock.Now()) {
        calls_.front().permit.Succeed();
        calls_.pop_front();
      }
      while (Admission call = bulkhead.TryAcquire()) Take(*std::move(call), clock.Now());
      clock.Advance(absl::Milliseconds(1));
    }
  }
  void Drain() {
    for (Call& call : calls_) call.permit.Ignore();
    calls_.clear();
  }

 private:
  struct Call {
    Permit permit;
    Instant ends;
  };

  void Take(Permit permit, Instant now) {
    Instant& free_at = *std::min_element(free_at_.begin(), free_at_.end());
    free_at = std::max(free_at, now) + service_;
    calls_.push_back({std::move(permit), free_at});
  }

  const absl::Duration service_;
  std::vector<Instant> free_at_;
  std::deque<Call> calls_;
};

class LocalBulkheadTest : public ::testing::Test {
 protected:
  std::unique_ptr<LocalBulkhead> Make(const LocalBulkheadOptions& options) {
    auto made = LocalBulkheadFactory::Make(options, clock_, Random(1));
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  // Fills the bulkhead and ends all calls after `latency`.
  void Fill(Bulkhead& bulkhead, absl::Duration latency) {
    std::vector<Permit> permits;
    while (Admission call = bulkhead.TryAcquire()) permits.push_back(*std::move(call));
    clock_.Advance(latency);
    for (Permit& permit : permits) permit.Succeed();
  }

  ManualClock clock_;
};

TEST_F(LocalBulkheadTest, AdmitsItsInitialLimitAtOnce) {
  LocalBulkheadOptions options = Options("fixed");
  options.initial = 2;
  options.call_deadline = std::chrono::seconds(3);
  const auto local = Make(options);
  Bulkhead& bulkhead = local->bulkhead();
  EXPECT_EQ(bulkhead.dependency(), "payments-api");
  EXPECT_EQ(bulkhead.limit(), 2);
  EXPECT_EQ(bulkhead.stage(), GrantStage::kLease);
  const Admission first = bulkhead.TryAcquire();
  const Admission second = bulkhead.TryAcquire();
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(bulkhead.TryAcquire());
}

TEST_F(LocalBulkheadTest, PermitsHaveTheCallDeadline) {
  LocalBulkheadOptions options = Options("fixed");
  options.call_deadline = std::chrono::seconds(3);
  EXPECT_EQ(Make(options)->bulkhead().TryAcquire()->time_left(), std::chrono::seconds(3));
  options.call_deadline = std::chrono::nanoseconds::max();
  EXPECT_EQ(Make(options)->bulkhead().TryAcquire()->time_left(), std::chrono::nanoseconds::max());
}

TEST_F(LocalBulkheadTest, AFixedLimitDoesNotMove) {
  LocalBulkheadOptions options = Options("fixed");
  options.initial = 50;
  const auto local = Make(options);
  Plant plant(10, absl::Milliseconds(20));
  for (int second = 0; second < 30; ++second) {
    plant.Run(local->bulkhead(), clock_, absl::Seconds(1));
    ASSERT_EQ(local->bulkhead().limit(), 50);
  }
}

TEST_F(LocalBulkheadTest, AFixedLimitLastsForYears) {
  const auto local = Make(Options("fixed"));
  for (int month = 0; month < 36; ++month) {
    clock_.Advance(absl::Hours(24 * 30));
    ASSERT_EQ(local->bulkhead().limit(), 20);
    ASSERT_TRUE(local->bulkhead().TryAcquire());
  }
}

// Where 10 calls of 20 ms fit at once, more than 10 only wait.
struct Found {
  std::string algorithm;
  std::map<std::string, std::string> settings;
  int initial;
  int at_least;
  int at_most;
};

class LocalLawTest : public LocalBulkheadTest, public ::testing::WithParamInterface<Found> {};

TEST_P(LocalLawTest, FindsALimitNearTheKnee) {
  LocalBulkheadOptions options = Options(GetParam().algorithm);
  options.settings = GetParam().settings;
  options.initial = GetParam().initial;
  const auto local = Make(options);
  Plant plant(10, absl::Milliseconds(20));
  plant.Run(local->bulkhead(), clock_, absl::Minutes(2));
  for (int second = 0; second < 30; ++second) {
    plant.Run(local->bulkhead(), clock_, absl::Seconds(1));
    ASSERT_GE(local->bulkhead().limit(), GetParam().at_least);
    ASSERT_LE(local->bulkhead().limit(), GetParam().at_most);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Laws, LocalLawTest,
    ::testing::Values(Found{"gradient2", {}, 5, 10, 40}, Found{"gradient2", {}, 20, 10, 40},
                      Found{"aimd", {{"latency_threshold", "30ms"}}, 100, 10, 20},
                      Found{"aimd", {{"latency_threshold", "30ms"}}, 2, 10, 20},
                      Found{"vegas", {}, 5, 8, 30}, Found{"gradient", {}, 5, 10, 40},
                      Found{"envoy_gradient", {}, 20, 4, 30}, Found{"bdp", {}, 20, 4, 30}),
    [](const auto& test) {
      return test.param.algorithm + "_from_" + std::to_string(test.param.initial);
    });

TEST_F(LocalBulkheadTest, StaysBetweenFloorAndCeiling) {
  LocalBulkheadOptions options = Options("aimd");
  options.floor = 7;
  options.ceiling = 23;
  const auto local = Make(options);
  for (int i = 0; i < 40; ++i) Fill(local->bulkhead(), absl::Milliseconds(600));
  EXPECT_EQ(local->bulkhead().limit(), 23);
  EXPECT_EQ(local->Snapshot().binding, "ceiling");
  for (int i = 0; i < 40; ++i) Fill(local->bulkhead(), absl::Seconds(5) + absl::Milliseconds(1));
  EXPECT_GE(local->bulkhead().limit(), 7);
}

TEST_F(LocalBulkheadTest, LearnsNothingBeforeAWindowIsDue) {
  LocalBulkheadOptions options = Options("aimd");
  options.window = std::chrono::seconds(1);
  const auto local = Make(options);
  for (int i = 0; i < 9; ++i) Fill(local->bulkhead(), absl::Milliseconds(100));
  EXPECT_EQ(local->bulkhead().limit(), 20);
  Fill(local->bulkhead(), absl::Milliseconds(100));
  EXPECT_EQ(local->bulkhead().limit(), 21);
}

TEST_F(LocalBulkheadTest, AWindowWithTooFewCallsGoesOn) {
  LocalBulkheadOptions options = Options("aimd");
  options.window = std::chrono::seconds(1);
  options.samples_min = 30;  // a window ends with the first call of a fill, and has the fill before
  const auto local = Make(options);
  Fill(local->bulkhead(), absl::Seconds(1));
  Fill(local->bulkhead(), absl::Seconds(1));
  EXPECT_EQ(local->bulkhead().limit(), 20);
  Fill(local->bulkhead(), absl::Seconds(1));
  EXPECT_EQ(local->bulkhead().limit(), 21);
}

TEST_F(LocalBulkheadTest, AWindowLeftOpenOverIdleHoursTeachesNothing) {
  const auto local = Make(Options("aimd"));
  Fill(local->bulkhead(), absl::Milliseconds(100));  // would raise the limit when it is due
  clock_.Advance(absl::Hours(3));
  local->bulkhead().TryAcquire()->Succeed();
  EXPECT_EQ(local->bulkhead().limit(), 20);
  // Nor is it kept for later.
  clock_.Advance(absl::Seconds(1));
  for (int i = 0; i < 12; ++i) local->bulkhead().TryAcquire()->Succeed();
  EXPECT_EQ(local->bulkhead().limit(), 20);
}

TEST_F(LocalBulkheadTest, TooManyDropsLowerTheLimit) {
  const auto local = Make(Options("gradient2"));
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(absl::Milliseconds(30));
    const Outcome outcome = i % 10 == 0 ? Outcome::kOverload : Outcome::kSuccess;
    Admission call = local->bulkhead().TryAcquire();
    clock_.Advance(absl::Milliseconds(5));
    call->Finish(outcome);
  }
  EXPECT_EQ(local->bulkhead().limit(), 18);
}

TEST_F(LocalBulkheadTest, TheLimitCanBeSetByHandAndTakenBack) {
  const auto local = Make(Options("aimd"));
  Bulkhead& bulkhead = local->bulkhead();
  ASSERT_TRUE(local->SetLimit(30).ok());
  EXPECT_EQ(bulkhead.limit(), 30);
  EXPECT_EQ(local->Snapshot().binding, "override");
  for (int i = 0; i < 5; ++i) Fill(bulkhead, absl::Seconds(1));
  EXPECT_EQ(bulkhead.limit(), 30) << "the law has moved it";
  clock_.Advance(absl::Milliseconds(1));
  ASSERT_TRUE(local->ClearLimit().ok());
  EXPECT_EQ(bulkhead.limit(), 20) << "the law has learnt from what was not its limit";
  for (int i = 0; i < 2; ++i) Fill(bulkhead, absl::Seconds(1));
  EXPECT_EQ(bulkhead.limit(), 21);
}

TEST_F(LocalBulkheadTest, WhatWasSeenBeforeALimitSetByHandIsForgotten) {
  const auto local = Make(Options("aimd"));
  Fill(local->bulkhead(), absl::Milliseconds(400));
  ASSERT_TRUE(local->SetLimit(30).ok());
  ASSERT_TRUE(local->ClearLimit().ok());
  clock_.Advance(absl::Milliseconds(500));
  local->bulkhead().TryAcquire()->Succeed();
  EXPECT_EQ(local->bulkhead().limit(), 20);
}

TEST_F(LocalBulkheadTest, SoIsAWindowThatGoesOn) {
  LocalBulkheadOptions options = Options("aimd");
  options.samples_min = 22;
  const auto local = Make(options);
  for (int i = 0; i < 2; ++i) Fill(local->bulkhead(), absl::Seconds(1));  // 21 calls so far
  ASSERT_TRUE(local->SetLimit(30).ok());
  ASSERT_TRUE(local->ClearLimit().ok());
  Fill(local->bulkhead(), absl::Seconds(1));
  EXPECT_EQ(local->bulkhead().limit(), 20);
}

TEST_F(LocalBulkheadTest, ZeroByHandAdmitsNothing) {
  const auto local = Make(Options("fixed"));
  ASSERT_TRUE(local->SetLimit(0).ok());
  EXPECT_FALSE(local->bulkhead().TryAcquire());
}

TEST_F(LocalBulkheadTest, AFallLeavesTheCallsThatRunAlone) {
  const auto local = Make(Options("fixed"));
  Admission first = local->bulkhead().TryAcquire();
  Admission second = local->bulkhead().TryAcquire();
  ASSERT_TRUE(local->SetLimit(1).ok());
  EXPECT_EQ(local->bulkhead().in_flight(), 2);
  first->Succeed();
  EXPECT_FALSE(local->bulkhead().TryAcquire());
  second->Succeed();
  EXPECT_TRUE(local->bulkhead().TryAcquire());
}

TEST_F(LocalBulkheadTest, ALimitByHandHasARange) {
  const auto local = Make(Options("fixed"));
  for (const int limit : {-1, 1'000'001}) {
    const absl::Status status = local->SetLimit(limit);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(limit)));
  }
  EXPECT_TRUE(local->SetLimit(1'000'000).ok());
}

TEST_F(LocalBulkheadTest, PermitsOutliveIt) {
  auto local = Make(Options("gradient2"));
  Admission call = local->bulkhead().TryAcquire();
  local.reset();
  clock_.Advance(absl::Seconds(2));
  call->Succeed();  // and a window is due
}

TEST_F(LocalBulkheadTest, TheHighestOfLongAgoIsNotTold) {
  const auto local = Make(Options("fixed"));
  Fill(local->bulkhead(), absl::Milliseconds(1));
  EXPECT_EQ(local->Snapshot().stats.in_flight_max, 20);
  clock_.Advance(absl::Seconds(14));
  EXPECT_EQ(local->Snapshot().stats.in_flight_max, 20);
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(local->Snapshot().stats.in_flight_max, 0);
}

struct Fault {
  std::string name;
  void (*change)(LocalBulkheadOptions&);
  std::string says;
};

class LocalOptionsTest : public ::testing::TestWithParam<Fault> {};

TEST_P(LocalOptionsTest, SayWhatIsWrong) {
  LocalBulkheadOptions options = Options("aimd");
  ASSERT_TRUE(Validate(options).ok()) << Validate(options);
  GetParam().change(options);
  const auto made = MakeLocalBulkhead(options);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr(GetParam().says));
}

using LocalOptions = LocalBulkheadOptions;

INSTANTIATE_TEST_SUITE_P(
    Faults, LocalOptionsTest,
    ::testing::Values(
        Fault{"dependency", [](LocalOptions& o) { o.dependency = "a b"; }, "dependency is 'a b'"},
        Fault{"algorithm", [](LocalOptions& o) { o.algorithm = "fleet_knee"; },
              "algorithm is 'fleet_knee': must be one of fixed, aimd"},
        Fault{"setting_unknown",
              [](LocalOptions& o) {
                o.settings = {{"alpha", "3"}};
              },
              "settings.alpha: aimd has no such setting; it has: backoff, increase, "
              "latency_threshold"},
        Fault{"setting_text",
              [](LocalOptions& o) {
                o.settings = {{"latency_threshold", "30"}};
              },
              "settings.latency_threshold is '30': must be a time with a unit"},
        Fault{"setting_range",
              [](LocalOptions& o) {
                o.settings = {{"backoff", "1.5"}};
              },
              "aimd.backoff = 1.5"},
        Fault{"floor", [](LocalOptions& o) { o.floor = 0; }, "floor = 0"},
        Fault{"ceiling", [](LocalOptions& o) { o.ceiling = 10; }, "initial = 20"},
        Fault{"window", [](LocalOptions& o) { o.window = std::chrono::milliseconds(9); },
              "window is 9ms"},
        Fault{"samples_min", [](LocalOptions& o) { o.samples_min = 0; }, "samples_min is 0"},
        Fault{"percentile", [](LocalOptions& o) { o.percentile = 1; }, "percentile is 1"},
        Fault{"drop_tolerance", [](LocalOptions& o) { o.drop_tolerance = 1; },
              "drop_tolerance is 1"},
        Fault{"classes", [](LocalOptions& o) { o.bulkhead.classes.clear(); }, "classes"},
        Fault{"permit_age",
              [](LocalOptions& o) { o.bulkhead.permit_age_max = std::chrono::seconds(1); },
              "bulkhead.permit_age_max"},
        Fault{"call_deadline", [](LocalOptions& o) { o.call_deadline = {}; },
              "call_deadline is 0"}),
    [](const auto& test) { return test.param.name; });

TEST(LocalOptionsTest, AllFaultsAreListedAtOnce) {
  LocalBulkheadOptions options = Options("vegas");
  options.dependency.clear();
  options.samples_min = 0;
  const std::string message(Validate(options).message());
  EXPECT_THAT(message, HasSubstr("dependency"));
  EXPECT_THAT(message, HasSubstr("samples_min"));
}

TEST(LocalOptionsTest, EverySettingOfEveryLawIsRead) {
  const std::vector<std::pair<std::string, std::map<std::string, std::string>>> laws = {
      {"aimd", {{"latency_threshold", "1s"}, {"backoff", "0.8"}, {"increase", "2"}}},
      {"vegas",
       {{"alpha", "3"},
        {"beta", "6*log10"},
        {"threshold", "log10"},
        {"decrease", "limit/2"},
        {"smoothing", "0.5"},
        {"probe_multiplier", "20"},
        {"fixed_baseline", "10ms"}}},
      {"gradient",
       {{"rtt_tolerance", "1.5"},
        {"smoothing", "0.5"},
        {"queue_size", "2"},
        {"queue_by_square_root", "false"},
        {"backoff", "0.8"},
        {"probe_interval", "-1"},
        {"fixed_baseline", "10ms"}}},
      {"gradient2",
       {{"rtt_tolerance", "2"}, {"smoothing", "0.5"}, {"queue_size", "2"}, {"long_window", "9"}}},
      {"envoy_gradient",
       {{"buffer", "0.5"},
        {"probe_limit", "3"},
        {"probe_samples", "9"},
        {"probe_interval", "2s"},
        {"probe_jitter", "0"},
        {"floor_updates", "9"},
        {"fixed_baseline", "10ms"}}},
      {"bdp",
       {{"explore_min", "0.1"},
        {"explore_max", "0.2"},
        {"buffer", "0.5"},
        {"fail_punish", "2"},
        {"samples_min", "9"},
        {"probe_limit", "3"},
        {"probe_samples", "9"},
        {"probe_interval", "2s"},
        {"probe_jitter", "0"},
        {"fixed_baseline", "10ms"}}}};
  for (const auto& [law, settings] : laws) {
    LocalBulkheadOptions options = Options(law);
    options.settings = settings;
    EXPECT_TRUE(Validate(options).ok()) << Validate(options);
    for (const auto& [name, value] : settings) {
      options.settings = {{name, "nonsense"}};
      EXPECT_THAT(std::string(Validate(options).message()), HasSubstr("settings." + name));
    }
  }
}

TEST(LocalBulkheadThreadsTest, ARiseByHandWakesWhoWaits) {
  LocalBulkheadOptions options = Options("fixed");
  options.bulkhead.queue.capacity = 1;
  const auto local = *MakeLocalBulkhead(options);
  ASSERT_TRUE(local->SetLimit(0).ok());
  std::thread waits([&] {
    const Admission call = local->bulkhead().Acquire({.wait = std::chrono::hours(1)});
    EXPECT_TRUE(call);
  });
  while (local->bulkhead().stats().waiting == 0) std::this_thread::yield();
  EXPECT_TRUE(local->SetLimit(1).ok());
  waits.join();
}

// Calls, a law that runs in their threads, a hand on the limit, and a scraper, all at once.
TEST(LocalBulkheadThreadsTest, ManyMayUseItAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 20'000;
  LocalBulkheadOptions options = Options("aimd");
  options.window = std::chrono::milliseconds(10);
  options.ceiling = 40;
  const auto local = *MakeLocalBulkhead(options);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) {
        if (Admission call = local->bulkhead().TryAcquire()) call->Succeed();
      }
      --running;
    });
  }
  while (running > 0) {
    EXPECT_TRUE(local->SetLimit(2).ok());
    EXPECT_LE(local->Snapshot().stats.limit, 40);
    EXPECT_TRUE(local->ClearLimit().ok());
  }
  for (std::thread& thread : threads) thread.join();
  const BulkheadStats stats = local->Snapshot().stats;
  EXPECT_EQ(stats.in_flight, 0);
  EXPECT_EQ(stats.succeeded + stats.rejected_limit, kThreads * kCalls);
}

}  // namespace
}  // namespace plimsoll
