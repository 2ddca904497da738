// What calls may ask of a limiter: costs, classes, tenants, deadlines; and what it tells of them.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/src/limiter.h"
#include "agent/src/permit_watch.h"
#include "agent/src/rolling_max.h"
#include "agent/src/service_time.h"
#include "agent/src/share.h"
#include "agent/src/tenant_table.h"
#include "agent/src/thread_stripe.h"
#include "plimsoll/core/random.h"
#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);

class LimiterOptionsTest : public ::testing::Test {
 protected:
  void Make(const BulkheadOptions& options, Calls limit) {
    limiter_ = MakeLimiter(clock_, options);
    Grant(1, limit);
  }
  void Grant(std::int64_t seq, Calls limit) {
    limiter_->Install(MakeFunction(seq, limit, clock_), clock_.Now());
  }
  // Nothing if the call is admitted; the permit is then kept.
  std::optional<Rejection> Ask(const CallOptions& options) {
    Admission admission = limiter_->TryAcquire(options);
    if (!admission) return admission.rejection();
    permits_.push_back(*std::move(admission));
    return std::nullopt;
  }
  // How many calls like this one are admitted until one is refused.
  int AdmittedOf(const CallOptions& options) {
    int admitted = 0;
    while (!Ask(options)) ++admitted;
    return admitted;
  }
  CallOptions Within(absl::Duration left) const {
    CallOptions options;
    options.deadline = Deadline::FromLeaseClock((clock_.Now() + left).ns);
    return options;
  }
  // One window in which `calls` calls took `latency`.
  void Learn(int calls, absl::Duration latency) {
    std::vector<Permit> permits;
    for (int i = 0; i < calls; ++i) permits.push_back(*limiter_->TryAcquire());
    clock_.Advance(latency);
    for (Permit& permit : permits) permit.Succeed();
    clock_.Advance(kInterval);
    limiter_->Measure(clock_.Now(), kInterval);
  }

  ManualClock clock_;
  LimiterPtr limiter_ = MakeLimiter(clock_);
  std::vector<Permit> permits_;
};

TEST_F(LimiterOptionsTest, ACallTakesAsManyUnitsAsItCosts) {
  Make({}, 10);
  EXPECT_EQ(AdmittedOf({.cost = 3}), 3);
  EXPECT_EQ(limiter_->in_flight(), 9);
  EXPECT_EQ(permits_[0].cost(), 3);
  EXPECT_EQ(AdmittedOf({}), 1);
  permits_.clear();
  EXPECT_EQ(limiter_->in_flight(), 0);
}

TEST_F(LimiterOptionsTest, ACallThatCostsMoreThanTheLimitIsRefusedEvenAlone) {
  Make({}, 10);
  EXPECT_EQ(Ask({.cost = 11}), Rejection::kLimit);
  EXPECT_EQ(Ask({.cost = kCallsMax}), Rejection::kLimit);
  EXPECT_EQ(Ask({.cost = 10}), std::nullopt);
}

TEST_F(LimiterOptionsTest, EverythingIsCountedInUnitsButTheCalls) {
  Make({}, 10);
  EXPECT_EQ(AdmittedOf({.cost = 4}), 2);  // the third was refused
  EXPECT_EQ(Ask({.cost = 1}), std::nullopt);
  permits_[0].Succeed();
  permits_[1].Drop();
  permits_.clear();  // the third is leaked
  const BulkheadStats stats = limiter_->Stats();
  EXPECT_EQ(stats.admitted, 9);
  EXPECT_EQ(stats.calls, 3);
  EXPECT_EQ(stats.succeeded, 4);
  EXPECT_EQ(stats.dropped, 4);
  EXPECT_EQ(stats.ignored, 1);
  EXPECT_EQ(stats.leaked, 1);
  EXPECT_EQ(stats.refused_by(Rejection::kLimit), 4);
}

TEST_F(LimiterOptionsTest, LittlesLawHoldsInUnits) {
  Make({}, 10);
  limiter_->Measure(clock_.Now(), kInterval);
  EXPECT_EQ(Ask({.cost = 7}), std::nullopt);
  clock_.Advance(absl::Milliseconds(500));
  permits_[0].Succeed();
  clock_.Advance(absl::Milliseconds(500));
  const Window window = limiter_->Measure(clock_.Now(), kInterval).windows.at(0);
  EXPECT_EQ(window.succeeded, 7);
  EXPECT_EQ(window.in_flight_max, 7);
  EXPECT_NEAR(absl::ToDoubleSeconds(window.MeanLatency()), 0.5, 0.0001);
  EXPECT_EQ(window.latency.TotalCount(), 7);
}

