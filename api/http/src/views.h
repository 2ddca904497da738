#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/snapshot.h"
#include "plimsoll/http/operations.h"

namespace plimsoll::internal {

// The JSON of the operator plane: pure functions of the read model. Thread-safe.

// Turns instants into calendar time: both clocks, read together.
struct TimeBase {
  Instant now;
  absl::Time wall;
};

// An instant as RFC 3339 in UTC.
std::string TimeText(Instant at, const TimeBase& time);

// What the controller knows of itself.
struct ServerFacts {
  std::string version;
  std::string state_mode;
  std::string config_hash;
  std::string revision = {};       // of the sources; empty: unknown
  std::string config_schema = {};  // JSON; empty: there is none to serve
  bool leads = true;
  std::string leader = {};  // where the leader's API is; with a store that changes hands
};

nlohmann::ordered_json StatusView(const Snapshot& snapshot, const ServerFacts& facts,
                                  const TimeBase& time);
// For how long the controller learns and why, in one sentence; empty if it does not.
std::string LearningText(const Snapshot& snapshot, Instant now);
// `limits` are all rows of this dependency; `learning` as of the snapshot.
nlohmann::ordered_json DependencyView(const DependencyRow& row,
                                      const std::vector<const LimitRow*>& limits, bool learning,
                                      const TimeBase& time,
                                      const std::optional<DependencyFacts>& facts = std::nullopt);
// "FILE" or "API".
std::string OriginOf(const std::optional<DependencyFacts>& facts);
nlohmann::ordered_json QuotaView(const DependencyRow& row,
                                 const std::vector<const LimitRow*>& limits);
// `has_quota` tells whether quota_share means anything.
nlohmann::ordered_json LimitView(const LimitRow& row, bool has_quota, const TimeBase& time);
nlohmann::ordered_json InstanceView(const InstanceRow& row, const TimeBase& time);
nlohmann::ordered_json EventView(const LogEvent& event, const TimeBase& time);

// "OK", "LIMITED", "AT_FLOOR", "STARVED" or "NO_INSTANCES".
std::string Health(const DependencyRow& row, const std::vector<const LimitRow*>& limits);

}  // namespace plimsoll::internal
