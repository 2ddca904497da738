#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/http/src/core_driver.h"
#include "api/http/src/router.h"
#include "api/http/src/session_owners.h"
#include "api/http/src/unheard_watch.h"

namespace plimsoll::internal {

// The routes of the agents: decodes, hands to the core, and turns its reply into an answer. With
// several shards each has routes of its own, and what is meant for a single one is refused.
// Confined to the core's thread.
class AgentPlane final : public HttpService {
 public:
  // One for each shard. They must outlive the plane, and all exchanges that it has not answered; so
  // must `watch`, which is told who is heard, if there is one.
  explicit AgentPlane(const std::vector<CoreDriver*>& drivers, UnheardWatch* watch = nullptr);

  const char* Handle(const HttpRequest& request, const ExchangePtr& exchange) override;
  std::vector<std::pair<const char*, const char*>> labels() const { return router_.labels(); }

 private:
  static constexpr std::size_t kOwnersKept = 1024;
  // Sessions are numbered by each shard alone.
  struct Shard {
    int number = 0;
    CoreDriver* driver = nullptr;
    SessionOwners owners = {};
    std::size_t owners_max = kOwnersKept;
  };
  // Who has sent what, on which session.
  struct Owner {
    std::string name;
    SessionId session;
  };
  using Handler = void (AgentPlane::*)(Shard& shard, const RoutedRequest& routed,
                                       const ExchangePtr& exchange);

  std::vector<Route> Routes();
  Route ShardRoute(const char* method, const char* pattern, Handler handler);
  void Shards(const ExchangePtr& exchange) const;

  void Register(Shard& shard, const RoutedRequest& routed, const ExchangePtr& exchange);
  void Sync(Shard& shard, const RoutedRequest& routed, const ExchangePtr& exchange);
  void Release(Shard& shard, const RoutedRequest& routed, const ExchangePtr& exchange);
  // To whom takes several shards for one.
  void RefuseUnsharded(Exchange& exchange) const;

  // False if the request has no JSON body; then it is answered.
  bool CheckBody(const HttpRequest& request, Exchange& exchange) const;
  // False if a dependency belongs to another shard; then it is answered. No core may ever hear of
  // one: it would grant its quota a second time.
  bool CheckShard(const Shard& shard, const DependencyId& name, Exchange& exchange) const;
  void RefuseBody(const Shard& shard, FieldFaults faults, Exchange& exchange) const;
  // False if the session is somebody else's; then it is answered.
  bool CheckOwner(const Shard& shard, const RoutedRequest& routed, Exchange& exchange) const;
  template <typename Message>
  void Send(Shard& shard, Message message, Owner owner, const ExchangePtr& exchange);
  HttpResponse Answer(Shard& shard, const RegisterAnswer& answer, const Owner& owner);
  HttpResponse Answer(Shard& shard, const SyncAnswer& answer, const Owner& owner);
  HttpResponse Answer(Shard& shard, const Released& released, const Owner& owner);
  HttpResponse Answer(Shard& shard, const Refusal& refusal, const Owner& owner);
  void DropOldOwners(Shard& shard);
  void NoteAsked() {
    if (watch_ != nullptr) watch_->Asked();
  }
  void NoteSettled() {
    if (watch_ != nullptr) watch_->Settled();
  }
  int count() const { return static_cast<int>(shards_.size()); }

  UnheardWatch* const watch_;
  std::vector<Shard> shards_;
  Router router_;
};

}  // namespace plimsoll::internal
