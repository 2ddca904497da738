#pragma once

#include <signal.h>

namespace plimsoll::internal {

// While it lives, no signal is delivered to this thread. Threads inherit the mask: those of the
// library must not run the process's signal handlers, and a SIGPIPE from a connection that the
// controller has closed must not end the process. Confined to the thread that made it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace plimsoll::internal
