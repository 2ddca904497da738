#include "api/cli/src/job_pool.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace plimsoll::cli {

void ForEach(int jobs, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto drain = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(jobs, 1)), count);
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(drain);
  drain();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace plimsoll::cli
