#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "controller/simulation/src/event_queue.h"
#include "controller/simulation/src/network.h"
#include "controller/simulation/src/virtual_store.h"
#include "controller/simulation/src/world.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plimsoll/core/random.h"
#include "plimsoll/simulation/scenario.h"
#include "plimsoll/simulation/virtual_clock.h"

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr Instant Second(int n) { return {n * std::int64_t{1'000'000'000}}; }

void RunAll(EventQueue& queue) {
  while (queue.Step(kInfiniteFuture)) {
  }
}

TEST(VirtualClockTest, RunsAtItsRateFromItsStart) {
  TrueTime time;
  const VirtualClock clock(time, 0.5, Second(100));
  EXPECT_EQ(clock.Now(), Second(100));
  time.AdvanceTo(Second(10));
  EXPECT_EQ(clock.Now(), Second(105));
}

TEST(VirtualClockTest, HasReachedAnInstantAtItsTrueTime) {
  TrueTime time;
  const VirtualClock clock(time, 1.0 / 3, Second(100));
  const Instant at{Second(100).ns + 123'456'789};
  time.AdvanceTo(clock.TrueTimeOf(at));
  EXPECT_GE(clock.Now(), at);
  EXPECT_LE(clock.Now() - at, absl::Nanoseconds(2));
}

TEST(VirtualClockTest, NeverReachesTheInfiniteFuture) {
  const TrueTime time;
  EXPECT_EQ(VirtualClock(time, 1, Second(1)).TrueTimeOf(kInfiniteFuture), kInfiniteFuture);
}

TEST(EventQueueTest, GoesByTimeAndThenByOrder) {
  EventQueue queue;
  std::vector<int> happened;
  queue.At(Second(2), [&] { happened.push_back(3); });
  queue.At(Second(1), [&] { happened.push_back(1); });
  queue.At(Second(1), [&] { happened.push_back(2); });
  RunAll(queue);
  EXPECT_THAT(happened, ElementsAre(1, 2, 3));
  EXPECT_EQ(queue.now(), Second(2));
}

TEST(EventQueueTest, StopsBeforeItsEndAndForgetsWhatIsNever) {
  EventQueue queue;
  queue.After(absl::InfiniteDuration(), [] { FAIL(); });
  queue.At(Second(5), [] { FAIL(); });
  EXPECT_FALSE(queue.Step(Second(5)));
}

TEST(PausableTest, WhatIsDueInAPauseHappensAfterItInOrder) {
  EventQueue queue;
  Pausable process(queue);
  std::vector<int> happened;
  process.PauseUntil(Second(10));
  for (int i = 1; i <= 3; ++i) {
    queue.At(Second(i), [&, i] { process.Deliver([&, i] { happened.push_back(i); }); });
  }
  while (queue.Step(Second(10))) {
  }
  EXPECT_THAT(happened, IsEmpty());
  RunAll(queue);
  EXPECT_THAT(happened, ElementsAre(1, 2, 3));
}

class NetworkTest : public testing::Test {
 protected:
  int Arrivals(const NetworkFaults& faults, int messages) {
    Scenario scenario;
    scenario.network = faults;
    Network network(scenario, queue_, random_);
    int arrived = 0;
    for (int i = 0; i < messages; ++i) {
      network.Send(0, 0, Direction::kToController, [&] { ++arrived; });
    }
    RunAll(queue_);
    return arrived;
  }

  EventQueue queue_;
  Random random_{1};
};

TEST_F(NetworkTest, WithoutFaultsEverythingArrivesOnce) { EXPECT_EQ(Arrivals({}, 100), 100); }

TEST_F(NetworkTest, LosesAndDoublesTheShareItShould) {
  EXPECT_EQ(Arrivals({.loss = 1}, 100), 0);
  EXPECT_EQ(Arrivals({.duplicate = 1}, 100), 200);
  EXPECT_NEAR(Arrivals({.loss = 0.5}, 1000), 500, 60);
}

TEST_F(NetworkTest, ACutIsOneWayAndEnds) {
  Network network(Scenario{}, queue_, random_);
  std::vector<int> arrived;
  network.Cut(0, 0, Direction::kToAgent, Second(5));
  network.Send(0, 0, Direction::kToAgent, [&] { arrived.push_back(1); });
  network.Send(0, 0, Direction::kToController, [&] { arrived.push_back(2); });
  network.Send(1, 0, Direction::kToAgent, [&] { arrived.push_back(3); });
  queue_.At(Second(5),
            [&] { network.Send(0, 0, Direction::kToAgent, [&] { arrived.push_back(4); }); });
  RunAll(queue_);
  EXPECT_THAT(arrived, UnorderedElementsAre(2, 3, 4));
}

class VirtualStoreTest : public testing::Test {
 protected:
  static WriteBatch Put(Calls limit) {
    Bound bound;
    bound.key = {SimulatedDependency(), SessionId("1-1")};
    bound.steps = {limit, 0, 0};
    WriteBatch batch;
    batch.put.push_back(bound);
    return batch;
  }
  static Scenario With(DiskFaults faults, int controllers = 1) {
    Scenario scenario;
    scenario.disk = faults;
    scenario.controllers = controllers;
    return scenario;
  }
  static Calls Found(VirtualStore& store) {
    store.TakeOver();
    const StoreState state = store.Read();
    return state.bounds.empty() ? 0 : state.bounds[0].steps.limit;
  }

  EventQueue queue_;
  Random random_{1};
};

TEST_F(VirtualStoreTest, WhatIsAcknowledgedIsFoundByTheNextReign) {
  VirtualStore store(With({}), queue_, random_);
  const Epoch first = store.TakeOver();
  EXPECT_EQ(store.Read().condition, StoreCondition::kNew);
  absl::Status status = absl::UnknownError("not yet");
  store.Commit(0, first, Put(7), [&](absl::Status result) { status = std::move(result); });
  RunAll(queue_);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(store.TakeOver(), Epoch(2));
  const StoreState state = store.Read();
  EXPECT_EQ(state.condition, StoreCondition::kWhole);
  ASSERT_EQ(state.bounds.size(), 1U);
  EXPECT_EQ(state.bounds[0].steps.limit, 7);
}

TEST_F(VirtualStoreTest, ATakeOverDuringACommitFindsEitherStateAndFencesTheRest) {
  std::set<Calls> found;
  for (int i = 0; i < 50; ++i) {
    VirtualStore store(With({}), queue_, random_);
    const Epoch first = store.TakeOver();
    absl::Status status;
    store.Commit(0, first, Put(7), [&](absl::Status result) { status = std::move(result); });
    Calls limit = 0;
    queue_.After(absl::Milliseconds(2), [&] { limit = Found(store); });
    RunAll(queue_);
    EXPECT_EQ(status.ok(), limit == 7) << status;
    EXPECT_EQ(Found(store), limit) << "landed after the take-over";
    found.insert(limit);
  }
  EXPECT_THAT(found, ElementsAre(0, 7));
}

TEST_F(VirtualStoreTest, AFailedCommitLeavesEitherStateBehind) {
  std::set<Calls> found;
  for (int i = 0; i < 50; ++i) {
    VirtualStore store(With({.failure = 1}), queue_, random_);
    const Epoch first = store.TakeOver();
    store.Commit(0, first, Put(7), [](const absl::Status& status) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    });
    RunAll(queue_);
    found.insert(Found(store));
  }
  EXPECT_THAT(found, ElementsAre(0, 7));
}

TEST_F(VirtualStoreTest, ConfirmsOnlyTheReignThatStands) {
  VirtualStore store(With({}, 2), queue_, random_);
  const Epoch first = store.TakeOver();
  EXPECT_FALSE(store.Read().exclusive);
  absl::Status of_first;
  absl::Status of_second = absl::UnknownError("not yet");
  const Epoch second = store.TakeOver();
  store.Confirm(0, first, [&](absl::Status result) { of_first = std::move(result); });
  store.Confirm(1, second, [&](absl::Status result) { of_second = std::move(result); });
  RunAll(queue_);
  EXPECT_EQ(of_first.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(of_second.ok());
}

TEST_F(VirtualStoreTest, WhatIsLostStaysLostUntilItHasBeenLearned) {
  VirtualStore store(With({}), queue_, random_);
  store.TakeOver();
  store.Lose();
  for (int i = 0; i < 2; ++i) {
    const Epoch reign = store.TakeOver();
    EXPECT_EQ(store.Read().condition, StoreCondition::kLost);
    store.Commit(0, reign, Put(7), [](const absl::Status&) {});
    RunAll(queue_);
  }
  WriteBatch learned = Put(5);
  learned.learned = true;
  store.Commit(0, store.epoch(), learned, [](const absl::Status&) {});
  RunAll(queue_);
  EXPECT_EQ(Found(store), 5);
}

TEST(ProviderTest, CountsBySessionAndForgetsThoseWithoutCalls) {
  Provider provider;
  provider.Begin(SessionId("1-1"));
  provider.Begin(SessionId("1-2"));
  provider.End(SessionId("1-1"));
  EXPECT_EQ(provider.in_flight(), 1);
  EXPECT_THAT(provider.by_session(), ElementsAre(std::pair(SessionId("1-2"), 1)));
}

}  // namespace
}  // namespace plimsoll::internal
