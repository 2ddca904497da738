#pragma once

#include <cstdint>

namespace plimsoll {

// A small seeded generator (xoshiro256**, seeded through splitmix64: https://prng.di.unimi.it).
// Same seed, same numbers, on every machine and with every standard library, which is why the
// distributions of <random> are not used. Not for secrets. Thread-compatible.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  // A generator seeded by the operating system, for production.
  static Random FromEntropy();

  std::uint64_t Next();
  // Uniform in [0, 1).
  double Uniform();
  // Uniform in [low, high). Requires low <= high.
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // Uniform in [0, bound). Requires bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Exponentially distributed with the given mean, >= 0.
  double Exponential(double mean);
  // True with the given probability.
  bool Chance(double probability) { return Uniform() < probability; }

 private:
  std::uint64_t state_[4];
};

}  // namespace plimsoll
