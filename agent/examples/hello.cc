// Calls a dependency through a bulkhead. Run it beside a controller: see README.md in ../.
#include <plimsoll/agent/agent.h>

#include <chrono>
#include <iostream>
#include <string_view>

namespace {
// Stands for your client. Cut the whole call at the permit's deadline: the quota counts on it.
bool Charge(std::chrono::nanoseconds time_left) { return time_left > std::chrono::seconds(1); }
}  // namespace

int main(int argc, char** argv) {
  plimsoll::AgentOptions options;
  options.controllers = {argc > 1 ? argv[1] : "http://127.0.0.1:7481"};
  options.service = "checkout";
  const auto agent = plimsoll::Agent::Start(options);
  if (!agent.ok()) {
    std::cerr << agent.status().message() << '\n';
    return 1;
  }
  plimsoll::Bulkhead& payments = (*agent)->bulkhead("payments-api");
  if (const auto ready = (*agent)->WaitUntilGranted(std::chrono::seconds(2)); !ready.ok()) {
    std::cerr << ready.message() << '\n';
  }

  if (auto permit = payments.TryAcquire()) {
    const bool charged = Charge(permit->time_left());
    charged ? permit->Succeed() : permit->Drop();  // one that is forgotten counts as ignored
    std::cout << "called; the limit is " << payments.limit() << '\n';
  } else {
    std::cout << "refused: " << plimsoll::ToString(permit.rejection()) << '\n';
  }
}
