#include "api/http/src/agent_plane.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/replies.h"
#include "plimsoll/core/shard.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {
namespace {

constexpr char kSessionsPath[] = "/v1/agent/sessions";
constexpr char kShardsPath[] = "/v1/agent/shards";

std::string SessionsPath(int shard, int shards) {
  return shards == 1 ? kSessionsPath : absl::StrCat(kShardsPath, "/", shard, "/sessions");
}

// "application/json; charset=utf-8" is JSON, too.
bool IsJson(const std::string& content_type) {
  std::string type = content_type.substr(0, content_type.find(';'));
  absl::StripAsciiWhitespace(&type);
  absl::AsciiStrToLower(&type);
  return type == "application/json";
}

HttpResponse ToResponse(const RegisterAnswer& answer, const std::string& sessions) {
  HttpResponse response;
  response.status = 201;
  response.headers.emplace_back("Location", absl::StrCat(sessions, "/", answer.session.value));
  response.body = Encode(answer);
  return response;
}

HttpResponse ToResponse(const SyncAnswer& answer) {
  HttpResponse response;
  response.body = Encode(answer);
  return response;
}

HttpResponse ToResponse(const Released& /*released*/) {
  HttpResponse response;
  response.status = 204;
  return response;
}

HttpResponse ForeignSession() {
  return ProblemResponse(403, "PERMISSION_DENIED",
                         "another agent opened this session: register one of your own");
}

HttpResponse ToResponse(const Refusal& refusal, const std::string& leader) {
  Problem problem;
  problem.status = HttpStatus(refusal.code);
  problem.code = std::string(ToString(refusal.code));
  problem.detail = refusal.detail;
  problem.epoch = refusal.epoch;
  problem.leader = leader;
  HttpResponse response = ProblemResponse(std::move(problem));
  // A controller that goes away sends agents to the next one at once.
  if (refusal.code == RefusalCode::kNotReady) response.headers.emplace_back("Retry-After", "0");
  if (refusal.code == RefusalCode::kRateLimited) response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

AgentPlane::AgentPlane(const std::vector<CoreDriver*>& drivers, UnheardWatch* watch)
    : watch_(watch), router_({}) {
  for (CoreDriver* driver : drivers) shards_.push_back({count(), driver});
  router_ = Router(Routes());
}

std::vector<Route> AgentPlane::Routes() {
  std::vector<Route> routes;
  const auto shards = [this](const RoutedRequest& /*routed*/, const ExchangePtr& exchange) {
    Shards(exchange);
  };
  routes.push_back({"GET", kShardsPath, {}, shards, Role::kAgent});
  if (count() == 1) {
    routes.push_back(ShardRoute("POST", kSessionsPath, &AgentPlane::Register));
    routes.push_back(ShardRoute("POST", "/v1/agent/sessions/{s}/sync", &AgentPlane::Sync));
    routes.push_back(ShardRoute("DELETE", "/v1/agent/sessions/{s}", &AgentPlane::Release));
    return routes;
  }
  const auto refuse = [this](const RoutedRequest& /*routed*/, const ExchangePtr& exchange) {
    RefuseUnsharded(*exchange);
  };
  routes.push_back({"POST", kSessionsPath, {}, refuse, Role::kAgent});
  routes.push_back({"POST", "/v1/agent/sessions/{s}/sync", {}, refuse, Role::kAgent});
  routes.push_back({"DELETE", "/v1/agent/sessions/{s}", {}, refuse, Role::kAgent});
  routes.push_back(ShardRoute("POST", "/v1/agent/shards/{k}/sessions", &AgentPlane::Register));
  routes.push_back(ShardRoute("POST", "/v1/agent/shards/{k}/sessions/{s}/sync", &AgentPlane::Sync));
  routes.push_back(ShardRoute("DELETE", "/v1/agent/shards/{k}/sessions/{s}", &AgentPlane::Release));
  return routes;
}

Route AgentPlane::ShardRoute(const char* method, const char* pattern, Handler handler) {
  return {method,
          pattern,
          {},
          [this, handler](const RoutedRequest& routed, const ExchangePtr& exchange) {
            int shard = 0;
            if (count() > 1 && (!absl::SimpleAtoi(routed.names.front(), &shard) || shard < 0 ||
                                shard >= count())) {
              return exchange->Reply(NoSuch("shard", routed.names.front()));
            }
            (this->*handler)(shards_[static_cast<std::size_t>(shard)], routed, exchange);
          },
          Role::kAgent};
}

// For agents of other makes; the library learns the number from a refusal.
void AgentPlane::Shards(const ExchangePtr& exchange) const {
  nlohmann::ordered_json leaders = nlohmann::ordered_json::array();
  for (const Shard& shard : shards_) {
    const std::string at = shard.driver->leader().agents;
    if (!at.empty()) leaders.push_back({{"shard", shard.number}, {"agents", at}});
  }
  exchange->Reply(JsonReply(200, {{"shards", count()}, {"leaders", leaders}}));
}

void AgentPlane::RefuseUnsharded(Exchange& exchange) const {
  Problem problem;
  problem.status = HttpStatus(RefusalCode::kAgentTooOld);
  problem.code = std::string(ToString(RefusalCode::kAgentTooOld));
  problem.detail = absl::StrCat("this fleet has ", count(),
                                " shards, and each wants a session of its own, below ", kShardsPath,
                                "/{shard}: update the agent if it does not know of them");
  problem.shards = count();
  exchange.Reply(ProblemResponse(std::move(problem)));
}

bool AgentPlane::CheckShard(const Shard& shard, const DependencyId& name,
                            Exchange& exchange) const {
  const int right = count() == 1 ? shard.number : ShardOf(name, count());
  if (right != shard.number) {
    Problem problem;
    problem.status = 400;
    problem.code = "INVALID_ARGUMENT";
    problem.detail = absl::StrCat("'", name.value, "' belongs to shard ", right, " of ", count(),
                                  ", not to shard ", shard.number);
    problem.epoch = shard.driver->epoch();
    problem.shards = count();
    exchange.Reply(ProblemResponse(std::move(problem)));
  }
  return right == shard.number;
}

const char* AgentPlane::Handle(const HttpRequest& request, const ExchangePtr& exchange) {
  return router_.Dispatch(request, exchange);
}

void AgentPlane::Register(Shard& shard, const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!CheckBody(routed.request, *exchange)) return;
  FieldFaults faults;
  absl::StatusOr<RegisterRequest> message = DecodeRegisterRequest(routed.request.body, faults);
  if (!message.ok()) return RefuseBody(shard, std::move(faults), *exchange);
  for (const DependencyId& name : message->dependencies) {
    if (!CheckShard(shard, name, *exchange)) return;
  }
  Send(shard, *std::move(message), Owner{routed.request.identity.name, {}}, exchange);
}

void AgentPlane::Sync(Shard& shard, const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!CheckOwner(shard, routed, *exchange) || !CheckBody(routed.request, *exchange)) return;
  FieldFaults faults;
  absl::StatusOr<SyncRequest> message =
      DecodeSyncRequest(routed.request.body, SessionId(routed.names.back()), faults);
  if (!message.ok()) return RefuseBody(shard, std::move(faults), *exchange);
  for (const DependencyReport& report : message->dependencies) {
    if (!CheckShard(shard, report.dependency, *exchange)) return;
  }
  Owner owner{routed.request.identity.name, message->session};
  Send(shard, *std::move(message), std::move(owner), exchange);
}

