#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// Which reservation: the share of one session in one dependency.
struct BoundKey {
  DependencyId dependency;
  SessionId session;

  friend auto operator<=>(const BoundKey&, const BoundKey&) = default;
};

// What a successor of this controller must assume of one session: nothing above `steps` was ever
// sent to it, and nothing above `steps.limit` is in flight. Durable before a raise is sent.
struct Bound {
  BoundKey key;
  ServiceId service;
  InstanceId instance;
  bool unique_instance = false;
  Steps steps;
  // How long the steps may be in force after the last renewal, and how long a call may run on.
  absl::Duration lease;
  absl::Duration base_lease;
  absl::Duration call_deadline;

  friend bool operator==(const Bound&, const Bound&) = default;
};

// Which of the things that operators have set at run time: a kind, such as "dependency", and the
// name of one of that kind.
struct DocumentKey {
  std::string kind;
  std::string name;

  friend auto operator<=>(const DocumentKey&, const DocumentKey&) = default;
};

// What they have set: a text that whoever wrote it understands. It outlives reigns, and a loss of
// the bounds.
struct Document {
  DocumentKey key;
  std::string body;

  friend bool operator==(const Document&, const Document&) = default;
};

// So many audit records are kept; older ones are dropped.
inline constexpr int kAuditKeep = 10'000;

// One transaction: all of it becomes durable, or nothing.
struct WriteBatch {
  std::vector<Bound> put = {};
  std::vector<BoundKey> erase = {};
  // All bounds are dropped before `put`, and the reign goes on under this epoch, which is larger
  // than the one before: agents have shown that the store is older than they are.
  std::optional<Epoch> new_epoch = {};
  // Learning is over: from now on the bounds tell everything that may be in force. Until a store
  // that was lost, or that got a new epoch, is told so, each reign finds it lost again, without
  // bounds, and learns from the beginning.
  bool learned = false;
  // The longest hold that may ever have been granted, if it grew. See StoreState.
  std::optional<absl::Duration> longest_hold = {};
  // What operators have changed, and who did it.
  std::vector<Document> put_documents = {};
  std::vector<DocumentKey> erase_documents = {};
  std::vector<std::string> audit = {};  // records, oldest first

  bool empty() const {
    return put.empty() && erase.empty() && !new_epoch.has_value() && !learned &&
           !longest_hold.has_value() && put_documents.empty() && erase_documents.empty() &&
           audit.empty();
  }
};

// How far what was found can be trusted.
enum class StoreCondition {
  kWhole,  // it is what the reign before left
  kNew,    // made on purpose, for a fleet that has been granted nothing yet
  kLost,   // missing, damaged, older than what was written, or said to be so by the operator
};
// "WHOLE", "NEW", "LOST"; of static storage.
std::string_view ToString(StoreCondition condition);

// What a controller finds when it begins to reign.
struct StoreState {
  Epoch epoch;                // its own: larger than that of any reign before
  std::vector<Bound> bounds;  // none if the condition is not kWhole
  StoreCondition condition = StoreCondition::kWhole;
  std::string why;  // why it counts as lost, for people: what was found, and what was expected
  // The longest time for which anything that was ever granted can stay in force or in flight,
  // stretched by the clocks' inaccuracy, as far as the store remembers.
  absl::Duration longest_hold;
  // Nobody else can reign while this store is open: it is locked for life. Otherwise leadership has
  // to be confirmed before a lease is extended (rule C6).
  bool exclusive = true;
  // In order of their keys, whatever the condition, as far as the store still has them.
  std::vector<Document> documents = {};
  // If not exclusive: where the API of the controller that reigned before is, as far as is known.
  std::string led_before = {};
};

// Where bounds are kept. Calls block for the disk or the network, so never on the core's thread.
// Thread-compatible: one caller at a time.
class Store {
 public:
  virtual ~Store() = default;

  // Begins a reign: makes sure that no other controller uses this store from now on, reads the
  // bounds, and makes a new epoch durable. What cannot be trusted is reported as a condition. Call
  // it once, before anything else. Returns kFailedPrecondition if another controller holds the
  // store, kDataLoss if the store is damaged, kUnavailable for I/O errors.
  virtual absl::StatusOr<StoreState> TakeOver() = 0;

  // Makes a batch durable. When it returns OK, the batch survives a crash of process and machine.
  // Otherwise nothing of it was written, or (kUnavailable after a failed sync) it is unknown; the
  // caller must then act as if either could be true.
  virtual absl::Status Commit(const WriteBatch& batch) = 0;

  // The last audit records, newest first, at most `limit`.
  virtual absl::StatusOr<std::vector<std::string>> ReadAudit(int limit) = 0;
};

}  // namespace plimsoll
