#include "plimsoll/store/memory_store.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
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
  epoch_ = first ? std::max<std::int64_t>(1, first_epoch) : epoch_ + 1;
  state.epoch = Epoch(epoch_);
  state.longest_hold = longest_hold_;
  for (const auto& [key, body] : documents_) state.documents.push_back({key, body});
  if (!lost_.empty()) {
    state.condition = StoreCondition::kLost;
    state.why = lost_;
    bounds_.clear();
    return state;
  }
  state.condition = first ? StoreCondition::kNew : StoreCondition::kWhole;
  for (const auto& [key, bound] : bounds_) state.bounds.push_back(bound);
  return state;
}

absl::Status MemoryDisk::Commit(const WriteBatch& batch) {
  const MutexLock lock(mutex_);
  if (batch.new_epoch.has_value() && batch.new_epoch->value <= epoch_) {
    return absl::InvalidArgumentError("the memory store: an epoch must follow the one before");
  }
  if (batch.learned) lost_.clear();
  if (batch.longest_hold.has_value()) longest_hold_ = std::max(longest_hold_, *batch.longest_hold);
  if (batch.new_epoch.has_value()) {
    epoch_ = batch.new_epoch->value;
    lost_ = "Agents hold grants of a later reign than the store knew";
    bounds_.clear();
  }
  for (const BoundKey& key : batch.erase) bounds_.erase(key);
  for (const Bound& bound : batch.put) bounds_.insert_or_assign(bound.key, bound);
  for (const DocumentKey& key : batch.erase_documents) documents_.erase(key);
  for (const Document& document : batch.put_documents) documents_[document.key] = document.body;
  for (const std::string& record : batch.audit) audit_.push_front(record);
  while (std::ssize(audit_) > kAuditKeep) audit_.pop_back();
  return absl::OkStatus();
}

std::vector<std::string> MemoryDisk::ReadAudit(int limit) {
  const MutexLock lock(mutex_);
  const auto count = std::min<std::ptrdiff_t>(limit, std::ssize(audit_));
  return {audit_.begin(), audit_.begin() + count};
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
    return disk_->Commit(batch);
  }

  absl::StatusOr<std::vector<std::string>> ReadAudit(int limit) override {
    return disk_->ReadAudit(limit);
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
