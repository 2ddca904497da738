// What a successor can find, against a disk that may take or lose what it was not sure of. Rule C4.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/src/durable_bounds.h"
#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

constexpr int kKeys = 3;
constexpr int kSteps = 200;

BoundKey KeyOf(int i) { return {DependencyId("db"), SessionId(absl::StrCat("1-", i))}; }

// All values that a successor may find for one key.
using Possible = std::set<Calls>;

// A disk whose contents are known only as far as it has said.
class DoubtfulDisk {
 public:
  void Begin(const WriteBatch& batch) {
    for (const Bound& bound : batch.put) pending_[IndexOf(bound.key)] = bound.steps.limit;
    for (const BoundKey& key : batch.erase) pending_[IndexOf(key)] = 0;
  }
  void End(bool ok) {
    for (int i = 0; i < kKeys; ++i) {
      if (!pending_[i].has_value()) continue;
      if (ok) {
        found_[i] = {*pending_[i]};
        acknowledged_[i] = *pending_[i];
      } else {
        found_[i].insert(*pending_[i]);
      }
      pending_[i].reset();
    }
  }
  Calls Least(int i) const {
    Calls least = *found_[i].begin();
    if (pending_[i].has_value()) least = std::min(least, *pending_[i]);
    return least;
  }
  // What the mutants look at.
  Calls acknowledged(int i) const { return acknowledged_[i]; }
  Calls newest(int i) const { return pending_[i].value_or(acknowledged_[i]); }

 private:
  static int IndexOf(const BoundKey& key) { return key.session.value.back() - '0'; }

  std::array<Possible, kKeys> found_ = {Possible{0}, Possible{0}, Possible{0}};
  std::array<std::optional<Calls>, kKeys> pending_;
  std::array<Calls, kKeys> acknowledged_{};
};

using LowestOf = std::function<Calls(const DurableBounds&, const DoubtfulDisk&, int)>;

// Lives one history; true if `lowest` was never above what a successor might find.
bool NeverAbove(std::uint64_t seed, const LowestOf& lowest, bool* ever_useful) {
  Random random(seed);
  DurableBounds bounds({}, 1 + seed % 3);  // so that raises wait
  DoubtfulDisk disk;
  std::array<Calls, kKeys> wanted{};
  const auto wanted_of = [&wanted](const BoundKey& key) -> DurableBounds::Wanted {
    const Calls limit = wanted[static_cast<std::size_t>(key.session.value.back() - '0')];
    if (limit == 0) return std::nullopt;
    return BoundValue{{limit, 0, 0}, {}, {}, {}};
  };
  const auto named = [](const BoundKey& key, const BoundValue& value) {
    Bound bound;
    bound.key = key;
    bound.steps = value.steps;
    return bound;
  };
  for (int step = 0; step < kSteps; ++step) {
    const int i = static_cast<int>(random.Below(kKeys));
    if (random.Chance(0.5)) {
      wanted[static_cast<std::size_t>(i)] = static_cast<Calls>(random.Below(9));
      bounds.Touch(KeyOf(i), Instant{});
    } else if (bounds.writing()) {
      const bool ok = random.Chance(0.7);
      bounds.Finish(ok, Instant{});
      disk.End(ok);
    } else {
      FifoSet<SessionId> waiting;
      waiting.Insert(KeyOf(i).session);
      disk.Begin(bounds.Start(wanted_of, named, waiting).batch);
    }
    for (int k = 0; k < kKeys; ++k) {
      if (lowest(bounds, disk, k) > disk.Least(k)) return false;
      if (disk.Least(k) > 0 && lowest(bounds, disk, k) == disk.Least(k)) *ever_useful = true;
    }
  }
  return true;
}

bool HoldsInAll(const LowestOf& lowest) {
  bool useful = false;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    if (!NeverAbove(seed, lowest, &useful)) return false;
  }
  EXPECT_TRUE(useful) << "zero would hold as well";
  return true;
}

TEST(DurableBoundsPropertyTest, TheLowestIsNeverAboveWhatASuccessorMightFind) {
  EXPECT_TRUE(HoldsInAll([](const DurableBounds& bounds, const DoubtfulDisk&, int i) {
    const DurableBounds::Wanted lowest = bounds.Lowest(KeyOf(i));
    return lowest.has_value() ? lowest->steps.limit : 0;
  }));
}

TEST(DurableBoundsPropertyTest, TheMutantThatTrustsTheLastAcknowledgementIsCaught) {
  EXPECT_FALSE(HoldsInAll(
      [](const DurableBounds&, const DoubtfulDisk& disk, int i) { return disk.acknowledged(i); }));
}

TEST(DurableBoundsPropertyTest, TheMutantThatTrustsTheWriteUnderWayIsCaught) {
  EXPECT_FALSE(HoldsInAll(
      [](const DurableBounds&, const DoubtfulDisk& disk, int i) { return disk.newest(i); }));
}

}  // namespace
}  // namespace plimsoll::internal
