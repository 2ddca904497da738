#include "plimsoll/store/memory_store.h"

#include <algorithm>
#include <utility>

namespace plimsoll {

absl::StatusOr<StoreState> MemoryDisk::TakeOver(std::int64_t first_epoch) {
  const MutexLock lock(mutex_);
  if (held_) {
    return absl::FailedPreconditionError(
        "the memory store is held by another controller: stop that one first");
  }
  held_ = true;
  StoreState state;
  const bool first = epoch_ == 0;
  state.condition = first ? StoreCondition::kNew : StoreCondition::kWhole;
  epoch_ = first ? std::max<std::int64_t>(1, first_epoch) : epoch_ + 1;
  state.epoch = Epoch(epoch_);
  for (const auto& [key, bound] : bounds_) state.bounds.push_back(bound);
  return state;
}

void MemoryDisk::Commit(const WriteBatch& batch) {
  const MutexLock lock(mutex_);
  for (const BoundKey& key : batch.erase) bounds_.erase(key);
  for (const Bound& bound : batch.put) bounds_.insert_or_assign(bound.key, bound);
}

void MemoryDisk::GiveUp() {
  const MutexLock lock(mutex_);
  held_ = false;
}

// Thread-compatible.
class MemoryStore final : public Store {
 public:
  MemoryStore(std::int64_t first_epoch, std::shared_ptr<MemoryDisk> disk)
      : first_epoch_(first_epoch), disk_(std::move(disk)) {}
  ~MemoryStore() override {
    if (reigns_) disk_->GiveUp();
  }

  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  absl::StatusOr<StoreState> TakeOver() override {
    absl::StatusOr<StoreState> state = disk_->TakeOver(first_epoch_);
    reigns_ = reigns_ || state.ok();
    return state;
  }

  absl::Status Commit(const WriteBatch& batch) override {
    if (!reigns_) {
      return absl::FailedPreconditionError("the store has not been taken over: call TakeOver()");
    }
    disk_->Commit(batch);
    return absl::OkStatus();
  }

 private:
  const std::int64_t first_epoch_;
  const std::shared_ptr<MemoryDisk> disk_;
  bool reigns_ = false;
};

std::unique_ptr<Store> MakeMemoryStore(std::int64_t first_epoch, std::shared_ptr<MemoryDisk> disk) {
  if (disk == nullptr) disk = std::make_shared<MemoryDisk>();
  return std::make_unique<MemoryStore>(first_epoch, std::move(disk));
}

}  // namespace plimsoll