TEST_F(LimiterOptionsTest, ACostlyCallThatDoesNotFitMeansThatTheLimitWasReached) {
  Make({}, 10);
  limiter_->Measure(clock_.Now(), kInterval);
  EXPECT_EQ(AdmittedOf({.cost = 4}), 2);
  clock_.Advance(absl::Milliseconds(300));
  permits_.clear();
  clock_.Advance(absl::Milliseconds(700));
  EXPECT_EQ(limiter_->Measure(clock_.Now(), kInterval).windows.at(0).at_limit,
            absl::Milliseconds(300));
}

TEST_F(LimiterOptionsTest, WishesOutOfRangeAreProgrammerErrors) {
  EXPECT_DEATH(Ask({.cost = 0}), "a call costs");
  EXPECT_DEATH(Ask({.cost = kCallsMax + 1}), "a call costs");
  EXPECT_DEATH(Ask({.priority = -1}), "class is 0");
}

BulkheadOptions TwoClasses() {
  BulkheadOptions options;
  options.classes = {{"serve", 1.0}, {"batch", 0.5}};
  return options;
}

TEST_F(LimiterOptionsTest, AClassFillsTheLimitUpToItsShareAndTheFirstFindsRoomAboveIt) {
  Make(TwoClasses(), 10);
  EXPECT_EQ(AdmittedOf({.priority = 1}), 5);
  EXPECT_EQ(AdmittedOf({.priority = 0}), 5);
  permits_.pop_back();
  EXPECT_EQ(Ask({.priority = 1}), Rejection::kLimit);
}

TEST_F(LimiterOptionsTest, ImportantCallsCountAgainstLesserOnesToo) {
  Make(TwoClasses(), 10);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Ask({}), std::nullopt);
  EXPECT_EQ(AdmittedOf({.priority = 1}), 1);
}

TEST_F(LimiterOptionsTest, OfALimitOfOneEveryClassCanUseItAndOfNoneNone) {
  Make(TwoClasses(), 1);
  EXPECT_EQ(AdmittedOf({.priority = 1}), 1);
  permits_.clear();
  Grant(2, 0);
  EXPECT_EQ(Ask({.priority = 1}), Rejection::kLimit);
}

TEST_F(LimiterOptionsTest, AClassBeyondTheLastIsTheLast) {
  Make(TwoClasses(), 10);
  EXPECT_EQ(AdmittedOf({.priority = 99}), 5);
}

TEST_F(LimiterOptionsTest, CostsCountAgainstTheShareOfAClass) {
  Make(TwoClasses(), 10);
  EXPECT_EQ(AdmittedOf({.cost = 2, .priority = 1}), 2);
}

TEST_F(LimiterOptionsTest, TheStatsTellWhatEachClassOfferedAndGot) {
  Make(TwoClasses(), 4);
  EXPECT_EQ(AdmittedOf({.priority = 1}), 2);
  EXPECT_EQ(AdmittedOf({}), 2);
  EXPECT_EQ(Ask({.cost = 3}), Rejection::kLimit);
  const std::vector<ClassStats> classes = limiter_->Stats().classes;
  ASSERT_EQ(classes.size(), 2);
  EXPECT_EQ(classes[0].name, "serve");
  EXPECT_EQ(classes[0].admitted, 2);
  EXPECT_EQ(classes[0].refused[0], 4);
  EXPECT_EQ(classes[0].offered(), 6);
  EXPECT_EQ(classes[1].admitted, 2);
  EXPECT_EQ(classes[1].offered(), 3);
}

