#include "agent/examples/demo/stage.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/setup.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demo {
namespace {

constexpr absl::Duration kStep = absl::Milliseconds(10);
constexpr absl::Duration kStartTimeout = absl::Seconds(10);
constexpr double kRecentSeconds = 1;

std::atomic<bool> interrupted{false};

void OnSignal(int) { interrupted.store(true); }

}  // namespace

void CatchSignals() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

Stage::Stage(std::string lane, const LaneOptions& options, Screen& screen)
    : lane_(std::move(lane)),
      options_(options),
      screen_(screen),
      provider_(ProviderModel{}, kQuota, options.seed) {}

absl::Status Stage::Start(int controller_port) {
  absl::Status status = provider_.Start();
  if (!status.ok()) return status;
  FleetOptions fleet{options_.program, provider_.port(), controller_port, options_.seed};
  fleet.observed = options_.observed;
  fleet_ = std::make_unique<Fleet>(std::move(fleet));
  for (int i = 0; i < kReplicas && status.ok(); ++i) {
    status = fleet_->Start(absl::StrCat(kService, "-", i), i == 0 ? kRate * kBusyFactor : kRate);
  }
  const Instant give_up = RealClock().Now() + kStartTimeout;
  while (status.ok() && !fleet_->AllHaveSpoken()) {
    if (interrupted.load()) return absl::CancelledError("interrupted");
    if (RealClock().Now() > give_up) {
      return absl::UnavailableError("not all replicas have started within 10 s");
    }
    status = fleet_->Read(kStep);
  }
  started_ = RealClock().Now();
  fleet_->ResetCounts();
  return status;
}

absl::Status Stage::Step() {
  if (interrupted.load()) return absl::CancelledError("interrupted");
  absl::Status status = fleet_->Read(kStep);
  const Report total = fleet_->Total();
  samples_.push_back({seconds(), total.limit, total.succeeded});
  while (samples_.front().at < seconds() - kRecentSeconds) samples_.pop_front();
  if (screen_.IsDue(seconds())) {
    screen_.Draw(
        {lane_, seconds(), kQuota, provider_.in_flight(), provider_.TakeRecentMax(), total});
  }
  return status;
}

LaneResult Stage::Result() const {
  LaneResult result;
  result.name = lane_;
  result.seconds = seconds();
  result.total = fleet_->Total();
  for (const Replica& replica : fleet_->replicas()) {
    result.shares.push_back({replica.name, replica.calls_per_second, fleet_->MeanLimit(replica),
                             static_cast<double>(replica.total.sent) / result.seconds});
  }
  result.provider_max = provider_.in_flight_max();
  result.violations = provider_.violations();
  return result;
}

void Stage::Stop() {
  fleet_->StopAll();
  screen_.EndLane();
}

double Stage::seconds() const { return absl::ToDoubleSeconds(RealClock().Now() - started_); }

int Stage::recent_limits() const {
  std::vector<int> limits;
  for (const Sample& sample : samples_) limits.push_back(sample.limits);
  if (limits.empty()) return 0;
  const auto middle = limits.begin() + static_cast<std::ptrdiff_t>(limits.size() / 2);
  std::nth_element(limits.begin(), middle, limits.end());
  return *middle;
}

double Stage::recent_goodput() const {
  if (samples_.size() < 2) return 0;
  const std::int64_t succeeded = samples_.back().succeeded - samples_.front().succeeded;
  return static_cast<double>(succeeded) / (samples_.back().at - samples_.front().at);
}

}  // namespace plimsoll::demo
