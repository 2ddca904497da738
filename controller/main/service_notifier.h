#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace plimsoll {

// Tells the service manager how this process fares, by the protocol of sd_notify(3): each message
// is one datagram of lines KEY=VALUE to the socket that the manager named. Without a socket nobody
// is told, and every message is OK. Messages are kUnavailable if they could not be sent; a manager
// that does not read is waited for at most a second. Thread-safe.
class ServiceNotifier {
 public:
  // To nobody.
  ServiceNotifier() = default;
  // `address` is what NOTIFY_SOCKET says: the path of a socket, or "@name" for one without a path;
  // empty: nobody. Returns kInvalidArgument for anything else, kUnavailable without a socket of
  // one's own.
  static absl::StatusOr<ServiceNotifier> Open(const std::string& address);

  ServiceNotifier(ServiceNotifier&& other) noexcept;
  ServiceNotifier& operator=(ServiceNotifier&&) = delete;
  ~ServiceNotifier();

  // Serves, at first or after a reload; `status` is one line for people.
  absl::Status Ready(const std::string& status) const;
  // Reads its configuration anew, from now on until Ready(); `monotonic_us` is SystemMonotonicUs().
  absl::Status Reloading(std::int64_t monotonic_us) const;
  absl::Status Stopping() const;
  // All threads answer.
  absl::Status Alive() const;

 private:
  absl::Status Send(const std::string& message) const;

  std::string address_;  // as the kernel has it
  int socket_ = -1;
};

// How often the manager expects Alive() at least, from the values of WATCHDOG_USEC and WATCHDOG_PID
// (null: not set); zero if it does not, or if it means another process than `self`.
absl::Duration WatchdogPeriod(const char* usec, const char* pid, pid_t self);

// The clock that the manager compares with: CLOCK_MONOTONIC, which the lease clock is not.
std::int64_t SystemMonotonicUs();

}  // namespace plimsoll
