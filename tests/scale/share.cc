#include "tests/scale/share.h"

#include <algorithm>
#include <utility>

namespace plimsoll::scale {
namespace {

constexpr double kCallMeanSeconds = 0.2;

}  // namespace

Share::Share(ShardWorld& world, const VirtualClock& clock, std::size_t dependency)
    : world_(world), clock_(clock), dependency_(dependency) {}

void Share::Install(const internal::StepFunction& function, Instant now) {
  function_ = function;
  Settle();
  AwaitStep(now);
}

internal::Measurement Share::Measure(Instant /*now*/, absl::Duration /*interval*/) {
  internal::Measurement measured;
  measured.in_flight = has_.running;
  measured.in_flight_max = std::exchange(most_, has_.running);
  measured.waiting = std::max(0, has_.wanted - has_.running);
  return measured;
}

void Share::Want(Calls wanted) {
  Tally next = has_;
  next.wanted = wanted;
  Become(next);
  Settle();
}

void Share::Settle() {
  const Instant now = clock_.Now();
  Tally next = has_;
  next.limit = function_.InForce(now);
  next.running = std::max(next.running, next.used());
  Become(next);
  if (ending_ || has_.running <= has_.used()) return;
  ending_ = true;
  const absl::Duration deadline = std::min(function_.call_deadline, absl::Seconds(3));
  // A hair less: the clock's true time is rounded up.
  all_ended_ = now + deadline - absl::Nanoseconds(2);
  world_.After(absl::Seconds(world_.random.Exponential(kCallMeanSeconds / has_.running)),
               [this] { EndCalls(); });
}

void Share::EndCalls() {
  if (has_.running <= has_.used()) {
    ending_ = false;
    return;
  }
  Tally next = has_;
  --next.running;
  if (clock_.Now() >= all_ended_) next.running = next.used();
  Become(next);
  if (has_.running <= has_.used()) {
    ending_ = false;
    return;
  }
  const Instant next_end =
      world_.now() + absl::Seconds(world_.random.Exponential(kCallMeanSeconds / has_.running));
  world_.queue.At(std::min(next_end, clock_.TrueTimeOf(all_ended_)), [this] { EndCalls(); });
}

// One step is awaited at a time: when it comes, it may have moved on.
void Share::AwaitStep(Instant now) {
  if (awaits_step_) return;
  const Instant end = now < function_.limit_end ? function_.limit_end : function_.base_end;
  if (end <= now) return;
  awaits_step_ = true;
  world_.queue.At(clock_.TrueTimeOf(end), [this] {
    awaits_step_ = false;
    Settle();
    AwaitStep(clock_.Now());
  });
}

void Share::Become(const Tally& next) {
  world_.books.Replace(dependency_, has_, next, world_.now());
  has_ = next;
  most_ = std::max(most_, has_.running);
}

}  // namespace plimsoll::scale
