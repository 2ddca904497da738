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

// The shard of that dependency, or of the event that is asked for; of `shards`.
std::optional<int> ShardAskedFor(const HttpRequest& request, int shards);

// What is answered, or done, only as far as it is led here: lists, and what is about an instance.
bool IsPartial(const HttpRequest& request);
// "partial":true,"elsewhere":[{"shard", "api"}], for a JSON object: what is not led here, and where
// it is. Empty if all is here.
std::string ElsewhereMembers(const std::vector<ControllerView::ShardFacts>& shards);
// Has the answer say so: 204 becomes 200, since it has something to say, and 404 means that it is
// not known here. Nothing if all is here, or if the answer is something else.
void AddElsewhere(const std::vector<ControllerView::ShardFacts>& shards, const HttpRequest& request,
                  HttpResponse& response);

}  // namespace plimsoll::internal
