// Several controllers share the shards: what is about one dependency is asked of the owner of its
// shard; lists, and what is about an instance, say what is led here, and where the rest is.
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/http/src/operator_plane.h"
#include "api/http/src/shard_views.h"
#include "api/http/src/stand_by.h"

namespace plimsoll::internal {

const char* OperatorPlane::HandleSharded(const std::vector<ControllerView::ShardFacts>& shards,
                                         const HttpRequest& request, const ExchangePtr& exchange) {
  if (const auto shard = ShardAskedFor(request, static_cast<int>(shards.size()))) {
    const ControllerView::ShardFacts& facts = shards[static_cast<std::size_t>(*shard)];
    if (facts.self) return router_.Dispatch(request, exchange);
    HttpResponse response = SendToLeader(request, facts.leader.api);
    const std::string& leader = facts.leader.api;
    response.headers.emplace_back("X-Plimsoll-Leader", leader.empty() ? "unknown" : leader);
    exchange->Reply(std::move(response));
    return kNoRoute;
  }
  if (!IsPartial(request)) return router_.Dispatch(request, exchange);
  const auto inner = std::make_shared<Exchange>();
  inner->OnReply([answered = inner.get(), exchange, shards, request] {
    HttpResponse response = answered->TakeResponse();
    AddElsewhere(shards, request, response);
    exchange->Reply(std::move(response));
  });
  return router_.Dispatch(request, inner);
}

}  // namespace plimsoll::internal
