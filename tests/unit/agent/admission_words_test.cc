#include "agent/src/admission_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "plimsoll/core/random.h"
#include "tests/unit/agent/limiter_support.h"

namespace plimsoll::internal {
namespace {

constexpr Steps kSteps{40, 10, 2};

TEST(AdmissionWordsTest, AllowNothingAtFirst) {
  const AdmissionWords words;
  EXPECT_EQ(words.LimitAt(Instant{0}), 0);
  EXPECT_EQ(words.Highest(), 0);
}

// Starts far from, and shortly before, the wrap of the end times at 2^44 units.
class AdmissionWordsTest : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(AdmissionWordsTest, FollowTheStepFunctionAndNeverExceedIt) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Instant start{GetParam()};
    const Instant limit_end = start + absl::Nanoseconds(random.Below(50'000'000));
    const Instant base_end = limit_end + absl::Nanoseconds(random.Below(50'000'000));
    const StepFunction function = MakeFunction(1, kSteps, limit_end, base_end);
    AdmissionWords words;
    words.Store(function, start);
    for (Instant at = start; at < base_end + absl::Milliseconds(5);
         at = at + absl::Nanoseconds(1 + random.Below(100'000))) {
      ASSERT_LE(words.LimitAt(at), function.InForce(at));
      ASSERT_GE(words.LimitAt(at), function.InForce(at + absl::Nanoseconds(1 << kUnitLog2)));
      ASSERT_LE(words.LimitAt(at), words.Highest());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Starts, AdmissionWordsTest,
                         ::testing::Values(0, 1'000'000'000, (std::int64_t{1} << 54) - 20'000'000,
                                           (std::int64_t{1} << 62)));

TEST(AdmissionWordsTest, HoldTheLargestLimit) {
  AdmissionWords words;
  words.Store(MakeFunction(1, {kCallsMax, 0, 0}, Instant{1'000'000}, Instant{2'000'000}),
              Instant{0});
  EXPECT_EQ(words.LimitAt(Instant{0}), kCallsMax);
}

TEST(AdmissionWordsTest, AStepThatHasEndedDoesNotComeBackAfterMonths) {
  const Instant limit_end{1'000'000'000};
  const Instant base_end{2'000'000'000};
  const StepFunction function = MakeFunction(1, kSteps, limit_end, base_end);
  AdmissionWords words;
  for (Instant now{0}; now < Instant{} + absl::Hours(24 * 400); now = now + absl::Hours(24 * 20)) {
    words.Store(function, now);  // as the agent's thread does when a step has ended
    ASSERT_EQ(words.LimitAt(now), function.InForce(now)) << now.ns;
    ASSERT_LE(words.LimitAt(now + absl::Hours(24 * 20)), function.InForce(now)) << now.ns;
  }
}

TEST(AdmissionWordsTest, AnEndThatIsTooFarAwayIsBroughtNearer) {
  AdmissionWords words;
  words.Store(MakeFunction(1, kSteps, kInfiniteFuture, kInfiniteFuture), Instant{0});
  EXPECT_EQ(words.LimitAt(Instant{} + absl::Hours(24 * 49)), kSteps.limit);
  EXPECT_EQ(words.LimitAt(Instant{} + absl::Hours(24 * 51)), kSteps.reserve);
}

TEST(AdmissionWordsTest, ZeroAllowsNothingAtAnyTime) {
  AdmissionWords words;
  words.Store(MakeFunction(1, kSteps, kInfiniteFuture, kInfiniteFuture), Instant{0});
  words.StoreZero();
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{1} << 40, std::int64_t{1} << 62}) {
    EXPECT_EQ(words.LimitAt(Instant{ns}), 0);
  }
}

// Rule A3, on the two classes that carry it: whatever way the two accesses of a caller and the two
// of the agent's thread interleave, a call that was admitted by the older word is in the number
// that acknowledges the newer one. Each of the four orders is run through all six interleavings.
class AdmissionOrder {
 public:
  enum class Caller { kEnterThenLoad, kLoadThenEnter };
  enum class Agent { kStoreThenRead, kReadThenStore };

  static int CountUnsafe(Caller caller, Agent agent) {
    int unsafe = 0;
    std::array<bool, 4> callers_turn{true, true, false, false};
    do {
      unsafe += AdmissionOrder().RunIsUnsafe(caller, agent, callers_turn) ? 1 : 0;
    } while (std::prev_permutation(callers_turn.begin(), callers_turn.end()));
    return unsafe;
  }

 private:
  bool RunIsUnsafe(Caller caller, Agent agent, const std::array<bool, 4>& callers_turn) {
    words_.Store(MakeFunction(1, {1, 0, 0}, Instant{1'000'000}, Instant{1'000'000}), now_);
    std::vector<std::function<void()>> caller_accesses = {
        [this] { in_flight_.Enter(now_); }, [this] { limit_ = words_.LimitAt(now_); }};
    std::vector<std::function<void()>> agent_accesses = {
        [this] {
          words_.Store(MakeFunction(2, {0, 0, 0}, Instant{1'000'000}, Instant{1'000'000}), now_);
        },
        [this] { acknowledged_ = in_flight_.Read().calls; }};
    if (caller == Caller::kLoadThenEnter) std::swap(caller_accesses[0], caller_accesses[1]);
    if (agent == Agent::kReadThenStore) std::swap(agent_accesses[0], agent_accesses[1]);
    std::size_t caller_next = 0;
    std::size_t agent_next = 0;
    for (const bool turn : callers_turn) {
      turn ? caller_accesses[caller_next++]() : agent_accesses[agent_next++]();
    }
    const bool admitted = limit_ == 1;
    return admitted && acknowledged_ == 0;
  }

  const Instant now_{1000};
  AdmissionWords words_;
  InFlight in_flight_;
  Calls limit_ = -1;
  Calls acknowledged_ = -1;
};

TEST(AdmissionOrderTest, EnterThenLoadAgainstStoreThenReadIsSafe) {
  EXPECT_EQ(AdmissionOrder::CountUnsafe(AdmissionOrder::Caller::kEnterThenLoad,
                                        AdmissionOrder::Agent::kStoreThenRead),
            0);
}

TEST(AdmissionOrderTest, EveryOtherOrderIsNot) {
  using Caller = AdmissionOrder::Caller;
  using Agent = AdmissionOrder::Agent;
  EXPECT_GT(AdmissionOrder::CountUnsafe(Caller::kLoadThenEnter, Agent::kStoreThenRead), 0);
  EXPECT_GT(AdmissionOrder::CountUnsafe(Caller::kEnterThenLoad, Agent::kReadThenStore), 0);
  EXPECT_GT(AdmissionOrder::CountUnsafe(Caller::kLoadThenEnter, Agent::kReadThenStore), 0);
}

}  // namespace
}  // namespace plimsoll::internal
