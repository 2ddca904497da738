#include "controller/main/reign_loop.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

// Without agents it is the lease alone that tells of the end: looked at this often.
constexpr absl::Duration kLookAtLease = absl::Milliseconds(200);

const char* Describe(ReignLoop::Reason reason) {
  switch (reason) {
    case ReignLoop::Reason::kUneven:
      return "handing over to a controller that leads less";
    case ReignLoop::Reason::kUnheard:
      return "handing over: no agent is heard any more, so none may reach this controller";
    case ReignLoop::Reason::kStillUnheard:
      break;
  }
  return "handing over: still no agent is heard";
}

}  // namespace

ReignLoop::ReignLoop(Leadership& leadership, Server& server, Parts parts, const Logger& logger,
                     const Clock& clock)
    : leadership_(leadership),
      server_(server),
      parts_(std::move(parts)),
      logger_(logger),
      clock_(clock) {}

ReignLoop::~ReignLoop() {
  Stop();
  Resign();
}

void ReignLoop::Deposed(const std::string& why, std::optional<Epoch> seen) {
  logger_.Warning("leadership is over", Fields({{"why", why}}));
  if (seen.has_value()) leadership_.NoteEpoch(*seen);
  const MutexLock lock(mutex_);
  ends_ = true;
  changed_.NotifyAll();
}

void ReignLoop::HandOver(Reason reason) {
  const MutexLock lock(mutex_);
  if (!reigns_ || ends_) return;
  if (reason == Reason::kStillUnheard && succeeds_itself_) return;
  if (reason == Reason::kUneven) {
    logger_.Info(Describe(reason), Fields({}));
  } else {
    logger_.Warning(Describe(reason), Fields({}));
  }
  ends_ = true;
  changed_.NotifyAll();
}

void ReignLoop::AskToStop() {
  leadership_.Stop();
  const MutexLock lock(mutex_);
  stop_ = true;
  changed_.NotifyAll();
}

void ReignLoop::Stop() {
  AskToStop();
  if (thread_.joinable()) thread_.join();
}

void ReignLoop::Resign() {
  if (reign_ != nullptr) std::exchange(reign_, nullptr)->Resign();
}

absl::Status ReignLoop::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

void ReignLoop::Run() {
  for (;;) {
    const absl::StatusOr<WonReign> won = leadership_.Campaign();
    if (!won.ok()) {
      const MutexLock lock(mutex_);
      if (!absl::IsCancelled(won.status())) failure_ = won.status();
      return;
    }
    Begin(*won);
    WaitForEnd(*won);
    {
      const MutexLock lock(mutex_);
      if (stop_) return;
    }
    Finish();
  }
}

void ReignLoop::Begin(const WonReign& won) {
  reign_ = won.reign;
  logger_.Info("this controller leads",
               Fields({{"epoch", absl::StrCat(won.state.epoch.value)},
                       {"store", std::string(ToString(won.state.condition))},
                       {"inherited_bounds", absl::StrCat(won.state.bounds.size())}}));
  // What the reign before has granted is held from now on, so not from an instant before.
  clock_.Refresh();
  server_.Lead(parts_.shard, won.reign, [this, state = won.state] { return parts_.begin(state); });
}

void ReignLoop::WaitForEnd(const WonReign& won) {
  const MutexLock lock(mutex_);
  const std::string& before = won.state.led_before;
  succeeds_itself_ = before.empty() || before == parts_.api;
  reigns_ = true;
  while (!stop_ && !ends_ && !reign_->over()) changed_.WaitFor(mutex_, kLookAtLease);
  reigns_ = false;
}

LogFields ReignLoop::Fields(LogFields fields) const {
  if (parts_.shards > 1) fields.emplace(fields.begin(), "shard", absl::StrCat(parts_.shard));
  return fields;
}

// The server first: it must not lead any more when another controller may.
void ReignLoop::Finish() {
  server_.StandBy(parts_.shard, parts_.end);
  Resign();
  const MutexLock lock(mutex_);
  ends_ = false;
  logger_.Info("this controller stands by", Fields({}));
}

}  // namespace plimsoll
