#pragma once

#include <string>
#include <vector>

#include "plimsoll/controller/policy.h"
#include "plimsoll/core/time.h"
#include "tests/scale/figures.h"

namespace plimsoll::scale {

// What one instance has of one dependency, in truth and at this moment.
struct Tally {
  Calls limit = 0;    // in force by its own clock
  Calls running = 0;  // calls at the provider
  Calls wanted = 0;   // what its callers would run

  Calls used() const { return limit < wanted ? limit : wanted; }
};

// Adds up what all instances have, apart from everything that controllers believe, and says when it
// is more than the quota. Thread-compatible.
class Books {
 public:
  Books(const std::vector<Policy>& policies, Figures& figures);

  void Replace(std::size_t dependency, const Tally& before, const Tally& after, Instant now);
  // What a controller has reserved, by its own books.
  void CheckReserved(std::size_t dependency, std::int64_t reserved, Instant now);
  // What it has reserved for one instance must cover what that has.
  void CheckCovered(std::size_t dependency, Calls reserved, const Tally& has, Instant now);

  const DependencyId& name(std::size_t dependency) const { return sums_[dependency].name; }
  std::size_t size() const { return sums_.size(); }
  // Of all dependencies: what instances could use, and of that what they may.
  std::int64_t usable() const;
  std::int64_t used() const;

 private:
  struct Sums {
    DependencyId name;
    std::int64_t quota = 0;
    std::int64_t limits = 0;
    std::int64_t running = 0;
    std::int64_t wanted = 0;
    std::int64_t used = 0;
  };

  void Check(const Sums& sums, std::int64_t sum, double& most, const char* what, Instant now);
  void Report(const DependencyId& name, const std::string& what, Instant now);

  std::vector<Sums> sums_;
  Figures& figures_;
};

}  // namespace plimsoll::scale