TEST_F(LimiterOptionsTest, ObservingRefusesNoClassCostTenantOrDeadlineAndCountsWhom) {
  BulkheadOptions options = TwoClasses();
  options.tenants.share = 0.2;
  Make(options, 10);
  limiter_->SetObserve(true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask({.tenant = "acme"}), std::nullopt);
  EXPECT_EQ(Ask({.cost = 100}), std::nullopt);
  EXPECT_EQ(Ask({.priority = 1}), std::nullopt);
  limiter_->SetObserve(false);
  EXPECT_EQ(limiter_->in_flight(), 104);
  const BulkheadStats stats = limiter_->Stats();
  EXPECT_EQ(stats.would_refuse, (std::array<std::int64_t, kRejections>{101, 0, 0, 0, 0, 1}));
  EXPECT_EQ(stats.would_reject, 102);
  EXPECT_EQ(stats.refused, (std::array<std::int64_t, kRejections>{}));
  permits_.clear();
  EXPECT_EQ(limiter_->in_flight(), 0);
  EXPECT_EQ(AdmittedOf({.tenant = "acme"}), 2);  // nobody is counted twice or left behind
}

TEST_F(LimiterOptionsTest, ObservedCallsAreOfferedOnce) {
  Make(TwoClasses(), 1);
  limiter_->SetObserve(true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask({.priority = 1}), std::nullopt);
  EXPECT_EQ(limiter_->Stats().classes[1].offered(), 3);
}

BulkheadOptions CappedTenants(double share, int tracked = 1024) {
  BulkheadOptions options;
  options.tenants = {.share = share, .tracked = tracked};
  return options;
}

TEST_F(LimiterOptionsTest, ATenantHasItsShareAtMostAndTheOthersTheRest) {
  Make(CappedTenants(0.3), 10);
  EXPECT_EQ(AdmittedOf({.tenant = "acme"}), 3);
  EXPECT_EQ(Ask({.tenant = "acme"}), Rejection::kTenant);
  EXPECT_EQ(AdmittedOf({.tenant = "globex"}), 3);
  EXPECT_EQ(AdmittedOf({}), 4);  // nobody has no cap
  EXPECT_EQ(Ask({.tenant = "initech"}), Rejection::kLimit);
}

TEST_F(LimiterOptionsTest, ATenantGetsBackWhatItsPermitsHeldOnceEach) {
  Make(CappedTenants(0.3), 10);
  AdmittedOf({.tenant = "acme"});
  permits_[0].Succeed();
  permits_[0].Drop();
  { const Permit leaked = std::move(permits_[1]); }
  EXPECT_EQ(AdmittedOf({.tenant = "acme"}), 2);
}

TEST_F(LimiterOptionsTest, ARefusalTakesNothingFromATenant) {
  Make(CappedTenants(0.5), 2);
  EXPECT_EQ(AdmittedOf({}), 2);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Ask({.tenant = "acme"}), Rejection::kLimit);
  permits_.clear();
  EXPECT_EQ(AdmittedOf({.tenant = "acme"}), 1);
}

TEST_F(LimiterOptionsTest, ATenantMayHaveOneCallEvenOfTheSmallestLimit) {
  Make(CappedTenants(0.001), 1);
  EXPECT_EQ(AdmittedOf({.tenant = "acme"}), 1);
  permits_.clear();
  EXPECT_EQ(Ask({.cost = 2, .tenant = "acme"}), Rejection::kLimit);
}

TEST_F(LimiterOptionsTest, MoreTenantsThanAreTrackedAreCappedTogetherAtWorst) {
  Make(CappedTenants(0.1, 1), 100);
  int admitted = 0;
  for (int tenant = 0; tenant < 100; ++tenant) {
    const std::string name = "tenant " + std::to_string(tenant);
    const int of_this_one = AdmittedOf({.tenant = name});
    EXPECT_LE(of_this_one, 10);
    admitted += of_this_one;
  }
  EXPECT_GE(admitted, 10);
  permits_.clear();
  EXPECT_EQ(AdmittedOf({.tenant = "tenant 7"}), 10);
}

TEST(TenantTableTest, ASmallPartOfThoseTrackedSharesItsCount) {
  TenantTable table({.share = 0.5, .tracked = 1024});
  std::vector<TenantTable::Slots> slots;
  for (int tenant = 0; tenant < 1024; ++tenant) {
    slots.push_back(table.SlotsOf("tenant-" + std::to_string(tenant)));
    table.Enter(slots.back(), 1);
  }
  int sharing = 0;
  for (const TenantTable::Slots slot : slots) {
    sharing += table.Enter(slot, 1) > 2 ? 1 : 0;
    table.Leave(slot, 1);
  }
  EXPECT_LT(sharing, 1024 / 15);
}

TEST(TenantTableTest, NobodyIsNowhere) {
  EXPECT_EQ(TenantTable({.share = 0.5, .tracked = 1}).SlotsOf(""), 0);
  EXPECT_NE(TenantTable({.share = 0.5, .tracked = 1}).SlotsOf("acme"), 0);
}

