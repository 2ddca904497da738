#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/http/src/controller_view.h"
#include "api/http/src/shard_merge.h"
#include "api/http/src/shard_seat.h"

namespace plimsoll::internal {

// The operator plane's view of all that this controller leads, as if it were one controller.
class SeatsView final : public ControllerView {
 public:
  // How to run something on a thread, later.
  using Post = std::function<void(std::function<void()>)>;

  struct Parts {
    Post on_core;
    Post on_api;
    std::function<std::string(std::shared_ptr<const Snapshot>)> metrics;
  };

  // `seats` and `shutting_down` must outlive the view.
  SeatsView(const ShardSeats& seats, const std::atomic<bool>& shutting_down, Parts parts)
      : seats_(seats), shutting_down_(shutting_down), parts_(std::move(parts)) {}

  void GetSnapshot(std::function<void(std::shared_ptr<const Snapshot>)> then) override;
  void FindEvents(EventLog::Filter filter, int limit,
                  std::function<void(std::vector<LogEvent>)> then) override;
  void GetEvent(std::string id, std::function<void(std::optional<LogEvent>)> then) override;
  void Try(DependencyId dependency, SessionId session, std::vector<TrialWindow> windows,
           std::function<void(absl::StatusOr<std::vector<TrialDecision>>)> then) override;
  void ReadAudit(int limit,
                 std::function<void(absl::StatusOr<std::vector<std::string>>)> then) override;
  std::string Metrics(std::shared_ptr<const Snapshot> snapshot) override {
    return parts_.metrics(std::move(snapshot));
  }
  bool shutting_down() const override { return shutting_down_; }
  Leading leading() const override;
  std::vector<ShardFacts> shards() const override;

 private:
  // Runs `question` on the core's thread and `then` on the operator plane's.
  template <typename Question, typename Then>
  void Ask(Question question, Then then) const {
    parts_.on_core([this, question = std::move(question), then = std::move(then)] {
      // What the loops run must be copyable.
      parts_.on_api([then, answer = question()]() mutable { then(std::move(answer)); });
    });
  }
  bool single() const { return seats_.size() == 1; }
  ShardSeat& seat(int shard) const { return *seats_[static_cast<std::size_t>(shard)]; }
  // On the core's thread.
  std::shared_ptr<const Snapshot> Merge();
  ShardLogs Logs() const;

  const ShardSeats& seats_;
  const std::atomic<bool>& shutting_down_;
  const Parts parts_;
  // Of the core's thread: what was merged last, and of what.
  ShardSnapshots merged_of_;
  std::shared_ptr<const Snapshot> merged_;
};

}  // namespace plimsoll::internal
