#include "tests/scale/placement.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "plimsoll/core/check.h"
#include "plimsoll/core/shard.h"

namespace plimsoll::scale {
namespace {

constexpr char kName[] = "controller-";
constexpr std::size_t kNameSize = sizeof(kName) - 1;

}  // namespace

int ShardOf(std::string_view dependency, int shards) {
  return plimsoll::ShardOf(DependencyId(std::string(dependency)), shards);
}

std::vector<int> Ranked(int shard, int controllers) {
  std::vector<std::string> members;
  for (int i = 0; i < controllers; ++i) members.push_back(absl::StrCat(kName, i));
  std::vector<int> ranked;
  for (const std::string& member : PreferredOwners(shard, std::move(members))) {
    int number = 0;
    const bool read = absl::SimpleAtoi(member.substr(kNameSize), &number);
    PLIMSOLL_CHECK(read, "a member is named by its number");
    ranked.push_back(number);
  }
  return ranked;
}

}  // namespace plimsoll::scale
