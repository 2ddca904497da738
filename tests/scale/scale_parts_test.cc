#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/scale/placement.h"
#include "tests/scale/report.h"
#include "tests/scale/rounds.h"
#include "tests/scale/share.h"
#include "tests/scale/timetable.h"
#include "tests/scale/virtual_etcd.h"
#include "tests/scale/workload.h"

namespace plimsoll::scale {
namespace {

Options Five(Failures failures) {
  Options options;
  options.controllers = 5;
  options.length = absl::Seconds(20);
  options.failures = failures;
  options.failures_per_minute = 60;
  return options;
}

Policy PolicyOf(Calls quota) {
  Policy policy;
  policy.name = DependencyId("payments");
  policy.quota = quota;
  return policy;
}

TEST(Placement, IsEven) {
  std::vector<int> counts(64);
  for (int i = 0; i < 6400; ++i) {
    ++counts[static_cast<std::size_t>(ShardOf(absl::StrCat("dependency-", i), 64))];
  }
  EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 60);
  EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 145);
}

TEST(Placement, ADeathMovesOnlyWhatTheDeadOwned) {
  int moved = 0;
  for (int shard = 0; shard < 500; ++shard) {
    const std::vector<int> of_nine = Ranked(shard, 9);
    std::vector<int> of_ten = Ranked(shard, 10);
    moved += of_ten.front() == 9;
    std::erase(of_ten, 9);
    EXPECT_EQ(of_ten, of_nine);
  }
  EXPECT_GT(moved, 25);
  EXPECT_LT(moved, 80);
}

TEST(Timetable, LosesAZoneAtOnceAndRestartsOneAfterTheOther) {
  const Timetable zone(Five(Failures::kZone));
  ASSERT_THAT(zone.outages(), testing::SizeIs(2));
  EXPECT_EQ(zone.outages()[0].from, zone.outages()[1].from);
  const Timetable rolling(Five(Failures::kRolling));
  std::set<int> restarted;
  for (const Outage& outage : rolling.outages()) {
    restarted.insert(outage.controller);
    EXPECT_EQ(outage.gone, outage.from);
    EXPECT_NE(rolling.At(outage.controller, outage.from), nullptr);
    EXPECT_EQ(rolling.At(outage.controller, outage.until), nullptr);
  }
  EXPECT_THAT(restarted, testing::SizeIs(5));
}

TEST(Timetable, KeysOfTheKilledStayUntilTheirLeaseEnds) {
  const Options options = Five(Failures::kCrash);
  const Timetable crash(options);
  ASSERT_FALSE(crash.outages().empty());
  for (const Outage& outage : crash.outages()) {
    EXPECT_GE(outage.gone - outage.from, options.etcd_lease * 2 / 3);
    EXPECT_LE(outage.gone - outage.from, options.etcd_lease);
    EXPECT_GT(outage.until, outage.gone);
  }
}

TEST(Workload, SomeDependenciesHaveThousandsAndMostAHundred) {
  Options options;
  options.agents = 20'000;
  const Workload workload = MakeWorkload(options);
  EXPECT_GT(workload.members_max, 700);
  EXPECT_GT(workload.members_median, 15);
  EXPECT_LT(workload.members_median, 40);
  EXPECT_GE(workload.memberships, workload.sessions);
  std::int64_t sessions = 0;
  for (const ShardLoad& shard : workload.shards) sessions += std::ssize(shard.agents);
  EXPECT_EQ(sessions, workload.sessions);
}

TEST(VirtualEtcd, WritesOnlyWhatItsGuardAllows) {
  VirtualEtcd etcd;
  EtcdTxn take;
  take.compare = {{"leader", EtcdCompare::Target::kCreateRevision, 0}};
  take.success = {EtcdPut{"leader", "a", 7}};
  take.failure = {EtcdRange{.key = "leader"}};
  const EtcdTxnResult first = etcd.Do(take);
  EXPECT_TRUE(first.succeeded);
  const EtcdTxnResult second = etcd.Do(take);
  EXPECT_FALSE(second.succeeded);
  ASSERT_THAT(second.ranges, testing::SizeIs(1));
  EXPECT_EQ(second.ranges[0].kvs[0].create_revision, first.revision);
  EXPECT_FALSE(etcd.EndLease(8));
  EXPECT_TRUE(etcd.EndLease(7));
  EXPECT_TRUE(etcd.Do(take).succeeded);
}

