#pragma once

namespace plimsoll::internal {

// Prints what was violated, where and why to stderr, and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const char* explanation);

}  // namespace plimsoll::internal

// Programmer errors only, never for input: on in every build, because a limiter that goes on with
// broken books is worse than one that stops. A macro, because it must name the place it stands in.
#define PLIMSOLL_CHECK(condition, explanation)                                          \
  do {                                                                                  \
    if (!(condition)) [[unlikely]] {                                                    \
      ::plimsoll::internal::CheckFailed(__FILE__, __LINE__, #condition, (explanation)); \
    }                                                                                   \
  } while (false)