void AgentPlane::Release(Shard& shard, const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!CheckOwner(shard, routed, *exchange)) return;
  const SessionId session(routed.names.back());
  Send(shard, ReleaseRequest{session}, Owner{routed.request.identity.name, session}, exchange);
}

bool AgentPlane::CheckOwner(const Shard& shard, const RoutedRequest& routed,
                            Exchange& exchange) const {
  if (shard.owners.MayUse(SessionId(routed.names.back()), routed.request.identity.name))
    return true;
  exchange.Reply(ForeignSession());
  return false;
}

bool AgentPlane::CheckBody(const HttpRequest& request, Exchange& exchange) const {
  if (!request.has_length) {
    exchange.Reply(ProblemResponse(411, "LENGTH_REQUIRED", "send the body with Content-Length"));
    return false;
  }
  if (!IsJson(request.content_type)) {
    exchange.Reply(ProblemResponse(415, "UNSUPPORTED_MEDIA_TYPE",
                                   "send the body as Content-Type: application/json"));
    return false;
  }
  return true;
}

void AgentPlane::RefuseBody(const Shard& shard, FieldFaults faults, Exchange& exchange) const {
  Problem problem;
  problem.status = 400;
  problem.code = "INVALID_ARGUMENT";
  problem.detail = "the body is faulty: errors lists what and where; nothing of it was used";
  problem.errors = std::move(faults);
  problem.epoch = shard.driver->epoch();
  exchange.Reply(ProblemResponse(std::move(problem)));
}

template <typename Message>
void AgentPlane::Send(Shard& shard, Message message, Owner owner, const ExchangePtr& exchange) {
  NoteAsked();
  const RequestId request = shard.driver->Send(
      std::move(message),
      [this, &shard, owner = std::move(owner), exchange](const CoreDriver::Body& body) {
        NoteSettled();
        exchange->Reply(
            std::visit([&](const auto& reply) { return this->Answer(shard, reply, owner); }, body));
      });
  if (!exchange->replied()) {
    exchange->Hold([this, driver = shard.driver, request] {
      NoteSettled();
      driver->Abandon(request);
    });
  }
}

// One session is answered twice if the registration is repeated, with the nonce it had.
HttpResponse AgentPlane::Answer(Shard& shard, const RegisterAnswer& answer, const Owner& owner) {
  if (!shard.owners.Claim(answer.session, owner.name)) return ForeignSession();
  DropOldOwners(shard);
  return ToResponse(answer, SessionsPath(shard.number, count()));
}

HttpResponse AgentPlane::Answer(Shard& shard, const SyncAnswer& answer, const Owner& owner) {
  shard.owners.Claim(owner.session, owner.name);
  if (watch_ != nullptr) watch_->Synced(shard.number, owner.session);
  return ToResponse(answer);
}

HttpResponse AgentPlane::Answer(Shard& shard, const Released& released, const Owner& owner) {
  shard.owners.Forget(owner.session);
  if (watch_ != nullptr) watch_->Released(shard.number, owner.session);
  return ToResponse(released);
}

HttpResponse AgentPlane::Answer(Shard& shard, const Refusal& refusal, const Owner& owner) {
  if (refusal.code == RefusalCode::kSessionUnknown) shard.owners.Forget(owner.session);
  const bool elsewhere = refusal.code == RefusalCode::kNotLeader;
  return ToResponse(refusal, elsewhere ? shard.driver->leader().agents : "");
}

// Sessions end in the core without a word to this plane: what is left of them is looked for when
// there are twice as many owners as there were sessions.
void AgentPlane::DropOldOwners(Shard& shard) {
  if (shard.owners.size() < shard.owners_max) return;
  absl::flat_hash_set<SessionId> live;
  const std::shared_ptr<const Snapshot> snapshot = shard.driver->TakeSnapshot();
  for (const InstanceRow& row : snapshot->instances) live.insert(row.session);
  shard.owners.KeepOnly(live);
  shard.owners_max = std::max(kOwnersKept, 2 * shard.owners.size());
}

}  // namespace plimsoll::internal
