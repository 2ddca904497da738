#include "controller/main/service_notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The manager's end: a datagram socket under a path, or under an abstract name that begins with @.
class Manager {
 public:
  explicit Manager(const std::string& address) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::copy(address.begin(), address.end(), name.sun_path);
    if (address[0] == '@') name.sun_path[0] = '\0';
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&name), size), 0);
  }
  ~Manager() { close(socket_); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // The next message that has arrived; empty if there is none.
  std::string Take() const {
    std::array<char, 512> buffer{};
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return got < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(got));
  }

 private:
  int socket_;
};

class ServiceNotifierTest : public ::testing::Test {
 protected:
  ServiceNotifierTest() {
    std::string pattern = ::testing::TempDir() + "plimsoll-notify-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ + "/notify";
  }
  ~ServiceNotifierTest() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }

  std::string folder_;
  std::string path_;
};

TEST_F(ServiceNotifierTest, EachMessageIsOneDatagramOfItsLines) {
  const Manager manager(path_);
  const auto notifier = ServiceNotifier::Open(path_);
  ASSERT_TRUE(notifier.ok()) << notifier.status();
  EXPECT_TRUE(notifier->Ready("serving").ok());
  EXPECT_TRUE(notifier->Reloading(12345).ok());
  EXPECT_TRUE(notifier->Alive().ok());
  EXPECT_TRUE(notifier->Stopping().ok());
  EXPECT_EQ(manager.Take(), "READY=1\nSTATUS=serving");
  EXPECT_THAT(manager.Take(), StartsWith("RELOADING=1\nMONOTONIC_USEC=12345\n"));
  EXPECT_EQ(manager.Take(), "WATCHDOG=1");
  EXPECT_THAT(manager.Take(), StartsWith("STOPPING=1\n"));
  EXPECT_EQ(manager.Take(), "");
}

TEST_F(ServiceNotifierTest, ASocketWithoutAPathIsNamedWithAnAt) {
  const std::string name = "@plimsoll-notify-test-" + std::to_string(getpid());
  const Manager manager(name);
  auto opened = ServiceNotifier::Open(name);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const ServiceNotifier moved = *std::move(opened);
  EXPECT_TRUE(moved.Alive().ok());
  EXPECT_EQ(manager.Take(), "WATCHDOG=1");
}

TEST_F(ServiceNotifierTest, WithoutASocketNobodyIsTold) {
  const auto notifier = ServiceNotifier::Open("");
  ASSERT_TRUE(notifier.ok());
  EXPECT_TRUE(notifier->Ready("serving").ok());
}

TEST_F(ServiceNotifierTest, AnAddressThatIsNoneIsRefused) {
  for (const std::string& address :
       {std::string("notify"), std::string("@"), std::string("/"), "/" + std::string(200, 'x')}) {
    const auto notifier = ServiceNotifier::Open(address);
    EXPECT_EQ(notifier.status().code(), absl::StatusCode::kInvalidArgument) << address;
  }
}

TEST_F(ServiceNotifierTest, AManagerThatIsGoneIsSaid) {
  const auto notifier = ServiceNotifier::Open(path_);
  ASSERT_TRUE(notifier.ok());
  const absl::Status told = notifier->Alive();
  EXPECT_EQ(told.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(told.message()), HasSubstr("NOTIFY_SOCKET"));
}

TEST(WatchdogPeriod, IsReadFromTheVariablesAndMeantForThisProcess) {
  const struct {
    const char* usec;
    const char* pid;
    absl::Duration period;
  } kCases[] = {
      {nullptr, nullptr, absl::ZeroDuration()}, {"30000000", nullptr, absl::Seconds(30)},
      {"30000000", "42", absl::Seconds(30)},    {"30000000", "43", absl::ZeroDuration()},
      {"30000000", "x", absl::ZeroDuration()},  {"0", "42", absl::ZeroDuration()},
      {"-5", "42", absl::ZeroDuration()},       {"soon", "42", absl::ZeroDuration()},
  };
  for (const auto& one : kCases) {
    EXPECT_EQ(WatchdogPeriod(one.usec, one.pid, 42), one.period) << (one.usec ? one.usec : "");
  }
}

}  // namespace
}  // namespace plimsoll
