#include "tests/scale/placement.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace plimsoll::scale {
namespace {

std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// FNV-1a, mixed: its highest bits hardly depend on the last bytes.
std::uint64_t StableHash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return Mix(hash);
}

}  // namespace

int ShardOf(std::string_view dependency, int shards) {
  const std::uint64_t highest = StableHash(dependency) >> 32;
  return static_cast<int>((highest * static_cast<std::uint64_t>(shards)) >> 32);
}

std::vector<int> Ranked(int shard, int controllers) {
  const std::uint64_t salt = Mix(static_cast<std::uint64_t>(shard) + 0x9e3779b97f4a7c15);
  std::vector<std::uint64_t> weights;
  for (int i = 0; i < controllers; ++i) {
    weights.push_back(Mix(StableHash(absl::StrCat("controller-", i)) ^ salt));
  }
  std::vector<int> ranked(weights.size());
  std::iota(ranked.begin(), ranked.end(), 0);
  std::stable_sort(ranked.begin(), ranked.end(), [&weights](int a, int b) {
    return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
  });
  return ranked;
}

}  // namespace plimsoll::scale
