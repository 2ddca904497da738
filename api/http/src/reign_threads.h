#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "api/http/src/confirmer.h"
#include "api/http/src/store_writer.h"

namespace plimsoll::internal {

// The threads that wait for the store on behalf of one reign. Must be destroyed where it is no harm
// to wait for them. Thread-safe.
class ReignThreads {
 public:
  using Written = std::function<void(WriteId, absl::Status)>;

  // With an exclusive store, which must outlive it.
  ReignThreads(Store& store, const Clock& clock, Written written)
      : writer_(store, clock, std::move(written)) {}
  // With one that changes hands.
  ReignThreads(std::shared_ptr<Reign> reign, const Clock& clock, Written written,
               Confirmer::Confirmed confirmed)
      : reign_(std::move(reign)), writer_(*reign_, clock, std::move(written)) {
    confirmer_.emplace(*reign_, std::move(confirmed));
  }

  StoreWriter& writer() { return writer_; }
  void Submit(ConfirmAction action) { confirmer_->Submit(action); }
  void Stop() {
    writer_.Stop();
    if (confirmer_) confirmer_->Stop();
  }

 private:
  const std::shared_ptr<Reign> reign_;
  StoreWriter writer_;
  std::optional<Confirmer> confirmer_;
};

}  // namespace plimsoll::internal
