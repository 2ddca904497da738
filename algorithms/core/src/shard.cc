#include "plimsoll/core/shard.h"

#include <algorithm>
#include <utility>

#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t StableHash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return Mix(hash);
}

int ShardOf(const DependencyId& dependency, int shards) {
  PLIMSOLL_CHECK(shards >= 1 && shards <= kShardsMax, "there are 1 to 256 shards");
  const std::uint64_t highest = StableHash(dependency.value) >> 32;
  return static_cast<int>((highest * static_cast<std::uint64_t>(shards)) >> 32);
}

std::vector<std::string> PreferredOwners(int shard, std::vector<std::string> members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  const std::uint64_t salt = Mix(static_cast<std::uint64_t>(shard) + 0x9e3779b97f4a7c15);
  std::stable_sort(members.begin(), members.end(),
                   [salt](const std::string& a, const std::string& b) {
                     return Mix(StableHash(a) ^ salt) > Mix(StableHash(b) ^ salt);
                   });
  return members;
}

}  // namespace plimsoll
