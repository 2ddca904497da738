#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plimsoll/store/etcd_plan.h"
#include "plimsoll/store/etcd_types.h"

namespace plimsoll {

// Which confirmations of a process are asked for when, and what an answer means: all that wait in
// one round, a transaction that reads the leader key of each reign. A question that comes while a
// round is under way waits for the next, so what a round says is always newer than the question
// (rule C6). Each reign is judged by itself. Pure and thread-compatible.
class EtcdRoundPlan {
 public:
  // Of one question.
  using Ticket = std::int64_t;
  // As Reign::Confirm() returns it.
  using Verdict = std::pair<Ticket, absl::Status>;

  // `ops_max`: so many reigns one round may ask about; at least 1. The others wait for the next.
  explicit EtcdRoundPlan(int ops_max = kEtcdOpsMax) : ops_max_(ops_max) {}

  // Asks whether a reign stands. It takes part in a round that begins from now on.
  Ticket Ask(const EtcdReignToken& reign);
  // Begins a round with those who wait, the first to ask first: what to send now. Nothing if a
  // round is under way, or nobody waits.
  std::optional<EtcdTxn> Begin();
  // What came of the round under way, which has ended. kFailedPrecondition: that reign is over.
  // Without an answer nothing is known of any.
  std::vector<Verdict> End(const absl::StatusOr<EtcdTxnResult>& result);

 private:
  struct Question {
    Ticket ticket;
    EtcdReignToken reign;
  };

  const int ops_max_;
  Ticket last_ = 0;
  std::deque<Question> waiting_;
  std::vector<Question> under_way_;
};

}  // namespace plimsoll