TEST_F(LimiterOptionsTest, ADeadlineThatHasPassedIsRefusedAtOnce) {
  Make({}, 10);
  EXPECT_EQ(Ask(Within(absl::ZeroDuration())), Rejection::kDeadline);
  EXPECT_EQ(Ask(Within(-absl::Seconds(1))), Rejection::kDeadline);
  EXPECT_EQ(Ask(Within(absl::Nanoseconds(1))), std::nullopt);
  EXPECT_EQ(limiter_->Stats().refused_by(Rejection::kDeadline), 2);
}

TEST_F(LimiterOptionsTest, ADeadlineNearerThanCallsTakeNowIsRefused) {
  Make({}, 10);
  Learn(8, absl::Milliseconds(100));
  EXPECT_EQ(Ask({}), std::nullopt);
  EXPECT_EQ(Ask(Within(absl::Milliseconds(90))), Rejection::kDeadline);
  EXPECT_EQ(Ask(Within(absl::Milliseconds(110))), std::nullopt);
}

TEST_F(LimiterOptionsTest, WhenNothingIsInFlightACallMayFindOutWhetherItIsStillSo) {
  Make({}, 10);
  Learn(8, absl::Milliseconds(100));
  EXPECT_EQ(Ask(Within(absl::Milliseconds(1))), std::nullopt);
  EXPECT_EQ(Ask(Within(absl::Milliseconds(1))), Rejection::kDeadline);
}

TEST_F(LimiterOptionsTest, OldNewsDoNotShutABulkheadForEverThoughAPermitIsNeverGivenBack) {
  Make({}, 10);
  Learn(8, absl::Seconds(10));
  EXPECT_EQ(Ask({}), std::nullopt);
  int windows = 0;
  while (Ask(Within(absl::Milliseconds(100))) == Rejection::kDeadline) {
    clock_.Advance(kInterval);
    limiter_->Measure(clock_.Now(), kInterval);
    ASSERT_LT(++windows, 10);
  }
  EXPECT_EQ(windows, 7);  // 10 s / 2^7 < 100 ms
}

TEST(ServiceTimeTest, FewSamplesMoveItAPartOfTheWay) {
  ServiceTime time;
  const auto learn = [&time](int samples, absl::Duration latency) {
    Window window;
    window.succeeded = samples;
    for (int i = 0; i < samples; ++i) window.latency.Record(latency);
    time.Learn(window);
    return absl::ToDoubleMilliseconds(absl::Nanoseconds(time.ns()));
  };
  EXPECT_NEAR(learn(1, absl::Milliseconds(100)), 100, 4);  // better than nothing
  EXPECT_NEAR(learn(1, absl::Milliseconds(900)), 200, 8);
  EXPECT_NEAR(learn(800, absl::Milliseconds(20)), 20, 1);
  EXPECT_NEAR(learn(0, absl::Milliseconds(0)), 10, 1);
}

