#pragma once

#include "api/http/src/core_driver.h"
#include "api/http/src/router.h"

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
  void Register(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Sync(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Release(const RoutedRequest& routed, const ExchangePtr& exchange);

  // False if the request has no JSON body; then it is answered.
  bool CheckBody(const HttpRequest& request, Exchange& exchange) const;
  void RefuseBody(FieldFaults faults, Exchange& exchange) const;
  template <typename Message>
  void Send(Message message, const ExchangePtr& exchange);

  CoreDriver& driver_;
  Router router_;
};

}  // namespace plimsoll::internal
