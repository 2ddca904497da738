#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/main/current_book.h"
#include "controller/operations/policy_book.h"
#include "plimsoll/core/shard.h"

namespace plimsoll {

// Those of `policies` that belong to this shard.
PolicySet OfShard(const PolicySet& policies, int shard, int shards);

// What operators have set, in a book for each shard. As one, it answers for whichever dependency is
// asked about, and otherwise as the first does. As confined as Operations are.
class ShardBooks final : public Operations {
 public:
  // Makes the book of a shard, with what operators have set there.
  using Make =
      std::function<std::unique_ptr<PolicyBook>(int shard, const std::vector<Document>& documents)>;

  ShardBooks(int shards, Make make);

  // A reign over this shard begins, or has ended: then without documents.
  void Renew(int shard, const std::vector<Document>& documents) {
    at(shard).Replace(make_(shard, documents));
  }
  const PolicyBook& book(int shard) const { return at(shard).book(); }
  std::vector<Operations*> all() const;

  ChangePlan Plan(const ChangeRequest& request, absl::Time now) override {
    return of(DependencyId(request.name)).Plan(request, now);
  }
  std::optional<ChangePlan> Expire(absl::Time now) override { return at(0).Expire(now); }
  void Settle(const absl::Status& written) override { at(0).Settle(written); }
  std::optional<DependencyFacts> Find(const DependencyId& name) const override {
    return of(name).Find(name);
  }
  ConfigFacts config() const override { return at(0).config(); }
  std::vector<ChangeFault> Validate(const std::string& text) const override {
    return at(0).Validate(text);
  }
  Question ReadQuestion(const std::string& body, std::vector<ChangeFault>& faults) const override {
    return at(0).ReadQuestion(body, faults);
  }

 private:
  CurrentBook& at(int shard) const { return *books_[static_cast<std::size_t>(shard)]; }
  CurrentBook& of(const DependencyId& name) const {
    return at(ShardOf(name, static_cast<int>(books_.size())));
  }

  const Make make_;
  std::vector<std::unique_ptr<CurrentBook>> books_;
};

}  // namespace plimsoll