TEST(ShareTest, IsRoundedDownToWholeCallsWithoutTheRoundingOfBinaryFractions) {
  EXPECT_EQ(Share(0.29).Of(100), 29);
  EXPECT_EQ(Share(0.7).Of(10), 7);
  EXPECT_EQ(Share(0.5).Of(3), 1);
  EXPECT_EQ(Share(0.999999).Of(kCallsMax), 999'999);
  EXPECT_EQ(Share(1e-9).Of(kCallsMax), 1);
  EXPECT_EQ(Share().Of(kCallsMax), kCallsMax);
  EXPECT_EQ(Share(0.5).Of(0), 0);
}

TEST(RollingMaxTest, ForgetsAfterFifteenSeconds) {
  const Instant start{1'000'000'000'000};
  RollingMax max;
  EXPECT_EQ(max.At(start), 0);
  max.Note(start, 7);
  max.Note(start, 3);
  EXPECT_EQ(max.At(start), 7);
  max.Note(start + absl::Seconds(8), 5);
  EXPECT_EQ(max.At(start + absl::Seconds(15)), 7);
  EXPECT_EQ(max.At(start + absl::Seconds(16)), 5);
  EXPECT_EQ(max.At(start + absl::Seconds(24)), 0);
  max.Note(start + absl::Seconds(16 * 100), kCallsMax);  // the same cell
  EXPECT_EQ(max.At(start + absl::Seconds(16 * 100)), kCallsMax);
}

TEST_F(LimiterOptionsTest, TheHighestInFlightDoesNotDependOnWhoLooks) {
  Make({}, 10);
  EXPECT_EQ(Ask({.cost = 8}), std::nullopt);
  permits_.clear();
  for (int second = 0; second < 15; ++second) {
    EXPECT_EQ(limiter_->Stats().in_flight_max, 8) << second;
    EXPECT_EQ(limiter_->Stats().in_flight_max, 8) << second;
    limiter_->Measure(clock_.Now(), kInterval);
    clock_.Advance(absl::Seconds(1));
  }
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(limiter_->Stats().in_flight_max, 0);
}

TEST_F(LimiterOptionsTest, TheStatsHaveTheLatenciesOfWhatSaidSomething) {
  Make({}, 10);
  for (int i = 0; i < 3; ++i) Ask({});
  clock_.Advance(absl::Milliseconds(10));
  permits_[0].Succeed();
  permits_[1].Finish(Outcome::kTimeout);
  permits_[2].Ignore();
  Ask({.cost = 5});
  clock_.Advance(absl::Hours(1));
  permits_[3].Succeed();
  const std::vector<LatencyBucket> latency = limiter_->Stats().latency;
  ASSERT_EQ(latency.size(), 2);
  EXPECT_GT(latency[0].below, std::chrono::milliseconds(10));
  EXPECT_LT(latency[0].below, std::chrono::milliseconds(11));
  EXPECT_EQ(latency[0].count, 2);
  EXPECT_EQ(latency[1].below, std::chrono::nanoseconds::max());
  EXPECT_EQ(latency[1].count, 5);
}

// Where a permit was taken, without the folder.
std::string PlaceOf(const OverduePermit& permit) {
  const std::string file(permit.file);
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(permit.line);
}
std::string ThisFile(int line) { return "limiter_options_test.cc:" + std::to_string(line); }

BulkheadOptions AgeOfAMinute() {
  BulkheadOptions options;
  options.permit_age_max = std::chrono::minutes(1);
  return options;
}

TEST_F(LimiterOptionsTest, APermitThatIsHeldTooLongIsReportedOnceWithWhereItWasTaken) {
  Make(AgeOfAMinute(), 10);
  internal::Limiter& limiter = *limiter_;
  const auto bulkhead = BulkheadFactory::Make("payments-api", limiter_.release());
  Admission plain = bulkhead->TryAcquire();
  const int plain_line = __LINE__ - 1;
  Admission wished = bulkhead->TryAcquire({.cost = 2});
  const int wished_line = __LINE__ - 1;
  clock_.Advance(absl::Minutes(1));
  EXPECT_TRUE(limiter.TakeOverdue(clock_.Now()).empty());
  clock_.Advance(absl::Seconds(1));
  std::set<std::string> places;
  for (const OverduePermit& permit : limiter.TakeOverdue(clock_.Now())) {
    EXPECT_EQ(permit.age, absl::Seconds(61));
    places.insert(PlaceOf(permit));
  }
  EXPECT_EQ(places, (std::set<std::string>{ThisFile(plain_line), ThisFile(wished_line)}));
  clock_.Advance(absl::Hours(1));
  EXPECT_TRUE(limiter.TakeOverdue(clock_.Now()).empty());
  EXPECT_EQ(limiter.Stats().overdue, 2);
  plain->Succeed();
  wished->Succeed();
  EXPECT_EQ(limiter.Stats().succeeded, 3);
}

TEST_F(LimiterOptionsTest, PermitsThatEndInTimeAreNotReported) {
  Make(AgeOfAMinute(), 10);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(AdmittedOf({}), 10);
    clock_.Advance(absl::Milliseconds(30));
    permits_.clear();
    EXPECT_TRUE(limiter_->TakeOverdue(clock_.Now()).empty());
  }
}

TEST_F(LimiterOptionsTest, WithoutAnAgeNothingIsWatched) {
  Make({}, 10);
  AdmittedOf({});
  clock_.Advance(absl::Hours(1));
  EXPECT_TRUE(limiter_->TakeOverdue(clock_.Now()).empty());
}

