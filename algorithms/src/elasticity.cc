#include <algorithm>
#include <cmath>

#include "plimsoll/algorithms/fleet_knee.h"

namespace plimsoll {
namespace {

// Before anything is known.
constexpr double kElasticityFirst = 0.5;
constexpr double kDeviationFirst = 0.1;
constexpr double kCountFirst = 4;
constexpr double kDeviationsMax = 3;
constexpr double kVarianceMin = 1e-6;

}  // namespace

void ElasticitySums::Add(double dx, double dn) {
  const double expected = (known() ? elasticity() : kElasticityFirst) * dn;
  const double deviation = count > kCountFirst ? std::sqrt(residuals / count) : kDeviationFirst;
  const double residual =
      std::clamp(dx - expected, -kDeviationsMax * deviation, kDeviationsMax * deviation);
  x += expected + residual;
  n += dn;
  residuals += residual * residual;
  count += 1;
}

void ElasticitySums::Scale(double by) {
  x *= by;
  n *= by;
  residuals *= by;
  count *= by;
}

double ElasticitySums::error() const {
  return std::sqrt(std::max(kVarianceMin, residuals / count)) * std::sqrt(count) / n;
}

}  // namespace plimsoll
