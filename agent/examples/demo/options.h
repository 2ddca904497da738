#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/examples/demo/replica.h"

namespace plimsoll::demo {

inline constexpr char kUsage[] =
    "usage: plimsoll-demo [--seconds N] [--lane both|unlimited|plimsoll] [--plain] [--json]\n"
    "                     [--keep SECONDS] [--seed S] [--controller PATH] [--cli PATH]\n"
    "\n"
    "Eight replicas call a provider that survives 50 calls at once: first with a hand-set limit "
    "of\n"
    "20 each, then with a controller and a quota of 50. The provider counts, and the console of "
    "the\n"
    "controller shows it.\n"
    "\n"
    "  --seconds N        length of both lanes together, 12 to 3600 (default 60)\n"
    "  --lane LANE        run only one of them, for --seconds N, at least 8\n"
    "  --plain            a line a second instead of one that is drawn again\n"
    "  --json             no progress, and the result as one JSON object on standard output\n"
    "  --keep SECONDS     afterwards, let fleet and console live for so long (default: on a "
    "terminal\n"
    "                     until Ctrl-C, but not with --plain or in CI; else not at all)\n"
    "  --seed S           of the arrivals (default 1)\n"
    "  --controller PATH  of plimsoll-controller (default: beside this program)\n"
    "  --cli PATH         of plimsoll, which tells why (default: beside this program)\n"
    "\n"
    "Exit status: 0 fine, 1 the quota was exceeded or something did not start, 2 usage,\n"
    "130 interrupted.\n";

struct DemoOptions {
  bool help = false;
  double seconds = 60;
  bool unlimited_lane = true;
  bool plimsoll_lane = true;
  bool plain = false;
  bool json = false;
  std::uint64_t seed = 1;
  double keep_seconds = -1;  // negative: not said
  std::string controller;    // empty: beside this program
  std::string cli;           // likewise

  bool is_replica = false;  // how the demo starts its replicas
  ReplicaOptions replica;
};

// `arguments` without the name of the program.
absl::StatusOr<DemoOptions> ParseOptions(const std::vector<std::string>& arguments);

}  // namespace plimsoll::demo
