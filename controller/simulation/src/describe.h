#pragma once

#include <string>
#include <vector>

#include "agent/src/transport.h"
#include "controller/simulation/src/sabotage.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/grant.h"

namespace plimsoll::internal {

// Texts for readable traces. Steps are written limit/base/reserve, stamps epoch.seq.
std::string Describe(const Steps& steps);
std::string Describe(const std::vector<Bound>& bounds);
std::string Describe(const AgentMessage& message);
std::string Describe(const Answer& answer);

}  // namespace plimsoll::internal
