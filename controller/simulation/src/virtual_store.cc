#include "controller/simulation/src/virtual_store.h"

#include <algorithm>
#include <utility>

#include "controller/simulation/src/network.h"

namespace plimsoll::internal {
namespace {

// After so long a client gives up on the store.
constexpr absl::Duration kStoreTimeout = absl::Seconds(2);
// A lost store starts anew with an epoch that lies above all that were.
constexpr std::int64_t kEpochGap = 1000;

}  // namespace

VirtualStore::VirtualStore(const Scenario& scenario, EventQueue& queue, Random& random)
    : faults_(scenario.disk),
      shared_(scenario.controllers > 1),
      queue_(queue),
      random_(random),
      cut_until_(Index(scenario.controllers)) {}

Epoch VirtualStore::TakeOver() {
  epoch_ = Epoch(epoch_.value + 1);
  return epoch_;
}

StoreState VirtualStore::Read() {
  StoreState state;
  state.epoch = epoch_;
  state.exclusive = !shared_;
  state.longest_hold = longest_hold_;
  if (lost_) {
    bounds_.clear();
    state.condition = StoreCondition::kLost;
    state.why = "the virtual store was lost";
    return state;
  }
  state.condition = used_ ? StoreCondition::kWhole : StoreCondition::kNew;
  used_ = true;
  for (const auto& [key, bound] : bounds_) state.bounds.push_back(bound);
  return state;
}

void VirtualStore::Commit(int controller, Epoch reign, const WriteBatch& batch, Done done) {
  if (IsCutOff(controller)) {
    return queue_.After(kStoreTimeout, [done = std::move(done)] {
      done(absl::UnavailableError("the virtual store does not answer"));
    });
  }
  const bool fails = random_.Chance(faults_.failure);
  const bool lands = !fails || random_.Chance(0.5);
  Land(
      Draw(random_, faults_.commit),
      [this, reign, batch, fails, lands] {
        absl::Status landed = lands ? Apply(reign, batch) : absl::OkStatus();
        return fails ? absl::UnavailableError("the virtual store failed") : landed;
      },
      std::move(done));
}

void VirtualStore::Confirm(int controller, Epoch reign, Done done) {
  if (IsCutOff(controller)) {
    return queue_.After(kStoreTimeout, [done = std::move(done)] {
      done(absl::UnavailableError("the virtual store does not answer"));
    });
  }
  Land(
      Draw(random_, faults_.commit), [this, reign] { return Apply(reign, {}); }, std::move(done));
}

void VirtualStore::Land(absl::Duration takes, std::function<absl::Status()> effect, Done done) {
  const Instant end = queue_.now() + takes;
  const Instant lands = queue_.now() + takes * random_.Uniform();
  last_landing_ = std::max(last_landing_, lands);
  queue_.At(last_landing_, [this, end, effect = std::move(effect), done = std::move(done)] {
    queue_.At(std::max(end, queue_.now()), [done, status = effect()] { done(status); });
  });
}

absl::Status VirtualStore::Apply(Epoch reign, const WriteBatch& batch) {
  if (reign != epoch_) return absl::FailedPreconditionError("another controller has taken over");
  if (batch.new_epoch.has_value()) {
    epoch_ = *batch.new_epoch;
    bounds_.clear();
    lost_ = true;
  }
  if (batch.learned) lost_ = false;
  if (batch.longest_hold.has_value()) longest_hold_ = *batch.longest_hold;
  for (const BoundKey& key : batch.erase) bounds_.erase(key);
  for (const Bound& bound : batch.put) bounds_[bound.key] = bound;
  return absl::OkStatus();
}

void VirtualStore::Lose() {
  bounds_.clear();
  lost_ = true;
  longest_hold_ = absl::ZeroDuration();
  epoch_ = Epoch(epoch_.value + kEpochGap);
}

}  // namespace plimsoll::internal
