#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/finale.h"
#include "agent/examples/demo/lane.h"
#include "agent/examples/demo/options.h"
#include "agent/examples/demo/screen.h"
#include "agent/examples/demo/temporary_folder.h"

namespace plimsoll::demo {

// The demo once, on one controller whose console can be looked at all the time. Confined to the
// thread that made it.
class Story {
 public:
  explicit Story(const DemoOptions& options);

  // Unless it is for programs (--json), prints the scoreboard, the sentences of `plimsoll why`, and
  // lets the fleet live for a while. Returns what came out, a lane each.
  absl::StatusOr<std::vector<LaneResult>> Tell();

 private:
  LaneOptions Lane(double part) const;
  absl::Status TellOfUnlimited();
  absl::Status TellOfPlimsoll();
  void Conclude(const std::vector<Replica>& replicas, bool goes_on);

  const DemoOptions options_;
  Screen screen_;
  const TemporaryFolder folder_;
  ControllerProcess controller_;
  Places places_;
  std::vector<LaneResult> results_;
};

}  // namespace plimsoll::demo
