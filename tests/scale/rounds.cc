#include "tests/scale/rounds.h"

#include <algorithm>
#include <utility>

#include "plimsoll/store/etcd_round_plan.h"

namespace plimsoll::scale {
namespace {

// The rounds of one controller, one after the other.
class Rounds {
 public:
  Rounds(const Options& options, Random random) : options_(options), random_(random) {}

  void Ask(Instant at) {
    EndUntil(at);
    plan_.Ask({});
    Begin(at);
  }
  void EndUntil(Instant at) {
    while (under_way_ && ends_ <= at) {
      under_way_ = false;
      // What it says is judged shard by shard, in the world of each.
      plan_.End(absl::UnavailableError("not asked"));
      Begin(ends_);
    }
  }
  std::vector<Instant> Take() { return std::move(begun_); }

 private:
  void Begin(Instant at) {
    if (!plan_.Begin().has_value()) return;
    under_way_ = true;
    begun_.push_back(at);
    ends_ = at + options_.etcd_min + random_.Uniform() * (options_.etcd_max - options_.etcd_min);
  }

  const Options& options_;
  Random random_;
  EtcdRoundPlan plan_;
  bool under_way_ = false;
  Instant ends_;
  std::vector<Instant> begun_;
};

}  // namespace

std::vector<Instant> RoundsOf(std::vector<Instant> asked, const Options& options, Random random) {
  std::sort(asked.begin(), asked.end());
  Rounds rounds(options, random);
  for (const Instant at : asked) rounds.Ask(at);
  rounds.EndUntil(Instant{} + options.length + absl::Seconds(1));
  return rounds.Take();
}

}  // namespace plimsoll::scale
