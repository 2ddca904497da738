#include "controller/main/shard_books.h"

namespace plimsoll {

PolicySet OfShard(const PolicySet& policies, int shard, int shards) {
  PolicySet own;
  for (const auto& [name, policy] : policies) {
    if (ShardOf(name, shards) == shard) own[name] = policy;
  }
  return own;
}

ShardBooks::ShardBooks(int shards, Make make) : make_(std::move(make)) {
  for (int shard = 0; shard < shards; ++shard) {
    books_.push_back(std::make_unique<CurrentBook>(make_(shard, {})));
  }
}

std::vector<Operations*> ShardBooks::all() const {
  std::vector<Operations*> all;
  for (const auto& book : books_) all.push_back(book.get());
  return all;
}

}  // namespace plimsoll