TEST(Books, SayWhenASumIsAboveTheQuota) {
  Figures figures;
  Books books({PolicyOf(5)}, figures);
  books.Replace(0, {}, {.limit = 3, .running = 2, .wanted = 4}, Instant{});
  books.Replace(0, {}, {.limit = 2, .running = 2, .wanted = 1}, Instant{});
  EXPECT_EQ(figures.violations, 0);
  EXPECT_EQ(figures.limits_max, 1);
  EXPECT_EQ(books.usable(), 5);
  EXPECT_EQ(books.used(), 4);
  books.Replace(0, {}, {.limit = 1}, Instant{});
  EXPECT_EQ(figures.violations, 1);
  EXPECT_THAT(figures.first_violation, testing::HasSubstr("limits sum to 6 of 5"));
  books.Replace(0, {}, {.running = 2}, Instant{});
  books.CheckReserved(0, 6, Instant{});
  books.CheckCovered(0, 2, {.limit = 3}, Instant{});
  EXPECT_EQ(figures.violations, 4);
  books.CheckCovered(0, 3, {.limit = 3}, Instant{});
  EXPECT_EQ(figures.violations, 4);
}

class ShareTest : public ::testing::Test {
 protected:
  void Grant(Calls limit, Calls base, absl::Duration lease) {
    internal::StepFunction function;
    function.steps = {limit, base, 0};
    function.limit_end = clock_.Now() + lease;
    function.base_end = clock_.Now() + absl::Minutes(10);
    function.call_deadline = absl::Seconds(3);
    share_.Install(function, clock_.Now());
  }
  void Pass(absl::Duration time) {
    const Instant end = world_.now() + time;
    bool more = true;
    while (more) more = world_.queue.Step(end);
    world_.queue.AdvanceTo(end);
  }

  const Options options_ = Five(Failures::kNone);
  const Timetable timetable_{options_};
  Figures figures_;
  ShardWorld world_{options_, timetable_, 0, {PolicyOf(100)}, figures_};
  const VirtualClock clock_ = world_.MakeClock();
  Share share_{world_, clock_, 0};
};

TEST_F(ShareTest, RunsWhatIsWantedAndAllowed) {
  share_.Want(5);
  EXPECT_EQ(share_.has().running, 0);
  Grant(3, 1, absl::Seconds(10));
  EXPECT_EQ(share_.has().running, 3);
  const internal::Measurement measured = share_.Measure(clock_.Now(), absl::Seconds(1));
  EXPECT_EQ(measured.in_flight, 3);
  EXPECT_EQ(measured.waiting, 2);
}

TEST_F(ShareTest, LetsCallsAboveALoweredLimitRunToTheirEnd) {
  share_.Want(5);
  Grant(5, 1, absl::Seconds(10));
  Grant(2, 1, absl::Seconds(10));
  EXPECT_EQ(share_.has().limit, 2);
  EXPECT_EQ(share_.has().running, 5);
  Pass(absl::Seconds(3.1));
  EXPECT_EQ(share_.has().running, 2);
}

TEST_F(ShareTest, FallsToTheBaseWhenTheLeaseEnds) {
  share_.Want(5);
  Grant(4, 1, absl::Seconds(2));
  Pass(absl::Seconds(1));
  Grant(4, 1, absl::Seconds(2));
  Pass(absl::Seconds(1.5));
  EXPECT_EQ(share_.has().limit, 4);
  Pass(absl::Seconds(1));
  EXPECT_EQ(share_.has().limit, 1);
}

TEST(Report, TellsHowFarRequestsFallBehind) {
  // Ten a second too many for one second, then room for half as many again.
  std::vector<std::int64_t> requests(10, 11);
  requests.resize(40, 5);
  EXPECT_NEAR(WorstDelay(requests, 100), 0.1, 1e-9);
  EXPECT_EQ(WorstDelay(requests, 1000), 0);
}

TEST(Report, AddsUpSecondsAndScalesSamples) {
  Figures figures;
  for (int i = 0; i < 20; ++i) {
    figures.Add(Count::kSyncs, Instant{i * kBinNs}, i < 15 ? 1 : 4);
  }
  EXPECT_EQ(figures.Total(Count::kSyncs), 35);
  EXPECT_EQ(figures.PeakPerSecond(Count::kSyncs), 25);
  figures.Scale(2);
  EXPECT_EQ(figures.Total(Count::kSyncs), 70);
}

TEST(Rounds, AllShardsThatAskMeanwhileShareTheNext) {
  Options options;
  options.etcd_min = options.etcd_max = absl::Milliseconds(10);
  const auto at = [](int ms) { return Instant{} + absl::Milliseconds(ms); };
  EXPECT_THAT(RoundsOf({at(7), at(0), at(100), at(3), at(115)}, options, Random(1)),
              ::testing::ElementsAre(at(0), at(10), at(100), at(115)));
}

TEST(Rounds, OneRoundAsksForAtMostAsManyShardsAsATransactionMayRead) {
  Options options;
  const std::vector<Instant> asked(300, Instant{} + absl::Seconds(1));
  EXPECT_EQ(RoundsOf(asked, options, Random(1)).size(), 4U) << "the first alone, then 128 each";
}

}  // namespace
}  // namespace plimsoll::scale
