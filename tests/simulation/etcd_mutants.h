#pragma once

#include <vector>

#include "tests/simulation/mutants.h"

namespace plimsoll::internal {

// The protocol between a controller and etcd without one of its rules: E1 to E6 as numbered below
// "etcd" in controller/store/README.md, and those of the quota protocol that it carries.
std::vector<Mutant> EtcdMutants();

}  // namespace plimsoll::internal
