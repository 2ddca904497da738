#include "api/http/src/seats_view.h"

#include "plimsoll/core/shard.h"

namespace plimsoll::internal {
namespace {

// The records of several shards, which come one after the other. Confined to the operator plane's
// thread.
struct AuditGathering {
  std::vector<std::vector<std::string>> records;
  std::size_t left = 0;
  absl::Status failed;
};

}  // namespace

void SeatsView::GetSnapshot(std::function<void(std::shared_ptr<const Snapshot>)> then) {
  Ask([this] { return single() ? seat(0).driver().GetSnapshot() : Merge(); }, std::move(then));
}

std::shared_ptr<const Snapshot> SeatsView::Merge() {
  ShardSnapshots snapshots;
  std::shared_ptr<const Snapshot> idle;
  for (int shard = 0; shard < static_cast<int>(seats_.size()); ++shard) {
    CoreDriver& driver = seat(shard).driver();
    if (driver.core() != nullptr) snapshots.emplace_back(shard, driver.GetSnapshot());
  }
  if (merged_ != nullptr && !snapshots.empty() && snapshots == merged_of_) return merged_;
  // Of a shard that is not led here if there is one, else of any: it tells the time only.
  idle = snapshots.empty() ? seat(0).driver().GetSnapshot() : snapshots.front().second;
  merged_ = std::make_shared<const Snapshot>(MergeSnapshots(snapshots, *idle));
  merged_of_ = std::move(snapshots);
  return merged_;
}

ShardLogs SeatsView::Logs() const {
  ShardLogs logs;
  for (int shard = 0; shard < static_cast<int>(seats_.size()); ++shard) {
    const CoreDriver& driver = seat(shard).driver();
    if (driver.core() != nullptr) logs.emplace_back(shard, &driver.log());
  }
  return logs;
}

void SeatsView::FindEvents(EventLog::Filter filter, int limit,
                           std::function<void(std::vector<LogEvent>)> then) {
  Ask(
      [this, filter = std::move(filter), limit] {
        return single() ? seat(0).driver().log().Find(filter, limit)
                        : FindInLogs(Logs(), filter, limit);
      },
      std::move(then));
}

void SeatsView::GetEvent(std::string id, std::function<void(std::optional<LogEvent>)> then) {
  Ask(
      [this, id = std::move(id)] {
        return single() ? seat(0).driver().log().Get(id) : GetFromLogs(Logs(), id);
      },
      std::move(then));
}

void SeatsView::Try(DependencyId dependency, SessionId session, std::vector<TrialWindow> windows,
                    std::function<void(absl::StatusOr<std::vector<TrialDecision>>)> then) {
  Ask(
      [this, dependency = std::move(dependency), session = std::move(session),
       windows = std::move(windows)]() -> absl::StatusOr<std::vector<TrialDecision>> {
        const int shard = ShardOf(dependency, static_cast<int>(seats_.size()));
        const Core* const core = seat(shard).driver().core();
        if (core == nullptr) {
          return absl::FailedPreconditionError("this controller does not lead");
        }
        const auto split = single() ? std::nullopt : SplitShardedId(session.value);
        return core->Try(dependency, split ? SessionId(split->second) : session, windows);
      },
      std::move(then));
}

void SeatsView::ReadAudit(int limit,
                          std::function<void(absl::StatusOr<std::vector<std::string>>)> then) {
  if (single()) return seat(0).ReadAudit(limit, std::move(then));
  auto gathering = std::make_shared<AuditGathering>();
  std::vector<ShardSeat*> led;
  for (const auto& one : seats_) {
    if (one->leads()) led.push_back(one.get());
  }
  if (led.empty()) {
    parts_.on_api([then = std::move(then)] { then(std::vector<std::string>()); });
    return;
  }
  gathering->left = led.size();
  for (ShardSeat* one : led) {
    one->ReadAudit(
        limit, [gathering, limit, then](const absl::StatusOr<std::vector<std::string>>& records) {
          if (records.ok()) gathering->records.push_back(*records);
          gathering->failed.Update(records.status());
          if (--gathering->left > 0) return;
          if (!gathering->failed.ok()) return then(gathering->failed);
          then(MergeAudit(std::move(gathering->records), limit));
        });
  }
}

// With several shards: whether any of them is led here.
ControllerView::Leading SeatsView::leading() const {
  if (single()) {
    if (!seat(0).can_change_hands()) return {};
    return {seat(0).leads(), seat(0).leader()};
  }
  Leading leading{false};
  for (const auto& one : seats_) {
    leading.self = leading.self || one->leads();
    if (!leading.leader.has_value()) leading.leader = one->leader();
  }
  return leading;
}

std::vector<ControllerView::ShardFacts> SeatsView::shards() const {
  std::vector<ShardFacts> facts;
  if (single()) return facts;
  for (const auto& one : seats_) {
    facts.push_back({one->leads(), one->epoch(), one->leader().value_or(Leader{})});
  }
  return facts;
}

}  // namespace plimsoll::internal
