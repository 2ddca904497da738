#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/http/src/change_queue.h"
#include "api/http/src/core_driver.h"
#include "api/http/src/reign_threads.h"
#include "plimsoll/controller/leadership.h"

namespace plimsoll::internal {

// One shard in this process: its core while this controller leads it, and what keeps core, store
// and operators apart. What comes of a reign that is over reaches no later one.
class ShardSeat final : public ChangeHost {
 public:
  // The surroundings. All must return at once, and outlive the seat.
  struct Parts {
    std::function<void(std::function<void()>)> on_core;  // runs it on the core's thread, later
    std::function<void(std::function<void()>)> on_api;   // likewise, on the operator plane's
    // Empty with an exclusive store, like the next.
    std::function<std::optional<Leader>()> leader = {};
    std::function<void(const std::string& why, std::optional<Epoch> seen)> deposed = {};
    std::function<void(const LogEvent& event)> notice = {};
    std::function<void()> restart;  // a reign has begun or ended; on the operator plane's thread
  };

  // `core`, which is null if this controller stands by, and the clock must outlive the seat.
  ShardSeat(Parts parts, Core* core, const Clock& clock);

  // With an exclusive store, which has been taken over. Before the threads run.
  void Use(Store& store);
  // As those of Server.
  void Lead(std::shared_ptr<Reign> reign, std::function<std::unique_ptr<Core>()> make);
  void StandBy(const std::function<void()>& then);
  // The threads that wait for the store end. When the loops do not run any more.
  void Stop();

  // Of any thread.
  bool leads() const { return leads_; }
  Epoch epoch() const { return Epoch(epoch_); }
  std::optional<Leader> leader() const { return parts_.leader ? parts_.leader() : std::nullopt; }
  bool can_change_hands() const { return parts_.leader != nullptr; }

  // Of the core's thread.
  CoreDriver& driver() { return driver_; }
  // What this reign was last told of its store was no failure.
  bool store_answers() const { return store_answers_; }

  // Of the operator plane's thread. What they are given is called there, too.
  void Commit(WriteBatch batch, std::function<void(absl::Status)> done) override;
  void Tell(std::vector<Event> events, std::function<void()> done) override;
  void ReadAudit(int limit, std::function<void(absl::StatusOr<std::vector<std::string>>)> then);
  // Null while another controller leads.
  StoreWriter* writer() { return api_threads_ == nullptr ? nullptr : &api_threads_->writer(); }

 private:
  CoreDriver::Host Host();
  ReignThreads::Written Written(std::int64_t number);
  Confirmer::Confirmed Confirmed(std::int64_t number);

  const Parts parts_;
  const Clock& clock_;
  std::atomic<bool> leads_;
  std::atomic<std::int64_t> epoch_ = 0;
  // Confined to the core's thread while it runs.
  std::shared_ptr<ReignThreads> core_threads_;
  std::int64_t reign_ = 0;
  bool store_answers_ = true;
  CoreDriver driver_;
  // Confined to the operator plane's thread while it runs.
  std::shared_ptr<ReignThreads> api_threads_;
  std::int64_t last_reign_ = 0;
};

using ShardSeats = std::vector<std::unique_ptr<ShardSeat>>;

}  // namespace plimsoll::internal
