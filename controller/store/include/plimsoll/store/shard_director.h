#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/time.h"

namespace plimsoll {

// Who is there, and who leads which shard, as found at one moment.
struct ShardView {
  std::vector<std::string> members = {};  // ids of controllers
  std::vector<std::string> owners = {};   // id by shard; empty: nobody leads it

  friend bool operator==(const ShardView&, const ShardView&) = default;
};

// Who should take a shard that nobody leads, first to last: not who led it last, then who has the
// fewest, then by PreferredOwners(). Shards that are free are thought of one after the other, so
// that all who see the same find the same. Pure.
std::vector<std::string> CandidatesFor(int shard, const ShardView& view,
                                       const std::vector<std::string>& last_owners);

// What `self` should give away, and to whom: only if it has the most of all, two more than whoever
// has the fewest, and no shard is free; so at most one member finds something, each hand-over makes
// all more equal, and it ends. Pure.
struct HandOver {
  int shard = 0;
  std::string to;
};
std::optional<HandOver> UnevenShare(const ShardView& view, const std::string& self);

struct ShardDirectorOptions {
  std::string self;
  int shards = 1;
  // How long each waits for whoever comes before it.
  absl::Duration patience = absl::Seconds(1);
  // How long it must be uneven, without a change of members, before something is handed over.
  absl::Duration settle = absl::Seconds(5);
  // Who was given a shard and did not take it is given none for `settle`, twice that the next time,
  // at most this long.
  absl::Duration doubt_max = absl::Minutes(5);
};

// For which shards one of several controllers stands for election, and when it hands one over.
// Nothing that it says can harm: who leads is decided by the store alone. Pure: views and time are
// handed in. Thread-compatible.
class ShardDirector {
 public:
  explicit ShardDirector(ShardDirectorOptions options);

  void See(const ShardView& view, Instant now);
  // Whether to stand for election, if nobody leads this shard.
  bool MayStand(int shard, Instant now) const;
  // A shard to hand over now. It is taken for handed over.
  std::optional<int> TakeHandOver(Instant now);

 private:
  void JudgeHandOver(Instant now);

  const ShardDirectorOptions options_;
  ShardView view_;
  std::vector<std::string> last_owners_;            // by shard
  std::vector<std::optional<Instant>> free_since_;  // by shard
  std::optional<Instant> uneven_since_;
  std::optional<HandOver> given_;  // and not yet taken
  bool given_up_ = false;          // self does not lead it any more
  Instant given_at_;
  struct Doubt {
    int times = 0;
    Instant until;
  };
  std::map<std::string, Doubt> doubts_;
};

}  // namespace plimsoll