TEST_F(LimiterOptionsTest, MorePermitsThanCanBeWatchedAreAdmittedAllTheSame) {
  Make(AgeOfAMinute(), 3000);
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(Ask({}), std::nullopt);
    clock_.Advance(absl::Microseconds(7));
  }
  clock_.Advance(absl::Minutes(2));
  const std::size_t reported = limiter_->TakeOverdue(clock_.Now()).size();
  EXPECT_GT(reported, PermitWatch::kSlots * 9 / 10);
  EXPECT_LE(reported, PermitWatch::kSlots);
  permits_.clear();
  EXPECT_EQ(limiter_->in_flight(), 0);
}

// With real threads; nothing depends on how fast they are.

constexpr int kThreads = 4;
constexpr int kTenants = 3;
constexpr Calls kLimit = 9;

TEST(StripedSumTest, CountsExactlyWithMoreThreadsThanStripesAndWithStripesInOtherHands) {
  constexpr int kTogether = kThreadStripes + 8;
  constexpr int kRounds = 3;
  constexpr int kCounts = 1000;
  StripedSum counter;
  std::atomic<int> without_stripe{0};
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kTogether; ++i) {
      threads.emplace_back([&] {
        without_stripe += ThreadStripe() == kNoStripe ? 1 : 0;
        ++ready;
        while (ready < kTogether) std::this_thread::yield();
        for (int count = 0; count < kCounts; ++count) counter.Add(1);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(counter.Read(), (round + 1) * kTogether * kCounts);
  }
  // At least one in each round, and not all of them from the second on: stripes are given back.
  EXPECT_GE(without_stripe, kRounds * 8);
  EXPECT_LT(without_stripe, kRounds * (8 + kThreadStripes / 2));
}

// Units held at once, of all and of each class and tenant. Counted after the admission and before
// the end, so never more than the limiter counts.
struct Held {
  std::atomic<int> all{0};
  std::array<std::atomic<int>, kTenants> of_tenant{};
  std::atomic<int> over_limit{0};
  std::atomic<int> over_cap{0};
  std::array<std::atomic<std::int64_t>, 2> offered{};
  std::array<std::atomic<std::int64_t>, 2> admitted{};
};

void HammerWithWishes(Limiter& limiter, Held& held, std::uint64_t seed, Calls cap) {
  const std::string names[kTenants] = {"acme", "globex", "initech"};
  Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const auto tenant = static_cast<std::size_t>(random.Below(kTenants));
    const auto priority = static_cast<std::size_t>(random.Below(2));
    const int cost = 1 + static_cast<int>(random.Below(2));
    held.offered[priority] += cost;
    Admission admission = limiter.TryAcquire(
        {.cost = cost, .priority = static_cast<int>(priority), .tenant = names[tenant]});
    if (!admission) continue;
    held.admitted[priority] += cost;
    held.over_limit += (held.all += cost) > kLimit ? 1 : 0;
    held.over_cap += (held.of_tenant[tenant] += cost) > cap ? 1 : 0;
    if (random.Chance(0.3)) std::this_thread::yield();
    held.all -= cost;
    held.of_tenant[tenant] -= cost;
    admission->Finish(static_cast<Outcome>(random.Below(kOutcomes)));
  }
}

class LimiterWishesTest : public ::testing::TestWithParam<int> {};

TEST_P(LimiterWishesTest, NoLimitAndNoCapIsExceededAndNoUnitLost) {
  BulkheadOptions options = TwoClasses();
  options.tenants = {.share = 0.4, .tracked = GetParam()};  // 3 of 9
  const LimiterPtr limiter = MakeLimiter(RealClock(), options);
  limiter->Install(MakeFunction(1, kLimit, RealClock()), RealClock().Now());
  Held held;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back(
        [&, i] { HammerWithWishes(*limiter, held, static_cast<std::uint64_t>(i) + 1, 3); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(held.over_limit, 0);
  EXPECT_EQ(held.over_cap, 0);
  const BulkheadStats stats = limiter->Stats();
  EXPECT_EQ(stats.in_flight, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(stats.classes[i].admitted, held.admitted[i]);
    EXPECT_EQ(stats.classes[i].offered(), held.offered[i]);
  }
  Admission all_again = limiter->TryAcquire({.cost = 3, .tenant = "acme"});
  EXPECT_TRUE(all_again);
}

INSTANTIATE_TEST_SUITE_P(Tracked, LimiterWishesTest, ::testing::Values(1, 1024));

}  // namespace
}  // namespace plimsoll::internal
