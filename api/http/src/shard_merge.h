#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/snapshot.h"

namespace plimsoll::internal {

// What the shards of one controller have to say, as one: pure functions. Sessions and events are
// numbered by each shard alone, so with several shards their ids are shown with the shard's number
// before them: "3.1764523-17". Thread-safe.

std::string ShardedId(int shard, const std::string& id);
// Nothing for an id without a shard.
std::optional<std::pair<int, std::string>> SplitShardedId(const std::string& id);

using ShardSnapshots = std::vector<std::pair<int, std::shared_ptr<const Snapshot>>>;
// `snapshots` are those of the shards that are led here; if there is none, `idle` tells since when
// the process runs.
Snapshot MergeSnapshots(const ShardSnapshots& snapshots, const Snapshot& idle);

// Newest first, of the logs of several shards, by (shard, log). With `filter.before` and
// `filter.after` as ids with a shard: among events of one instant, those of lower shards are older.
using ShardLogs = std::vector<std::pair<int, const EventLog*>>;
std::vector<LogEvent> FindInLogs(const ShardLogs& logs, const EventLog::Filter& filter, int limit);
std::optional<LogEvent> GetFromLogs(const ShardLogs& logs, const std::string& id);

// Audit records of several shards, each newest first, as one list: newest first, at most `limit`.
std::vector<std::string> MergeAudit(std::vector<std::vector<std::string>> records, int limit);

}  // namespace plimsoll::internal
