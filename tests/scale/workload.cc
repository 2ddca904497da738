#include "tests/scale/workload.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/random.h"
#include "tests/scale/placement.h"

namespace plimsoll::scale {
namespace {

constexpr int kScarceEvery = 10;
constexpr double kScarce = 1.0 / 6;

// Draws 0 to n - 1, by Zipf's law.
class Popularity {
 public:
  Popularity(int n, double exponent) {
    double sum = 0;
    for (int i = 1; i <= n; ++i) sums_.push_back(sum += std::pow(i, -exponent));
  }
  int Draw(Random& random) const {
    const double at = random.Uniform() * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
    return static_cast<int>(std::min(found, sums_.end() - 1) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

Policy MakePolicy(const Options& options, int dependency, int members) {
  Policy policy;
  policy.name = DependencyId(absl::StrCat("dependency-", dependency));
  // Of every tenth there is less than one call for each: its instances take turns.
  const bool scarce = dependency % kScarceEvery == kScarceEvery - 1;
  const double quota = options.quota_per_member * members * (scarce ? kScarce : 1);
  policy.quota = std::max(1, static_cast<Calls>(quota));
  policy.algorithm.floor = 1;
  policy.algorithm.ceiling = 8;
  policy.algorithm.initial = 8;
  policy.call_deadline = absl::Seconds(3);
  policy.outage.base = scarce ? 0 : 1;
  return policy;
}

std::vector<int> DrawDependencies(const Options& options, const Popularity& popularity,
                                  Random& random) {
  const auto count = 1 + random.Below(static_cast<std::uint64_t>(options.per_agent));
  std::vector<int> drawn;
  while (drawn.size() < count) {
    const int one = popularity.Draw(random);
    if (std::find(drawn.begin(), drawn.end(), one) == drawn.end()) drawn.push_back(one);
  }
  return drawn;
}

}  // namespace

Workload MakeWorkload(const Options& options) {
  Random random(options.seed ^ 0x3031'10ad'0000'0002U);
  const Popularity popularity(options.dependencies, options.popularity);
  Workload workload;
  workload.shards.resize(static_cast<std::size_t>(options.shards));
  std::vector<int> members(static_cast<std::size_t>(options.dependencies));
  std::vector<std::size_t> shard_of;
  std::vector<int> index_in_shard;
  std::vector<int> filled(workload.shards.size());
  for (int i = 0; i < options.dependencies; ++i) {
    const auto shard =
        static_cast<std::size_t>(ShardOf(absl::StrCat("dependency-", i), options.shards));
    shard_of.push_back(shard);
    index_in_shard.push_back(filled[shard]++);
  }
  for (int agent = 0; agent < options.agents; ++agent) {
    std::map<std::size_t, AgentPart> parts;
    for (const int one : DrawDependencies(options, popularity, random)) {
      const auto dependency = static_cast<std::size_t>(one);
      ++members[dependency];
      ++workload.memberships;
      AgentPart& part = parts[shard_of[dependency]];
      part.agent = agent;
      part.dependencies.push_back(index_in_shard[dependency]);
    }
    workload.sessions += static_cast<std::int64_t>(parts.size());
    for (auto& [shard, part] : parts) workload.shards[shard].agents.push_back(std::move(part));
  }
  for (int i = 0; i < options.dependencies; ++i) {
    const auto dependency = static_cast<std::size_t>(i);
    workload.shards[shard_of[dependency]].policies.push_back(
        MakePolicy(options, i, members[dependency]));
  }
  std::sort(members.begin(), members.end());
  workload.members_max = members.back();
  workload.members_median = members[members.size() / 2];
  return workload;
}

}  // namespace plimsoll::scale
