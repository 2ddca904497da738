#include "plimsoll/core/random.h"

#include <bit>
#include <cmath>
#include <random>

#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

std::uint64_t SplitMix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = SplitMix(seed);
}

Random Random::FromEntropy() {
  std::random_device device;
  return Random((std::uint64_t{device()} << 32) ^ device());
}

std::uint64_t Random::Next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::Uniform() {
  // The 53 highest bits fill the mantissa of a double exactly.
  return static_cast<double>(Next() >> 11) * 0x1.0p-53;
}

std::uint64_t Random::Below(std::uint64_t bound) {
  PLIMSOLL_CHECK(bound > 0, "the bound of a random number must be positive");
  // Values under the threshold would favour small results.
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t value = Next();
    if (value >= threshold) return value % bound;
  }
}

double Random::Exponential(double mean) { return -mean * std::log1p(-Uniform()); }

}  // namespace plimsoll
