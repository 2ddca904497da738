// The gathering in windows written down a second time.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/mutants.h"

namespace plimsoll {
namespace {

class WindowedMutant {
 public:
  WindowedMutant(const WindowedConfig& config, WindowedFault fault)
      : config_(config), fault_(fault) {}

  std::optional<Observation> operator()(const TraceSample& sample) {
    const bool is_short = absl::Nanoseconds(sample.rtt_ns) < config_.latency_min;
    if (is_short && !Has(WindowedFault::kThresholdIgnored)) return std::nullopt;
    const std::int64_t end = sample.start_ns + (Has(WindowedFault::kFromStart) ? 0 : sample.rtt_ns);
    const bool ends = end > next_;
    const bool left_out = ends && Has(WindowedFault::kLastCallLeftOut);
    if (!left_out && (HasRoom() || Has(WindowedFault::kCapIgnored))) window_.push_back(sample);
    if (!ends || window_.empty()) return std::nullopt;
    next_ = end + Length();
    const int least = config_.samples_min + (Has(WindowedFault::kNeedsMore) ? 1 : 0);
    const bool enough = static_cast<int>(window_.size()) >= least;
    std::optional<Observation> observation;
    if (enough) observation = Observe();
    if (enough || !Has(WindowedFault::kTooFewKept)) window_.clear();
    if (left_out) window_.push_back(sample);
    return observation;
  }

 private:
  bool Has(WindowedFault fault) const { return fault_ == fault; }
  bool HasRoom() const {
    return !config_.percentile || static_cast<int>(window_.size()) < config_.percentile_calls;
  }

  std::vector<std::int64_t> Sorted() const {
    std::vector<std::int64_t> latencies;
    for (const TraceSample& sample : window_) latencies.push_back(sample.rtt_ns);
    std::sort(latencies.begin(), latencies.end());
    return latencies;
  }
  std::int64_t Mean() const {
    std::int64_t sum = 0;
    for (const TraceSample& sample : window_) sum += sample.rtt_ns;
    return sum / static_cast<std::int64_t>(window_.size());
  }

  std::int64_t Length() const {
    std::int64_t length = Has(WindowedFault::kTwiceTheMean) ? Mean() : Sorted().front();
    if (!Has(WindowedFault::kNotDoubled)) length *= 2;
    length = std::max(length, absl::ToInt64Nanoseconds(config_.window_min));
    if (Has(WindowedFault::kUnbounded)) return length;
    return std::min(length, absl::ToInt64Nanoseconds(config_.window_max));
  }

  std::int64_t Latency() const {
    if (!config_.percentile) return Mean();
    const double rank = static_cast<double>(window_.size()) * *config_.percentile;
    const double whole =
        Has(WindowedFault::kRankRoundedUp) ? std::ceil(rank) : std::floor(rank + 0.5);
    return Sorted()[static_cast<std::size_t>(whole) - 1];
  }

  Observation Observe() const {
    const auto dropped = [](const TraceSample& sample) { return sample.dropped; };
    const auto less = [](const TraceSample& a, const TraceSample& b) {
      return a.in_flight < b.in_flight;
    };
    Observation observation;
    observation.latency = absl::Nanoseconds(Latency());
    observation.samples = static_cast<std::int64_t>(window_.size());
    observation.in_flight = std::max_element(window_.begin(), window_.end(), less)->in_flight;
    if (Has(WindowedFault::kLastInFlight)) observation.in_flight = window_.back().in_flight;
    observation.dropped = Has(WindowedFault::kAllMustDrop)
                              ? std::all_of(window_.begin(), window_.end(), dropped)
                              : std::any_of(window_.begin(), window_.end(), dropped);
    if (Has(WindowedFault::kDropsIgnored)) observation.dropped = false;
    return observation;
  }

  const WindowedConfig config_;
  const WindowedFault fault_;
  std::int64_t next_ = 0;
  std::vector<TraceSample> window_;
};

constexpr std::array<std::string_view, static_cast<std::size_t>(WindowedFault::kEnd)>
    kWindowedNames = {
        "None",        "FromStart",    "LastCallLeftOut", "TooFewKept",       "TwiceTheMean",
        "NotDoubled",  "Unbounded",    "NeedsMore",       "ThresholdIgnored", "DropsIgnored",
        "AllMustDrop", "LastInFlight", "RankRoundedUp",   "CapIgnored"};

}  // namespace

std::string_view ToString(WindowedFault fault) {
  return kWindowedNames.at(static_cast<std::size_t>(fault));
}

Gather MakeMutant(const WindowedConfig& config, WindowedFault fault) {
  return WindowedMutant(config, fault);
}

}  // namespace plimsoll
