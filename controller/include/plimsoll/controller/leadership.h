#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// Who leads, and where it is found: "http://10.0.0.5:7481".
struct Leader {
  std::string id;
  std::string agents;
  std::string api;

  friend bool operator==(const Leader&, const Leader&) = default;
};

// One reign over a store that can change hands. What is written through it after the reign has
// ended comes to nothing, whatever this process knows: if Commit() returns OK, the reign stood at
// some moment since the call, as if Confirm() had said so. Commit() and ReadAudit() are one
// caller's, Confirm() another's; all others are thread-safe.
class Reign : public Store {
 public:
  // Whether the reign stood at some moment since the call (rule C6). kFailedPrecondition: it is
  // over. Anything else: nothing is known. Blocks, for about the store's lease at most.
  virtual absl::Status Confirm() = 0;
  // It is known to be over: another controller reigns, or may.
  virtual bool over() const = 0;
  // Gives the store back, so that another controller need not wait for the lease to end. What the
  // agents hold stays what it is.
  virtual void Resign() = 0;
};

struct WonReign {
  std::shared_ptr<Reign> reign;  // has been taken over: TakeOver() returns an error
  StoreState state;
};

// A store that several controllers share, of which one reigns.
class Leadership {
 public:
  virtual ~Leadership() = default;

  // Blocks until this controller reigns. The instant for the core's holds must be read after it has
  // returned. One caller at a time, and not before the reign won before is over or resigned.
  // Returns kCancelled after Stop(), and other errors if it is of no use to go on; an unreachable
  // store is waited for.
  virtual absl::StatusOr<WonReign> Campaign() = 0;
  // Ends Campaign(), now and for good. Thread-safe.
  virtual void Stop() = 0;
  // Who leads, as far as is known; this controller included. Thread-safe.
  virtual std::optional<Leader> leader() const = 0;
  // Agents have shown that there was a reign of this epoch: a store that does not know of it is
  // taken for lost. Thread-safe.
  virtual void NoteEpoch(Epoch epoch) = 0;
};

}  // namespace plimsoll
