#include "controller/main/service_notifier.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
constexpr timeval kPatience{1, 0};

std::string SystemReason(int error) { return std::generic_category().message(error); }

}  // namespace

absl::StatusOr<ServiceNotifier> ServiceNotifier::Open(const std::string& address) {
  ServiceNotifier notifier;
  if (address.empty()) return notifier;
  const bool known = address[0] == '/' || address[0] == '@';
  if (!known || address.size() < 2 || address.size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("NOTIFY_SOCKET is neither an absolute path nor @ and a name, or too long: '",
                     address, "'"));
  }
  notifier.address_ = address;
  if (address[0] == '@') notifier.address_[0] = '\0';
  notifier.socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (notifier.socket_ < 0) {
    return absl::UnavailableError(
        absl::StrCat("no socket to tell the service manager: ", SystemReason(errno)));
  }
  setsockopt(notifier.socket_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  return notifier;
}

ServiceNotifier::ServiceNotifier(ServiceNotifier&& other) noexcept
    : address_(std::move(other.address_)), socket_(std::exchange(other.socket_, -1)) {}

ServiceNotifier::~ServiceNotifier() {
  if (socket_ >= 0) close(socket_);
}

absl::Status ServiceNotifier::Ready(const std::string& status) const {
  return Send(absl::StrCat("READY=1\nSTATUS=", status));
}

absl::Status ServiceNotifier::Reloading(std::int64_t monotonic_us) const {
  return Send(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", monotonic_us,
                           "\nSTATUS=reading the configuration anew"));
}

absl::Status ServiceNotifier::Stopping() const { return Send("STOPPING=1\nSTATUS=stopping"); }

absl::Status ServiceNotifier::Alive() const { return Send("WATCHDOG=1"); }

absl::Status ServiceNotifier::Send(const std::string& message) const {
  if (socket_ < 0) return absl::OkStatus();
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::copy(address_.begin(), address_.end(), to.sun_path);
  // An abstract name ends where the length says, not at a zero.
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const ssize_t sent = sendto(socket_, message.data(), message.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&to), size);
  if (sent == static_cast<ssize_t>(message.size())) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      "the service manager could not be told at NOTIFY_SOCKET: ", SystemReason(errno)));
}

absl::Duration WatchdogPeriod(const char* usec, const char* pid, pid_t self) {
  std::int64_t period_us = 0;
  if (usec == nullptr || !absl::SimpleAtoi(usec, &period_us) || period_us <= 0) {
    return absl::ZeroDuration();
  }
  std::int64_t meant = self;
  if (pid != nullptr && (!absl::SimpleAtoi(pid, &meant) || meant != self)) {
    return absl::ZeroDuration();
  }
  return absl::Microseconds(period_us);
}

std::int64_t SystemMonotonicUs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kMicrosecondsPerSecond + now.tv_nsec / 1000;
}

}  // namespace plimsoll
