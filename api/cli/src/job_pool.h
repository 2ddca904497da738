#pragma once

#include <cstddef>
#include <functional>

namespace plimsoll::cli {

// Calls work(0) to work(count - 1), each once, in up to `jobs` threads, and returns when all are
// done. `work` must not throw and must be safe to call from several threads. With one job
// everything happens in order in the caller's thread.
void ForEach(int jobs, std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace plimsoll::cli
