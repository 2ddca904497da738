#pragma once

#include <memory>
#include <string_view>

#include "plimsoll/algorithms/algorithm.h"
#include "tests/conformance/replay.h"

namespace plimsoll {

// What can go wrong when a law is written down once more. kNone is the control: an implementation
// from the pseudo-code, apart from the product's, that must agree with every trace.
enum class AimdFault {
  kNone,
  kHalfExcluded,      // 2 * in_flight > L
  kRounded,           // L * backoff rounded instead of truncated
  kDropsNeedUse,      // a drop while under half of the limit is in use does not cut
  kLatencyIgnored,    // slow calls are fine
  kThresholdDoubled,  // slow is more than twice the time-out
  kNoFloor,
  kNoCeiling,
  kEnd,
};
// Lowering the average before it is compared with is not among the faults: where it is lowered the
// gradient is 1 either way, so that no limit tells.
enum class Gradient2Fault {
  kNone,
  kNoDecay,           // the average is not lowered by 0.95
  kLearnsLater,       // compares with the average of the samples before this one
  kLearnsInUseOnly,   // app-limited samples do not enter the average
  kNoWarmup,          // exponential from the first sample
  kWindowOffByOne,    // f = 2 / long_window
  kHalfIncluded,      // in_flight <= est / 2 counts as app-limited
  kHalfOfInteger,     // in_flight < trunc(est) / 2, in whole calls
  kToleranceLast,     // tolerance applied after the gradient was capped at 1
  kClampsFirst,       // floor and ceiling before smoothing
  kSmoothingSwapped,  // the old limit gets the weight of the new
  kQueueUnsmoothed,   // the queue is added after smoothing
  kDropsCut,          // what Plimsoll does outside of reference-exact mode
  kFusedMultiplyAdd,  // one rounding where the reference has two
  kSinglePrecision,   // the average in float
  kEnd,
};

enum class VegasFault {
  kNone,
  kProbeKeepsCount,    // the count of samples goes on after a probe
  kProbeLater,         // jitter * multiplier * est < count
  kProbeGoesOn,        // a probe moves the limit as well
  kLearningGoesOn,     // a lower latency moves the limit as well
  kDropsNotLearnt,     // a dropped call is no baseline
  kDropsNeedUse,       // a drop while under half of the limit is in use does not cut
  kHalfIncluded,       // 2 * in_flight <= est counts as app-limited
  kQueueRoundedDown,   // floor instead of ceil
  kThresholdExcluded,  // q < threshold
  kAlphaIncluded,      // q <= alpha
  kBetaIncluded,       // q >= beta
  kThresholdAddsStep,  // the step instead of beta
  kLogOfOneIsZero,     // the logarithm of a small limit is 0
  kHalvesInteger,      // limit / 2 in whole calls
  kClampsLast,         // floor and ceiling after smoothing
  kJitterLeftOut,      // multiplier * est
  kEnd,
};
enum class GradientFault {
  kNone,
  kProbeLater,          // the countdown must pass zero
  kProbeKeepsBaseline,  // the lowest latency survives a probe
  kProbeToFloor,        // down to the floor, whatever the queue
  kProbeGoesOn,         // a probe's sample is used as well
  kDropsNotLearnt,      // a dropped call is no baseline
  kDropsNeedUse,        // a drop while under half of the limit is in use does not cut
  kDropsUnsmoothed,     // drops cut at once
  kHalfIncluded,        // in_flight <= est / 2 counts as app-limited
  kSmoothsRises,        // rises are smoothed as well
  kUnsmoothed,          // falls are not
  kQueueNoFloor,        // the queue does not hold the limit up
  kQueueOfDouble,       // the square root is not truncated
  kToleranceLast,       // tolerance applied after the gradient was capped at 1
  kGradientUnbounded,   // may fall below 0.5
  kEnd,
};
enum class WindowedFault {
  kNone,
  kFromStart,         // a window ends by the start of a call
  kLastCallLeftOut,   // the call that ends a window belongs to the next
  kTooFewKept,        // a window of too few calls goes on
  kTwiceTheMean,      // twice the mean instead of twice the shortest
  kNotDoubled,        // the shortest instead of twice that
  kUnbounded,         // no longest window
  kNeedsMore,         // more than windowSize calls
  kThresholdIgnored,  // short calls count
  kDropsIgnored,      // a window is never dropped
  kAllMustDrop,       // one that succeeded makes up for drops
  kLastInFlight,      // the last in_flight instead of the most
  kRankRoundedUp,     // of the percentile
  kCapIgnored,        // the percentile of all calls
  kEnd,
};

std::string_view ToString(AimdFault fault);
std::string_view ToString(Gradient2Fault fault);
std::string_view ToString(VegasFault fault);
std::string_view ToString(GradientFault fault);
std::string_view ToString(WindowedFault fault);

std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, AimdFault fault);
std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, Gradient2Fault fault);
std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, VegasFault fault);
std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, GradientFault fault);
Gather MakeMutant(const WindowedConfig& config, WindowedFault fault);

}  // namespace plimsoll
