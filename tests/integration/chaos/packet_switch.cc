#include "tests/integration/chaos/packet_switch.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "plimsoll/core/clock.h"

namespace plimsoll::chaos {
namespace {

constexpr int kPollMilliseconds = 50;
constexpr std::size_t kPacketMax = 65536;
// Of IPv4.
constexpr std::size_t kHeader = 20;
constexpr std::size_t kDestination = 16;

}  // namespace

std::vector<absl::Duration> Fates(const LinkState& from, const LinkState& to, Random& random) {
  if (from.cut_from || to.cut_to) return {};
  if (random.Chance(from.loss) || random.Chance(to.loss)) return {};
  const std::size_t copies = random.Chance(from.duplicates) || random.Chance(to.duplicates) ? 2 : 1;
  std::vector<absl::Duration> fates(copies);
  for (absl::Duration& fate : fates) {
    fate = from.delay_max * random.Uniform() + to.delay_max * random.Uniform();
  }
  return fates;
}

std::uint32_t Destination(const std::string& packet) {
  if (packet.size() < kHeader || (static_cast<unsigned char>(packet[0]) >> 4) != 4) return 0;
  std::uint32_t address = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    address = address << 8 | static_cast<unsigned char>(packet[kDestination + i]);
  }
  return address;
}

PacketSwitch::~PacketSwitch() {
  stopped_.store(true);
  if (thread_.joinable()) thread_.join();
  for (const int device : devices_) close(device);
}

std::size_t PacketSwitch::Add(int device, std::uint32_t address) {
  ports_[address] = devices_.size();
  devices_.push_back(device);
  MutexLock lock(mutex_);
  links_.emplace_back();
  return links_.size() - 1;
}

void PacketSwitch::Start() {
  thread_ = std::thread([this] { Run(); });
}

void PacketSwitch::Set(std::size_t port, const LinkState& state) {
  MutexLock lock(mutex_);
  links_[port] = state;
}

void PacketSwitch::Run() {
  std::vector<pollfd> polled;
  for (const int device : devices_) polled.push_back({device, POLLIN, 0});
  while (!stopped_.load()) {
    if (poll(polled.data(), polled.size(), MillisecondsToNext()) > 0) {
      for (std::size_t port = 0; port < polled.size(); ++port) {
        if ((polled[port].revents & POLLIN) != 0) TakeFrom(port);
      }
    }
    DeliverDue();
  }
}

int PacketSwitch::MillisecondsToNext() const {
  if (delayed_.empty()) return kPollMilliseconds;
  const absl::Duration left = delayed_.top().at - RealClock().Now();
  const auto milliseconds = static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
  return std::clamp(milliseconds, 0, kPollMilliseconds);
}

// One packet at a time: nobody can keep the others waiting.
void PacketSwitch::TakeFrom(std::size_t port) {
  std::array<char, kPacketMax> buffer;
  const ssize_t size = read(devices_[port], buffer.data(), buffer.size());
  if (size <= 0) return;
  std::string packet(buffer.data(), static_cast<std::size_t>(size));
  const auto target = ports_.find(Destination(packet));
  if (target == ports_.end()) return;
  std::vector<absl::Duration> fates;
  {
    MutexLock lock(mutex_);
    fates = Fates(links_[port], links_[target->second], random_);
  }
  if (fates.empty()) lost_.fetch_add(1);
  for (const absl::Duration delay : fates) {
    if (delay <= absl::ZeroDuration()) {
      Deliver(target->second, packet);
    } else {
      delayed_.push({RealClock().Now() + delay, target->second, packet});
    }
  }
}

void PacketSwitch::DeliverDue() {
  while (!delayed_.empty() && delayed_.top().at <= RealClock().Now()) {
    Deliver(delayed_.top().port, delayed_.top().packet);
    delayed_.pop();
  }
}

// A device that cannot take it loses it, as a network may.
void PacketSwitch::Deliver(std::size_t port, const std::string& packet) {
  const bool taken = write(devices_[port], packet.data(), packet.size()) > 0;
  (taken ? carried_ : lost_).fetch_add(1);
}

}  // namespace plimsoll::chaos
