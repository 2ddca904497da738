#include "plimsoll/store/etcd_round_plan.h"

#include <iterator>
#include <string>

#include "controller/store/src/etcd_values.h"

namespace plimsoll {
namespace {

absl::Status Judge(const EtcdReignToken& reign, const EtcdRangeResult& leader) {
  if (leader.kvs.empty()) {
    return absl::FailedPreconditionError("the lease of this reign has ended");
  }
  if (leader.kvs[0].create_revision == reign.token) return absl::OkStatus();
  return absl::FailedPreconditionError("another controller has taken over");
}

}  // namespace

EtcdRoundPlan::Ticket EtcdRoundPlan::Ask(const EtcdReignToken& reign) {
  waiting_.push_back({++last_, reign});
  return last_;
}

// Nothing is compared: one reign that is over would keep the others from being judged. One alone
// has nobody to keep from it.
std::optional<EtcdTxn> EtcdRoundPlan::Begin() {
  if (!under_way_.empty() || waiting_.empty()) return std::nullopt;
  while (!waiting_.empty() && std::ssize(under_way_) < ops_max_) {
    under_way_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  if (under_way_.size() == 1) return EtcdReignPlan::ConfirmTxn(under_way_[0].reign);
  EtcdTxn txn;
  for (const Question& question : under_way_) {
    const internal::EtcdKeys keys(question.reign.prefix);
    txn.success.push_back(EtcdRange{.key = keys.Leader(), .keys_only = true});
  }
  return txn;
}

std::vector<EtcdRoundPlan::Verdict> EtcdRoundPlan::End(
    const absl::StatusOr<EtcdTxnResult>& result) {
  const std::vector<Question> asked = std::exchange(under_way_, {});
  absl::Status unknown;
  if (!result.ok()) {
    unknown = absl::UnavailableError(std::string(result.status().message()));
  } else if (asked.size() > 1 && result->ranges.size() != asked.size()) {
    unknown = absl::UnavailableError("etcd: not all ranges were answered");
  }
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    absl::Status verdict = unknown;
    if (verdict.ok()) {
      verdict = asked.size() == 1 ? EtcdReignPlan::ReadConfirm(*result)
                                  : Judge(asked[i].reign, result->ranges[i]);
    }
    verdicts.emplace_back(asked[i].ticket, std::move(verdict));
  }
  return verdicts;
}

}  // namespace plimsoll
