#include "api/http/src/change_lanes.h"

#include <map>
#include <utility>

#include "api/http/src/shard_merge.h"
#include "plimsoll/core/shard.h"

namespace plimsoll::internal {
namespace {

// Of one change that several lanes make. Confined to the operator plane's thread.
struct Together {
  std::size_t left = 0;
  std::optional<ChangePlan> plan;
};

// What becomes of the last of them, or of the first that is refused.
ChangeQueue::Done Gather(const std::shared_ptr<Together>& together, ChangeQueue::Done done) {
  return [together, done = std::move(done)](const ChangePlan& plan) {
    if (!together->plan.has_value() || !together->plan->refused()) together->plan = plan;
    if (--together->left == 0) done(*together->plan);
  };
}

}  // namespace

ChangeLanes::ChangeLanes(std::vector<Lane> lanes, const Clock& clock) : lanes_(std::move(lanes)) {
  for (const Lane& lane : lanes_) {
    queues_.push_back(std::make_unique<ChangeQueue>(*lane.operations, *lane.host, clock));
  }
}

void ChangeLanes::Submit(ChangeRequest request, Done done) {
  if (queues_.size() == 1) return queues_[0]->Submit(std::move(request), std::move(done));
  if (request.verb == ChangeVerb::kReload) return Reload(request, std::move(done));
  if (request.verb == ChangeVerb::kEvict) return Evict(request, std::move(done));
  const int shard = ShardOf(DependencyId(request.name), static_cast<int>(queues_.size()));
  queues_[static_cast<std::size_t>(shard)]->Submit(std::move(request), std::move(done));
}

void ChangeLanes::Reload(const ChangeRequest& request, Done done) {
  queues_[0]->Submit(request, [this, request, done = std::move(done)](const ChangePlan& first) {
    if (first.refused()) return done(first);
    const auto together = std::make_shared<Together>();
    together->left = queues_.size() - 1;
    const Done gather = Gather(together, done);
    for (std::size_t i = 1; i < queues_.size(); ++i) queues_[i]->Submit(request, gather);
  });
}

void ChangeLanes::Evict(const ChangeRequest& request, Done done) {
  std::map<std::size_t, std::vector<SessionId>> sessions;
  for (const SessionId& session : request.sessions) {
    const auto split = SplitShardedId(session.value);
    if (!split.has_value()) continue;
    sessions[static_cast<std::size_t>(split->first)].emplace_back(split->second);
  }
  // To say that nobody knows it.
  if (sessions.empty()) return queues_[0]->Submit(request, std::move(done));
  const auto together = std::make_shared<Together>();
  together->left = sessions.size();
  const Done gather = Gather(together, std::move(done));
  for (const auto& [shard, own] : sessions) {
    ChangeRequest part = request;
    part.sessions = own;
    queues_[shard]->Submit(std::move(part), gather);
  }
}

// Whoever asks after that asks after all that the core had been told before.
void ChangeLanes::Refresh(const std::function<void()>& then) {
  for (std::size_t i = 0; i + 1 < lanes_.size(); ++i) lanes_[i].host->Tell({}, [] {});
  lanes_.back().host->Tell({}, then);
}

void ChangeLanes::Tick() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].leads()) queues_[i]->Tick();
  }
}

}  // namespace plimsoll::internal
