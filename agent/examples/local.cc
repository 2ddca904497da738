// A bulkhead of one's own, without a controller: it finds its limit from what its calls see.
#include <plimsoll/agent/local_bulkhead.h>

#include <iostream>

int main() {
  plimsoll::LocalBulkheadOptions options;
  options.dependency = "search";
  options.algorithm = "aimd";
  options.settings = {{"latency_threshold", "250ms"}};  // what callers accept
  const auto local = plimsoll::MakeLocalBulkhead(options);
  if (!local.ok()) {
    std::cerr << local.status().message() << '\n';
    return 1;
  }
  plimsoll::Bulkhead& search = (*local)->bulkhead();

  if (auto permit = search.TryAcquire()) {
    permit->Succeed();  // your call comes before this
    std::cout << "called; the limit is " << search.limit() << '\n';
  } else {
    std::cout << "refused: " << plimsoll::ToString(permit.rejection()) << '\n';
  }
}
