#pragma once

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/time.h"

namespace plimsoll::chaos {

// How many calls may be in flight while the quota changes: the largest quota in use at any time
// since leases that may still be alive were granted. A quota is in use from the moment it is
// written until the controller has shown a later one; after that for as long as limits granted
// under it may be in force, and calls admitted under them in flight. Thread-compatible.
class QuotaWitness {
 public:
  // `memory`: how long limits and calls may outlive the quota under which they were granted.
  QuotaWitness(int quota, absl::Duration memory) : memory_(memory), spans_{{quota, std::nullopt}} {}

  // A new quota is about to be written to the configuration.
  void Written(int quota) { spans_.push_back({quota, std::nullopt}); }
  // The controller says that this quota is in force. Ends those written before it.
  void Shown(int quota, Instant now);

  // Whether the quota written last has been shown.
  bool Settled() const;
  // Shown last.
  int current() const { return current_; }
  int written() const { return spans_.back().quota; }
  int Allowed(Instant now) const;

 private:
  struct Span {
    int quota;
    std::optional<Instant> end;  // absent: may be in use
  };

  absl::Duration memory_;
  std::vector<Span> spans_;
  int current_ = spans_.front().quota;
};

}  // namespace plimsoll::chaos
