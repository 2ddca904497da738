#pragma once

#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "controller/simulation/src/event_queue.h"
#include "controller/simulation/src/store_port.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/random.h"
#include "plimsoll/simulation/scenario.h"

namespace plimsoll::internal {

// What survives controllers: one disk of one machine, or, if several controllers share it, a
// replicated store. Linearizable; what one controller sends lands in the order in which it was
// sent; what comes of a reign that is over comes to nothing. A commit lands at a random moment
// between its start and its acknowledgement, so that a crash in between leaves either state behind.
// Thread-compatible.
class VirtualStore final : public StorePort {
 public:
  VirtualStore(const Scenario& scenario, EventQueue& queue, Random& random);

  // A reign begins: its epoch. What earlier ones still send comes to nothing.
  Epoch TakeOver();
  // What that reign finds. To be called after TakeOver(), at once or later.
  StoreState Read();
  // The epoch of the newest reign.
  Epoch epoch() const override { return epoch_; }

  void Commit(int controller, Epoch reign, const WriteBatch& batch, Done done) override;
  // OK if `reign` still stood at some moment between now and the result.
  void Confirm(int controller, Epoch reign, Done done) override;

  // Nothing of this controller lands until then, and what it asks for is not answered in time.
  void CutOff(int controller, Instant until) { cut_until_[Index(controller)] = until; }
  // The contents are gone, and the next reign notices.
  void Lose();

 private:
  static std::size_t Index(int controller) { return static_cast<std::size_t>(controller); }
  bool IsCutOff(int controller) const { return queue_.now() < cut_until_[Index(controller)]; }
  // Lets `effect` happen in order, and `done` some time after it.
  void Land(absl::Duration takes, std::function<absl::Status()> effect, Done done);
  absl::Status Apply(Epoch reign, const WriteBatch& batch);

  const DiskFaults faults_;
  const bool shared_;
  EventQueue& queue_;
  Random& random_;
  std::vector<Instant> cut_until_;
  Instant last_landing_;
  Epoch epoch_;
  bool used_ = false;
  bool lost_ = false;  // until a reign has learned what was lost
  absl::Duration longest_hold_;
  std::map<BoundKey, Bound> bounds_;
};

}  // namespace plimsoll::internal
