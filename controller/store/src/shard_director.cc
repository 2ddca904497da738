#include "plimsoll/store/shard_director.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plimsoll/core/check.h"
#include "plimsoll/core/shard.h"

namespace plimsoll {
namespace {

using Loads = std::map<std::string, int>;

// Of members only.
Loads LoadsOf(const ShardView& view) {
  Loads loads;
  for (const std::string& member : view.members) loads[member] = 0;
  for (const std::string& owner : view.owners) {
    const auto found = loads.find(owner);
    if (found != loads.end()) ++found->second;
  }
  return loads;
}

std::vector<std::string> InOrder(int shard, const ShardView& view, const std::string& last_owner,
                                 const Loads& loads) {
  std::vector<std::string> order = PreferredOwners(shard, view.members);
  std::stable_sort(order.begin(), order.end(), [&](const std::string& a, const std::string& b) {
    if ((a == last_owner) != (b == last_owner)) return b == last_owner;
    return loads.at(a) < loads.at(b);
  });
  return order;
}

bool IsMember(const ShardView& view, const std::string& id) {
  return std::find(view.members.begin(), view.members.end(), id) != view.members.end();
}

}  // namespace

std::vector<std::string> CandidatesFor(int shard, const ShardView& view,
                                       const std::vector<std::string>& last_owners) {
  Loads loads = LoadsOf(view);
  for (int free = 0; free < shard; ++free) {
    const auto i = static_cast<std::size_t>(free);
    if (!view.owners[i].empty()) continue;
    const std::vector<std::string> order = InOrder(free, view, last_owners[i], loads);
    if (!order.empty()) ++loads[order.front()];
  }
  return InOrder(shard, view, last_owners[static_cast<std::size_t>(shard)], loads);
}

std::optional<HandOver> UnevenShare(const ShardView& view, const std::string& self) {
  const bool any_free = std::any_of(view.owners.begin(), view.owners.end(),
                                    [](const std::string& owner) { return owner.empty(); });
  if (any_free || !IsMember(view, self)) return std::nullopt;
  const Loads loads = LoadsOf(view);
  // In the order of ids, so of those who have as many it is the same one for all.
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end(), less);
  const auto first_most = std::find_if(loads.begin(), loads.end(), [&most = most](const auto& one) {
    return one.second == most->second;
  });
  if (first_most->first != self || first_most->second < least->second + 2) return std::nullopt;
  // What the other one would be preferred for, if there is such a shard.
  std::optional<HandOver> best;
  std::ptrdiff_t best_rank = 0;
  for (int shard = 0; shard < static_cast<int>(view.owners.size()); ++shard) {
    if (view.owners[static_cast<std::size_t>(shard)] != self) continue;
    const std::vector<std::string> order = PreferredOwners(shard, view.members);
    const auto rank =
        std::distance(order.begin(), std::find(order.begin(), order.end(), least->first));
    if (best.has_value() && rank >= best_rank) continue;
    best = HandOver{shard, least->first};
    best_rank = rank;
  }
  return best;
}

ShardDirector::ShardDirector(ShardDirectorOptions options)
    : options_(std::move(options)),
      last_owners_(static_cast<std::size_t>(options_.shards)),
      free_since_(static_cast<std::size_t>(options_.shards)) {
  view_.owners.resize(static_cast<std::size_t>(options_.shards));
}

void ShardDirector::See(const ShardView& view, Instant now) {
  PLIMSOLL_CHECK(view.owners.size() == last_owners_.size(), "a view tells of all shards");
  if (view.members != view_.members) uneven_since_.reset();
  view_ = view;
  for (std::size_t i = 0; i < view.owners.size(); ++i) {
    if (view.owners[i].empty()) {
      if (!free_since_[i].has_value()) free_since_[i] = now;
    } else {
      free_since_[i].reset();
      last_owners_[i] = view.owners[i];
    }
  }
  JudgeHandOver(now);
  const std::optional<HandOver> due = UnevenShare(view_, options_.self);
  const auto doubt = due.has_value() ? doubts_.find(due->to) : doubts_.end();
  const bool doubted = doubt != doubts_.end() && now < doubt->second.until;
  if (!due.has_value() || doubted || given_.has_value()) {
    uneven_since_.reset();
  } else if (!uneven_since_.has_value()) {
    uneven_since_ = now;
  }
}

// Whether what was handed over has been taken by whom it was meant for. Until it is given up, its
// former owner is still seen there; if it stays, nothing came of it.
void ShardDirector::JudgeHandOver(Instant now) {
  if (!given_.has_value()) return;
  const std::string& owner = view_.owners[static_cast<std::size_t>(given_->shard)];
  given_up_ = given_up_ || owner != options_.self;
  if (!given_up_ && now - given_at_ >= options_.settle) given_.reset();
  if (!given_up_ || owner.empty()) return;
  if (owner == given_->to) {
    doubts_.erase(owner);
  } else {
    Doubt& doubt = doubts_[given_->to];
    const absl::Duration wait = options_.settle * (1 << std::min(doubt.times++, 10));
    doubt.until = now + std::min(wait, options_.doubt_max);
  }
  given_.reset();
}

bool ShardDirector::MayStand(int shard, Instant now) const {
  if (!IsMember(view_, options_.self)) return false;
  const std::vector<std::string> order = CandidatesFor(shard, view_, last_owners_);
  const auto rank =
      std::distance(order.begin(), std::find(order.begin(), order.end(), options_.self));
  if (rank == 0) return true;
  const std::optional<Instant>& since = free_since_[static_cast<std::size_t>(shard)];
  return since.has_value() && now - *since >= options_.patience * rank;
}

std::optional<int> ShardDirector::TakeHandOver(Instant now) {
  if (!uneven_since_.has_value() || now - *uneven_since_ < options_.settle) return std::nullopt;
  given_ = UnevenShare(view_, options_.self);
  uneven_since_.reset();
  if (!given_.has_value()) return std::nullopt;
  given_up_ = false;
  given_at_ = now;
  return given_->shard;
}

}  // namespace plimsoll
