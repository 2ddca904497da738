#include "tests/integration/chaos/fault_kinds.h"

#include <array>

namespace plimsoll::chaos {
namespace {

constexpr Victim kReplica = Victim::kReplica;
constexpr Victim kController = Victim::kController;
constexpr Victim kEtcd = Victim::kEtcd;
constexpr Victim kPolicy = Victim::kPolicy;

// In the order of FaultKind. Pauses and cuts are shorter and longer than the lease of 2 s, the call
// deadline of 1 s, both together, and the base lease of 8 s. With several controllers the lease of
// agents is 6 s and that of the leader 2 s: what happens there is shorter and longer than both, but
// for quorums: a pause is to be ridden out, and a loss is not.
constexpr std::array<KindFacts, kFaultKinds> kFacts = {{
    {"kill replica", 3, 0.1, 3, kReplica, true, false, false},
    {"pause replica", 4, 0.5, 15, kReplica, true, false, false},
    {"restart replica", 1, 0.1, 2, kReplica, true, false, false},
    {"cut replica", 2, 0.3, 12, kReplica, false, true, false},
    {"cut from replica", 1, 0.3, 8, kReplica, false, true, false},
    {"cut to replica", 1, 0.3, 8, kReplica, false, true, false},
    {"disturb replica", 2, 1, 8, kReplica, false, true, false},
    {"kill controller", 2, 0.1, 5, kController, true, false, false},
    {"pause controller", 1, 0.3, 6, kController, true, false, false},
    {"restart controller", 1, 0.1, 2, kController, true, false, false},
    {"cut controller", 1, 0.3, 6, kController, false, true, false},
    {"disturb controller", 1, 1, 6, kController, false, true, false},
    {"surge", 1, 2, 8, kPolicy, true, false, false},
    {"quota", 2, 0, 0, kPolicy, false, false, false},
    {"cut controller from etcd", 2, 0.5, 10, kController, false, true, true},
    {"cut controller from agents", 1, 0.5, 10, kController, false, true, true},
    {"kill two controllers", 1, 0.5, 5, kController, true, false, true},
    {"kill etcd", 2, 0.1, 8, kEtcd, true, false, true},
    {"pause etcd", 2, 0.3, 10, kEtcd, true, false, true},
    {"restart etcd", 1, 0.1, 2, kEtcd, true, false, true},
    {"cut etcd peers", 1, 0.5, 10, kEtcd, false, true, true},
    {"cut etcd clients", 1, 0.5, 10, kEtcd, false, true, true},
    {"disturb etcd", 1, 1, 6, kEtcd, false, true, true},
    {"pause quorum", 1, 0.3, 2, kEtcd, true, false, true},
    {"lose quorum", 1, 8, 12, kEtcd, true, false, true},
}};

}  // namespace

const KindFacts& FactsOf(FaultKind kind) { return kFacts[static_cast<std::size_t>(kind)]; }

}  // namespace plimsoll::chaos
