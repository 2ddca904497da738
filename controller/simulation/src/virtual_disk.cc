#include "controller/simulation/src/virtual_disk.h"

#include <utility>

#include "controller/simulation/src/network.h"

namespace plimsoll::internal {

VirtualDisk::VirtualDisk(const DiskFaults& faults, EventQueue& queue, Random& random)
    : faults_(faults), queue_(queue), random_(random) {}

StoreState VirtualDisk::TakeOver() {
  Abort();
  StoreState state;
  state.condition = epoch_ == Epoch(0) ? StoreCondition::kNew : StoreCondition::kWhole;
  epoch_ = Epoch(epoch_.value + 1);
  state.epoch = epoch_;
  for (const auto& [key, bound] : bounds_) state.bounds.push_back(bound);
  return state;
}

void VirtualDisk::Commit(const WriteBatch& batch, std::function<void(absl::Status)> done) {
  const bool fails = random_.Chance(faults_.failure);
  const bool lands = !fails || random_.Chance(0.5);
  const absl::Duration takes = Draw(random_, faults_.commit);
  if (lands) {
    queue_.After(takes * random_.Uniform(), [this, batch, reign = reign_] {
      if (reign == reign_) Apply(batch);
    });
  }
  queue_.After(takes, [this, fails, done = std::move(done), reign = reign_] {
    if (reign != reign_) return;
    done(fails ? absl::UnavailableError("the virtual disk failed") : absl::OkStatus());
  });
}

void VirtualDisk::Apply(const WriteBatch& batch) {
  for (const BoundKey& key : batch.erase) bounds_.erase(key);
  for (const Bound& bound : batch.put) bounds_[bound.key] = bound;
}

}  // namespace plimsoll::internal
