#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/src/grant_port.h"
#include "agent/src/session.h"
#include "agent/src/transport.h"
#include "plimsoll/agent/metrics.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/random.h"

namespace plimsoll::internal {

// Called with one line for people.
using LogFunction = std::function<void(std::string_view line)>;

// The agent's one thread: asks the session what to do, carries its messages, and tells it how they
// ended. Everything else talks to the thread through a mailbox. Thread-safe, but Start() and Stop()
// are the owner's.
class SyncLoop {
 public:
  // `clock` must outlive the loop.
  SyncLoop(SessionOptions options, const Clock& clock, Random random,
           std::unique_ptr<Transport> transport, LogFunction log);
  // As Stop().
  ~SyncLoop();

  // Before Start(). If a controller refuses the first registration because it has shards, `found`
  // is told how many, by the loop's thread, as the last thing it does.
  void ExpectShards(std::function<void(int shards)> found) { found_shards_ = std::move(found); }
  // Before Start(). There are so many, whatever else a controller says.
  void KnowShards(int shards) { shards_ = shards; }

  // Returns kResourceExhausted if the system has no thread left.
  absl::Status Start();
  // Ends the thread, wherever it stands; nothing is released. Waits for a connection that is being
  // made, at most the connect timeout.
  void Stop();
  // Stop() will be called: what it would wait for is to end soon. Returns at once.
  void AskToStop();

  // From now on the dependency is reported. `port` and `breaker`, if there is one, must live until
  // Stop() has returned. At most once a name.
  void Add(DependencyId dependency, GrantPort& port, BreakerPort* breaker = nullptr);
  // Begins to leave: admits nothing, drains, releases.
  void Leave();
  // Makes the thread look at its clock again, and breaks a held sync off, so that the next one,
  // with what is new, is sent at once.
  void Wake();

  // Waits until `done` holds, which is asked whenever something happened, or `timeout` has passed.
  // Returns whether it holds. `done` is called with a lock held and must not call back.
  bool WaitFor(absl::Duration timeout, const std::function<bool()>& done);

  // Syncs that have ended, but those that were broken off.
  SyncCounts syncs() const;
  bool connected() const { return connected_.load(std::memory_order_relaxed); }
  // The session has ended and, if the controller knew it, was given back.
  bool released() const { return released_.load(std::memory_order_relaxed); }
  // The thread has nothing more to do.
  bool finished() const { return finished_.load(std::memory_order_relaxed); }
  std::string instance() const;

 private:
  enum class UnderWay { kNothing, kHeldSync, kOther };
  struct Joining {
    DependencyId dependency;
    GrantPort* port;
    BreakerPort* breaker;
  };

  void Run();
  bool TakeMail();
  void Post() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Sleep(Instant until);
  Instant Look();
  void Carry(const SendMessage& send);
  bool BeginExchange(const SendMessage& send);
  void EndExchange();
  void Digest(const SendMessage& send, const Answer& answer);
  void OnRefused(const SendMessage& send, const Refusal& refusal, Instant now);
  void Finish();
  void CountSync(const Answer& answer);
  void Publish();

  void LogTrouble(const std::string& what);
  void LogChanges();
  void LogSteps();
  void LogOverdue(Instant now);
  void Log(const std::string& line);

  // Fixed at construction.
  const Clock& clock_;
  const std::unique_ptr<Transport> transport_;
  const LogFunction log_;

  // Confined to the loop's thread once it runs.
  Random random_;
  Session session_;
  std::vector<Joining> ports_;
  Instant looked_at_;
  absl::Time looked_at_wall_;
  Instant looked_at_wall_after_;  // the wall time was read at or after this
  bool trouble_ = false;          // was logged
  std::function<void(int shards)> found_shards_;
  int shards_ = 0;            // 0: not known yet; 1: a session was opened without any
  std::optional<int> found_;  // and not told yet
  std::set<DependencyId> unknown_;
  std::map<DependencyId, int> steps_;  // as logged

  // The mailbox.
  mutable Mutex mutex_;
  CondVar mail_arrived_;
  bool mail_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool leave_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Joining> joining_ ABSL_GUARDED_BY(mutex_);
  UnderWay under_way_ ABSL_GUARDED_BY(mutex_) = UnderWay::kNothing;

  // What the thread publishes.
  CondVar progress_;
  std::string instance_ ABSL_GUARDED_BY(mutex_);
  std::atomic<std::int64_t> syncs_ok_{0};
  std::atomic<std::int64_t> syncs_failed_{0};
  std::atomic<std::int64_t> syncs_timed_out_{0};
  std::atomic<bool> connected_{false};
  std::atomic<bool> released_{false};
  std::atomic<bool> finished_{false};

  std::thread thread_;
};

}  // namespace plimsoll::internal
