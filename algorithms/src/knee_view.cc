#include "algorithms/src/knee_view.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::internal {
namespace {

// A replica meets its limit if it refuses more than this, or is full for so long, with most of its
// limit in use.
constexpr double kRejectedShare = 0.02;
constexpr double kAtLimitShare = 0.5;
constexpr double kUsedShare = 0.75;
// Who refuses so many meets it with less in use on average: where calls differ much in length, the
// dependency empties and fills again, and to look only at who was full is a choice by the outcome.
constexpr double kRefusesMuch = 0.1;
constexpr double kUsedShareRefusing = 0.5;
constexpr double kBindingShare = 0.5;

ReplicaView LookAtReplica(const ReplicaEpoch& epoch, KneeMode mode) {
  ReplicaView view;
  const double seconds = absl::ToDoubleSeconds(epoch.length);
  if (!(seconds > 0)) return view;
  const double in_flight = std::max(0.0, absl::ToDoubleSeconds(epoch.in_flight));
  const auto ended = static_cast<double>(epoch.succeeded + epoch.failed);
  const auto rejected = static_cast<double>(epoch.rejected);
  view.x = static_cast<double>(epoch.succeeded) / seconds;
  view.n = in_flight / seconds;
  view.ended = ended > 0 && in_flight > 0;
  view.seen = view.ended || rejected > 0;
  view.steady = epoch.steady;
  if (view.ended) view.ln_r = std::log(in_flight / ended);
  const bool full = rejected > kRejectedShare * (ended + rejected) ||
                    absl::ToDoubleSeconds(epoch.at_limit) > kAtLimitShare * seconds;
  // In a shared pool nobody is left out of the totals, and parts of one call refuse whatever is
  // used.
  const bool refuses_much =
      mode == KneeMode::kPerReplica && rejected > kRefusesMuch * (ended + rejected);
  view.saturated = full && view.n > (refuses_much ? kUsedShareRefusing : kUsedShare) * epoch.limit;
  return view;
}

double Median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

EpochView LookAt(const KneeEpoch& epoch, const KneeState& state, KneeMode mode) {
  EpochView view;
  view.replicas.resize(state.replicas.size());
  std::vector<double> latencies;
  double saturated_n = 0;
  for (std::size_t i = 0; i < view.replicas.size() && i < epoch.replicas.size(); ++i) {
    if (!state.replicas[i].present) continue;
    const ReplicaEpoch& measured = epoch.replicas[i];
    const ReplicaView& replica = view.replicas[i] = LookAtReplica(measured, mode);
    if (!replica.seen) continue;
    ++view.seen;
    view.x += replica.x;
    view.n += replica.n;
    view.ended += measured.succeeded + measured.failed;
    view.failed += measured.failed;
    view.ended_per_second += static_cast<double>(measured.succeeded + measured.failed) /
                             absl::ToDoubleSeconds(measured.length);
    if (replica.ended) latencies.push_back(replica.ln_r);
    if (!replica.saturated) continue;
    ++view.saturated;
    saturated_n += replica.n;
  }
  if (view.seen == 0) return view;
  const bool shared = mode == KneeMode::kShared;
  view.saturated_share = shared ? (view.n > 0 ? saturated_n / view.n : 0)
                                : static_cast<double>(view.saturated) / view.seen;
  view.binding = view.saturated > 0 && view.saturated_share >= kBindingShare;
  view.latency_known = !latencies.empty();
  if (!view.latency_known) return view;
  view.ln_r = shared ? std::log(view.n / view.ended_per_second) : Median(latencies);
  return view;
}

}  // namespace plimsoll::internal
