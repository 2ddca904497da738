#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"

namespace plimsoll::chaos {

// What happens to packets between one port and the switch. Those between two ports suffer both.
struct LinkState {
  bool cut_from = false;     // what the port sends is lost
  bool cut_to = false;       // what it is sent is lost
  absl::Duration delay_max;  // each packet by itself, so they overtake each other
  double loss = 0;
  double duplicates = 0;

  friend bool operator==(const LinkState&, const LinkState&) = default;
};

// When the copies of a packet arrive: nothing, once or twice after a delay. Draws from `random`.
std::vector<absl::Duration> Fates(const LinkState& from, const LinkState& to, Random& random);

// The IPv4 address that a packet is for; 0 if it is not IPv4. In the order of the host.
std::uint32_t Destination(const std::string& packet);

// A network in this process: carries IP packets between TUN devices, and loses, delays, duplicates
// and reorders them as told. Thread-safe but for Add(), which comes before Start().
class PacketSwitch {
 public:
  explicit PacketSwitch(std::uint64_t seed) : random_(seed) {}
  // Closes the devices.
  ~PacketSwitch();

  PacketSwitch(const PacketSwitch&) = delete;
  PacketSwitch& operator=(const PacketSwitch&) = delete;

  // A port with an open TUN device, which this owns from now on, and the address behind it. Returns
  // its number: ports are numbered as they were added.
  std::size_t Add(int device, std::uint32_t address);
  void Start();
  void Set(std::size_t port, const LinkState& state);

  std::int64_t carried() const { return carried_.load(); }
  std::int64_t lost() const { return lost_.load(); }

 private:
  struct Delayed {
    Instant at;
    std::size_t port = 0;
    std::string packet;
    bool operator>(const Delayed& other) const { return at > other.at; }
  };

  void Run();
  void TakeFrom(std::size_t port);
  void DeliverDue();
  void Deliver(std::size_t port, const std::string& packet);
  int MillisecondsToNext() const;

  std::vector<int> devices_;
  std::map<std::uint32_t, std::size_t> ports_;  // by address
  Mutex mutex_;
  std::vector<LinkState> links_ ABSL_GUARDED_BY(mutex_);
  // Of the thread alone.
  Random random_;
  std::priority_queue<Delayed, std::vector<Delayed>, std::greater<>> delayed_;

  std::atomic<std::int64_t> carried_{0};
  std::atomic<std::int64_t> lost_{0};
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace plimsoll::chaos
