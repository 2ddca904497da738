#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

namespace plimsoll {

// A string with one meaning: a DependencyId cannot be passed where a ServiceId is due.
// Thread-compatible.
template <typename Tag>
struct StrongString {
  std::string value;

  StrongString() = default;
  explicit StrongString(std::string text) : value(std::move(text)) {}

  bool empty() const { return value.empty(); }
  friend auto operator<=>(const StrongString&, const StrongString&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const StrongString& name) {
    return H::combine(std::move(hash), name.value);
  }
};

// A whole number with one meaning, ordered but without arithmetic. Thread-compatible.
template <typename Tag>
struct StrongInt {
  std::int64_t value = 0;

  constexpr StrongInt() = default;
  constexpr explicit StrongInt(std::int64_t number) : value(number) {}

  friend constexpr auto operator<=>(StrongInt, StrongInt) = default;
  template <typename H>
  friend H AbslHashValue(H hash, StrongInt number) {
    return H::combine(std::move(hash), number.value);
  }
};

// What is protected: `payments-api`.
using DependencyId = StrongString<struct DependencyTag>;
// Who calls: all its processes have one ServiceId.
using ServiceId = StrongString<struct ServiceTag>;
// One process of a service. Unique within the service, by contract with the user.
using InstanceId = StrongString<struct InstanceTag>;
// One registration of one agent process. Made by the controller, never used twice.
using SessionId = StrongString<struct SessionTag>;

// The reign of one controller process. Comes from the store, never repeats, grows.
using Epoch = StrongInt<struct EpochTag>;
// The number of a grant: controller-wide, never reused within an epoch. 0 is no grant.
using Seq = StrongInt<struct SeqTag>;
// The number of a sync within its session. 0 is the registration.
using SyncNumber = StrongInt<struct SyncNumberTag>;

// Numbers of calls in flight, limits, quotas. The type is signed so that differences are safe; a
// limit is never negative.
using Calls = std::int32_t;

// No limit, floor, ceiling or quota may be larger. It leaves room for sums in 32 bits and is what
// the agent's admission word can hold.
inline constexpr Calls kCallsMax = 1'000'000;

// The names of dependencies, services and instances:
// ^[A-Za-z0-9]([A-Za-z0-9._~-]{0,61}[A-Za-z0-9])?$
bool IsValidName(const std::string& name);

}  // namespace plimsoll
