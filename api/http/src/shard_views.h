#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/http/src/controller_view.h"
#include "api/http/src/http_message.h"

namespace plimsoll::internal {

// What operators see of several shards. Pure. Thread-safe.

// The member `shards` of /v1/status: [{"shard", "owner", "role", "epoch", "dependencies"}].
nlohmann::ordered_json ShardsView(const std::vector<ControllerView::ShardFacts>& shards,
                                  const Snapshot& snapshot);

// The dependency that a request is about, and that only the owner of its shard knows. Nothing for
// one about all, or about a controller; or of an address that says nothing sensible.
std::optional<std::string> DependencyOf(const HttpRequest& request);

// What is answered only as far as it is led here: lists.
bool IsPartial(const HttpRequest& request);
// Says so, and where the rest is: "partial": true, "elsewhere": [{"shard", "api"}]. Nothing if all
// is here, or if the answer is no JSON object.
void AddElsewhere(const std::vector<ControllerView::ShardFacts>& shards, HttpResponse& response);

}  // namespace plimsoll::internal
