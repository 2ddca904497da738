#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/core/types.h"

namespace plimsoll {

// Dividing dependencies among controllers. A shard is a Plimsoll of its own, with the dependencies
// that this puts there; agents and controllers must agree, so nothing of it may ever change. Pure;
// thread-safe.

inline constexpr int kShardsMax = 256;

// Of the bytes: FNV-1a, and then the mixing of SplitMix64, since the highest bits of the former
// hardly depend on the last bytes. The same on every machine and in every version.
std::uint64_t StableHash(std::string_view bytes);

// Which of `shards` (1 to kShardsMax) the dependency belongs to: [0, shards). The highest bits of
// the hash times `shards`, as a fraction.
int ShardOf(const DependencyId& dependency, int shards);

// Who of `members` should own a shard: the first, or whoever comes next while those before are
// away. Each pair of member and shard has a weight, and the largest comes first (rendezvous
// hashing): who joins or leaves moves only what it gets or had.
std::vector<std::string> PreferredOwners(int shard, std::vector<std::string> members);

}  // namespace plimsoll
