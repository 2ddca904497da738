#include "controller/simulation/src/etcd_caller.h"

#include <algorithm>
#include <utility>

namespace plimsoll::internal {
namespace {

// An attempt that would have less is not made.
constexpr absl::Duration kShortest = absl::Milliseconds(50);

}  // namespace

absl::Duration EtcdCallTime(const EtcdDay& day) {
  return std::min(absl::Seconds(2), day.lease / 2);
}

EtcdCaller::EtcdCaller(World& world, VirtualEtcd& etcd, int controller, EtcdCounts& counts,
                       Deliver deliver)
    : world_(world),
      etcd_(etcd),
      counts_(counts),
      deliver_(std::move(deliver)),
      member_(controller) {}

void EtcdCaller::Ask(const VirtualClock& clock, EtcdRequest request, Done done) {
  clock_ = &clock;
  sending_ = {std::move(request), std::make_shared<EtcdFate>()};
  done_ = std::move(done);
  tries_ = 0;
  deadline_ = clock.Now() + EtcdCallTime(*world_.scenario.etcd);
  Try();
}

void EtcdCaller::Try() {
  ++tries_;
  const std::int64_t attempt = ++attempt_;
  etcd_.Send(member_, sending_, [this, attempt](const EtcdAnswer& answer) {
    deliver_([this, attempt, answer] { OnAnswer(attempt, answer); });
  });
  const Instant now = clock_->Now();
  const absl::Duration share =
      std::min(std::max(kShortest, deadline_ - now), EtcdCallTime(*world_.scenario.etcd) / 2);
  world_.queue.At(clock_->TrueTimeOf(now + share),
                  [this, attempt] { deliver_([this, attempt] { OnTimeout(attempt); }); });
}

// A refusal counts only if nothing that was sent before may have been done.
void EtcdCaller::OnAnswer(std::int64_t attempt, const EtcdAnswer& answer) {
  if (attempt != attempt_ || !busy()) return;
  if (!answer.status.ok() && tries_ > 1) return OnTimeout(attempt);
  End(answer);
}

void EtcdCaller::OnTimeout(std::int64_t attempt) {
  if (attempt != attempt_ || !busy()) return;
  member_ = (member_ + 1) % world_.scenario.controllers;
  const bool time_left = deadline_ - clock_->Now() >= kShortest;
  if (time_left && tries_ < std::max(2, world_.scenario.controllers)) return Try();
  GiveUp();
}

void EtcdCaller::GiveUp() {
  sending_.fate->given_up = true;
  if (sending_.request.purpose == EtcdPurpose::kWrite) {
    (sending_.fate->landed ? counts_.unknown_landed : counts_.unknown_open) += 1;
  }
  if (sending_.request.purpose == EtcdPurpose::kTake) ++counts_.unknown_takes;
  End({absl::UnavailableError("the virtual etcd does not answer")});
}

void EtcdCaller::End(const EtcdAnswer& answer) {
  const Done done = std::exchange(done_, nullptr);
  done(answer);
}

void EtcdCaller::Reset() {
  if (busy()) sending_.fate->given_up = true;
  done_ = nullptr;
  ++attempt_;
}

}  // namespace plimsoll::internal
