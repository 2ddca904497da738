#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace plimsoll::scale {

// Which shard a dependency belongs to: a function of its name and the number of shards alone.
int ShardOf(std::string_view dependency, int shards);

// Controllers 0 to n - 1, the one that should own the shard first, and whoever comes next while
// those before it are away (rendezvous hashing): the death of one moves its own shards and no
// others.
std::vector<int> Ranked(int shard, int controllers);

}  // namespace plimsoll::scale
