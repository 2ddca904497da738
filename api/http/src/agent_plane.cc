#include "api/http/src/agent_plane.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {
namespace {

constexpr char kSessionsPath[] = "/v1/agent/sessions";

// "application/json; charset=utf-8" is JSON, too.
bool IsJson(const std::string& content_type) {
  std::string type = content_type.substr(0, content_type.find(';'));
  absl::StripAsciiWhitespace(&type);
  absl::AsciiStrToLower(&type);
  return type == "application/json";
}

HttpResponse ToResponse(const RegisterAnswer& answer) {
  HttpResponse response;
  response.status = 201;
  response.headers.emplace_back("Location", absl::StrCat(kSessionsPath, "/", answer.session.value));
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

AgentPlane::AgentPlane(CoreDriver& driver)
    : driver_(driver),
      router_({{"POST",
                kSessionsPath,
                {},
                [this](const RoutedRequest& routed, const ExchangePtr& exchange) {
                  Register(routed, exchange);
                },
                Role::kAgent},
               {"POST",
                "/v1/agent/sessions/{s}/sync",
                {},
                [this](const RoutedRequest& routed, const ExchangePtr& exchange) {
                  Sync(routed, exchange);
                },
                Role::kAgent},
               {"DELETE",
                "/v1/agent/sessions/{s}",
                {},
                [this](const RoutedRequest& routed, const ExchangePtr& exchange) {
                  Release(routed, exchange);
                },
                Role::kAgent}}) {}

const char* AgentPlane::Handle(const HttpRequest& request, const ExchangePtr& exchange) {
  return router_.Dispatch(request, exchange);
}

void AgentPlane::Register(const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!CheckBody(routed.request, *exchange)) return;
  FieldFaults faults;
  absl::StatusOr<RegisterRequest> message = DecodeRegisterRequest(routed.request.body, faults);
  if (!message.ok()) return RefuseBody(std::move(faults), *exchange);
  Send(*std::move(message), Owner{routed.request.identity.name, {}}, exchange);
}

void AgentPlane::Sync(const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!CheckOwner(routed, *exchange) || !CheckBody(routed.request, *exchange)) return;
  FieldFaults faults;
  absl::StatusOr<SyncRequest> message =
      DecodeSyncRequest(routed.request.body, SessionId(routed.names.front()), faults);
  if (!message.ok()) return RefuseBody(std::move(faults), *exchange);
  const Owner owner{routed.request.identity.name, message->session};
  Send(*std::move(message), owner, exchange);
}

void AgentPlane::Release(const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!CheckOwner(routed, *exchange)) return;
  const SessionId session(routed.names.front());
  Send(ReleaseRequest{session}, Owner{routed.request.identity.name, session}, exchange);
}

bool AgentPlane::CheckOwner(const RoutedRequest& routed, Exchange& exchange) const {
  if (owners_.MayUse(SessionId(routed.names.front()), routed.request.identity.name)) return true;
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

void AgentPlane::RefuseBody(FieldFaults faults, Exchange& exchange) const {
  Problem problem;
  problem.status = 400;
  problem.code = "INVALID_ARGUMENT";
  problem.detail = "the body is faulty: errors lists what and where; nothing of it was used";
  problem.errors = std::move(faults);
  problem.epoch = driver_.epoch();
  exchange.Reply(ProblemResponse(std::move(problem)));
}

template <typename Message>
void AgentPlane::Send(Message message, const Owner& owner, const ExchangePtr& exchange) {
  const RequestId request =
      driver_.Send(std::move(message), [this, owner, exchange](const CoreDriver::Body& body) {
        exchange->Reply(
            std::visit([&](const auto& reply) { return this->Answer(reply, owner); }, body));
      });
  if (!exchange->replied()) {
    exchange->Hold([this, request] { driver_.Abandon(request); });
  }
}

// One session is answered twice if the registration is repeated, with the nonce it had.
HttpResponse AgentPlane::Answer(const RegisterAnswer& answer, const Owner& owner) {
  if (!owners_.Claim(answer.session, owner.name)) return ForeignSession();
  DropOldOwners();
  return ToResponse(answer);
}

HttpResponse AgentPlane::Answer(const SyncAnswer& answer, const Owner& owner) {
  owners_.Claim(owner.session, owner.name);
  return ToResponse(answer);
}

HttpResponse AgentPlane::Answer(const Released& released, const Owner& owner) {
  owners_.Forget(owner.session);
  return ToResponse(released);
}

HttpResponse AgentPlane::Answer(const Refusal& refusal, const Owner& owner) {
  if (refusal.code == RefusalCode::kSessionUnknown) owners_.Forget(owner.session);
  const bool elsewhere = refusal.code == RefusalCode::kNotLeader;
  return ToResponse(refusal, elsewhere ? driver_.leader().agents : "");
}

// Sessions end in the core without a word to this plane: what is left of them is looked for when
// there are twice as many owners as there were sessions.
void AgentPlane::DropOldOwners() {
  if (owners_.size() < owners_max_) return;
  absl::flat_hash_set<SessionId> live;
  const std::shared_ptr<const Snapshot> snapshot = driver_.TakeSnapshot();
  for (const InstanceRow& row : snapshot->instances) live.insert(row.session);
  owners_.KeepOnly(live);
  owners_max_ = std::max(kOwnersKept, 2 * owners_.size());
}

}  // namespace plimsoll::internal
