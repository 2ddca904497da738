#include "controller/main/signals.h"

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace plimsoll {
namespace {

sigset_t HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&held, signal);
  return held;
}

}  // namespace

void HoldSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t held = HeldSignals();
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
}

int NextSignal(absl::Duration patience) {
  const sigset_t held = HeldSignals();
  const timespec wait = absl::ToTimespec(patience);
  for (;;) {
    const int signal = sigtimedwait(&held, nullptr, &wait);
    if (signal > 0) return signal;
    if (errno == EAGAIN) return 0;
  }
}

void LetSignalsKill() {
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  const sigset_t held = HeldSignals();
  pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
}

}  // namespace plimsoll
