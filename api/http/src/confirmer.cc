#include "api/http/src/confirmer.h"

#include <utility>

namespace plimsoll::internal {

Confirmer::Confirmer(Reign& reign, Confirmed confirmed)
    : reign_(reign), confirmed_(std::move(confirmed)), thread_([this] { Run(); }) {}

Confirmer::~Confirmer() { Stop(); }

void Confirmer::Submit(ConfirmAction action) {
  const MutexLock lock(mutex_);
  pending_ = action;
  changed_.NotifyOne();
}

void Confirmer::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void Confirmer::Run() {
  for (;;) {
    std::optional<ConfirmAction> action;
    {
      const MutexLock lock(mutex_);
      while (!pending_ && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      action = std::exchange(pending_, std::nullopt);
    }
    confirmed_(action->confirm, reign_.Confirm());
  }
}

}  // namespace plimsoll::internal
