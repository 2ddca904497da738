#include "plimsoll/core/check.h"

#include <cstdio>
#include <cstdlib>

namespace plimsoll::internal {

void CheckFailed(const char* file, int line, const char* condition, const char* explanation) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, explanation);
  std::abort();
}

}  // namespace plimsoll::internal
