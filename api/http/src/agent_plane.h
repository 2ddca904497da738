#pragma once

#include "api/http/src/core_driver.h"
#include "api/http/src/router.h"
#include "api/http/src/session_owners.h"

namespace plimsoll::internal {

// The three routes of the agents: decodes, hands to the core, and turns its reply into an answer.
// Confined to the core's thread.
class AgentPlane final : public HttpService {
 public:
  // The driver must outlive the plane, and all exchanges that it has not answered.
  explicit AgentPlane(CoreDriver& driver);

  const char* Handle(const HttpRequest& request, const ExchangePtr& exchange) override;
  std::vector<std::pair<const char*, const char*>> labels() const { return router_.labels(); }

 private:
  // Who has sent what, on which session.
  struct Owner {
    std::string name;
    SessionId session;
  };
  static constexpr std::size_t kOwnersKept = 1024;

  void Register(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Sync(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Release(const RoutedRequest& routed, const ExchangePtr& exchange);

  // False if the request has no JSON body; then it is answered.
  bool CheckBody(const HttpRequest& request, Exchange& exchange) const;
  void RefuseBody(FieldFaults faults, Exchange& exchange) const;
  // False if the session is somebody else's; then it is answered.
  bool CheckOwner(const RoutedRequest& routed, Exchange& exchange) const;
  template <typename Message>
  void Send(Message message, const Owner& owner, const ExchangePtr& exchange);
  HttpResponse Answer(const RegisterAnswer& answer, const Owner& owner);
  HttpResponse Answer(const SyncAnswer& answer, const Owner& owner);
  HttpResponse Answer(const Released& released, const Owner& owner);
  HttpResponse Answer(const Refusal& refusal, const Owner& owner);
  void DropOldOwners();

  CoreDriver& driver_;
  SessionOwners owners_;
  std::size_t owners_max_ = kOwnersKept;
  Router router_;
};

}  // namespace plimsoll::internal
