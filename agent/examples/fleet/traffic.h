#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "agent/examples/fleet/profile.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"

namespace plimsoll::fleet {

// The calls of one member to all dependencies. Nothing is sent: a call is a permit that is held for
// as long as the profile says. The story repeats itself: well, slow, well, broken. Confined to one
// thread.
class Traffic {
 public:
  // `period` is the length of the story.
  Traffic(Agent& agent, std::uint64_t seed, absl::Duration period);
  ~Traffic();

  // Starts what is due by now and ends what is over.
  void Advance(Instant now);
  // When there is something to do next.
  Instant next() const;

 private:
  struct Line {
    Profile profile;
    Bulkhead* bulkhead = nullptr;
    Breaker* breaker = nullptr;
    RetryBudget* retries = nullptr;
    Instant arrival;
    int running = 0;
  };
  struct Call {
    Instant end;
    std::size_t line;
    Outcome outcome;
    std::shared_ptr<Permit> permit;
    std::shared_ptr<BreakerTicket> ticket;

    bool operator>(const Call& other) const { return end > other.end; }
  };
  struct Waited {
    std::size_t line;
    std::shared_ptr<Permit> permit;
  };
  // Filled by the agent's thread; may outlive the traffic. Thread-safe.
  struct Inbox {
    Mutex mutex;
    std::vector<Waited> waited ABSL_GUARDED_BY(mutex);
  };

  void Arrive(std::size_t index, Instant now);
  void Begin(std::size_t index, std::shared_ptr<Permit> permit,
             std::shared_ptr<BreakerTicket> ticket, Instant now);
  void End(const Call& call);
  Outcome Fate(const Line& line, Instant now);
  double Story(Instant now) const;

  const absl::Duration period_;
  const Instant began_;
  Random random_;
  std::vector<Line> lines_;
  std::priority_queue<Call, std::vector<Call>, std::greater<>> calls_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
};

}  // namespace plimsoll::fleet
