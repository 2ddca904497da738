#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/examples/demo/gate.h"
#include "agent/examples/demo/report.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/time.h"

namespace httplib {
class Client;
}  // namespace httplib

namespace plimsoll::demo {

struct Address {
  std::string host;
  int port = 0;
};

// The threads of a replica that call the provider. Thread-safe.
class CallPool {
 public:
  // No call waits as long as there are as many threads as the gate admits calls.
  CallPool(int threads, Address provider, Tally& tally);
  // Ends the calls that were submitted first.
  ~CallPool();

  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  // Makes the call that was due at `scheduled`. Never waits.
  void Submit(std::unique_ptr<Pass> pass, Instant scheduled);

 private:
  struct Call {
    std::unique_ptr<Pass> pass;
    Instant scheduled;
  };

  void Work();
  void Make(Call& call);
  std::unique_ptr<httplib::Client> TakeConnection();
  void GiveBack(std::unique_ptr<httplib::Client> connection);

  const Address provider_;
  Tally& tally_;
  std::vector<std::thread> threads_;

  Mutex mutex_;
  CondVar submitted_;
  std::deque<Call> calls_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  // The one given back last is taken first, so that no more are open than calls were in flight.
  std::vector<std::unique_ptr<httplib::Client>> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll::demo
