#include "tests/integration/etcd_process.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {
namespace {

constexpr char kHost[] = "127.0.0.1";
constexpr int kAttempts = 5;
// Below the ports that Linux gives to outgoing connections and to listeners that take any: while it
// is down for a moment, nobody gets its port by chance.
constexpr int kFirstPort = 12'000;
constexpr int kPorts = 20'000;

bool IsFree(int port) {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(probe);
  return free;
}

// Tests that run at the same time begin at different places.
int FreePort() {
  static int next = static_cast<int>(::getpid()) * 97 % kPorts;
  do {
    next = (next + 1) % kPorts;
  } while (!IsFree(kFirstPort + next));
  return kFirstPort + next;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EtcdProcess>> EtcdProcess::Start(const std::string& folder) {
  std::filesystem::create_directory(folder);
  std::unique_ptr<EtcdProcess> etcd(new EtcdProcess(folder));
  absl::Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    etcd->MakeMember();
    std::filesystem::remove_all(etcd->data());
    status = etcd->Restart();
    if (status.ok()) return etcd;
    if (!absl::IsAborted(status)) break;
  }
  return status;
}

void EtcdProcess::MakeMember() {
  address_ = {"etcd", kHost, kHost, kHost, FreePort(), FreePort()};
  member_ = std::make_unique<chaos::EtcdMember>(0, std::vector<chaos::EtcdAddress>{address_},
                                                folder_, /*slow=*/false);
}

absl::Status EtcdProcess::Restart() {
  if (absl::Status launched = member_->Start(); !launched.ok()) return launched;
  absl::Status answers = WaitUntilItAnswers();
  if (answers.ok()) return answers;
  std::ifstream log(member_->log());
  return {answers.code(), absl::StrCat(answers.message(), ": ",
                                       std::string(std::istreambuf_iterator<char>(log), {}))};
}

absl::Status EtcdProcess::WaitUntilItAnswers() {
  const std::unique_ptr<Etcd> client = Client();
  for (int i = 0; i < 600; ++i) {
    if (client->Range({.key = "x"}).ok()) return absl::OkStatus();
    if (!member_->Running()) return absl::AbortedError("etcd has ended");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return absl::UnavailableError("etcd does not answer");
}

std::unique_ptr<Etcd> EtcdProcess::Client() const {
  return MakeEtcdClient({.endpoints = {url()}}, absl::Seconds(1), RealClock());
}

}  // namespace plimsoll
