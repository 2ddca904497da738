// What a stranger writes first: an agent, a bulkhead, and a controller that is not there.
#include <plimsoll/agent/agent.h>

#include <iostream>

int main() {
  auto agent =
      plimsoll::Agent::Start({.controllers = {"http://127.0.0.1:9"}, .service = "stranger"});
  if (!agent.ok()) {
    std::cerr << "no agent: " << agent.status() << "\n";
    return 1;
  }
  plimsoll::Bulkhead& bulkhead = (*agent)->bulkhead("payments-api");
  const plimsoll::Admission admission = bulkhead.TryAcquire();
  if (admission) {
    std::cerr << "a call was admitted without a grant\n";
    return 1;
  }
  const bool by_limit = admission.rejection() == plimsoll::Rejection::kLimit;
  std::cout << "refused: " << plimsoll::ToString(admission.rejection()) << "\n";
  return by_limit && bulkhead.stats().rejected_limit == 1 ? 0 : 1;
}
