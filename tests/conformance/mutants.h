#pragma once

#include <memory>
#include <string_view>

#include "plimsoll/algorithms/algorithm.h"

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

std::string_view ToString(AimdFault fault);
std::string_view ToString(Gradient2Fault fault);

std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, AimdFault fault);
std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, Gradient2Fault fault);

}  // namespace plimsoll
