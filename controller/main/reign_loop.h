#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "controller/main/log.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/http/server.h"

namespace plimsoll {

// Stands for election, has the server lead when it is won, and stand by when the reign is over;
// then it begins again. Thread-safe.
class ReignLoop {
 public:
  // Both functions are called on the API plane's thread.
  struct Parts {
    int shard = 0;  // that is stood for
    int shards = 1;
    // A core for a reign that begins with this; what operators have set is read from it.
    std::function<std::unique_ptr<Core>(const StoreState& state)> begin;
    // It is over: what they have set is forgotten.
    std::function<void()> end;
    // Where this controller's API is found, as others say of it.
    std::string api = {};
  };
  // Why a reign is given up.
  enum class Reason {
    kUneven,        // another controller leads less
    kUnheard,       // agents do not reach this one
    kStillUnheard,  // likewise, since an earlier reign
  };

  // All must outlive the loop. The server must run until Stop() has returned.
  ReignLoop(Leadership& leadership, Server& server, Parts parts, const Logger& logger,
            const Clock& clock);
  ~ReignLoop();

  // Begins, with a thread of its own.
  void Start() {
    thread_ = std::thread([this] { Run(); });
  }
  // The core of the present reign refuses everything.
  void Deposed(const std::string& why, std::optional<Epoch> seen);
  // Gives the reign back in good order, if there is one, so that another controller leads at once;
  // and stands again, as the leadership allows. Not for kStillUnheard if nobody else has led since
  // the last reign of this controller: there may be nobody else. Returns at once.
  void HandOver(Reason reason);
  // Stop() will be called: what it would wait for is to end soon. Returns at once.
  void AskToStop();
  // Ends the loop. The server goes on to lead if it does.
  void Stop();
  // Gives the store back, so that another controller leads at once. After Stop(), and when the
  // server has stopped.
  void Resign();
  // Why no election can be won: the store refuses us.
  absl::Status failure() const;

 private:
  void Run();
  void Begin(const WonReign& won);
  void WaitForEnd(const WonReign& won);
  void Finish();
  // With the shard, if there are several.
  LogFields Fields(LogFields fields) const;

  Leadership& leadership_;
  Server& server_;
  const Parts parts_;
  const Logger& logger_;
  const Clock& clock_;
  std::shared_ptr<Reign> reign_;  // of the loop's thread; after Stop() of whoever resigns

  mutable Mutex mutex_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool reigns_ ABSL_GUARDED_BY(mutex_) = false;
  bool succeeds_itself_ ABSL_GUARDED_BY(mutex_) = false;  // nobody has led in between
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;  // the present reign: deposed, or handed over
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace plimsoll
