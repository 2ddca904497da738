#pragma once

#include <vector>

#include "tests/simulation/mutants.h"

namespace plimsoll::internal {

// The protocol between a controller and etcd without one of its rules: E1 to E4 are the first
// four invariants below "etcd" in controller/store/README.md; the others are the quota protocol's.
std::vector<Mutant> EtcdMutants();

}  // namespace plimsoll::internal
