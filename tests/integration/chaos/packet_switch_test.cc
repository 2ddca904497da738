#include "tests/integration/chaos/packet_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace plimsoll::chaos {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kFirst = 0x0a5a000a;   // 10.90.0.10
constexpr std::uint32_t kSecond = 0x0a5a000b;  // 10.90.0.11

std::string PacketFor(std::uint32_t address, const std::string& content = "") {
  std::string packet(20, '\0');
  packet[0] = 0x45;
  for (int i = 0; i < 4; ++i) {
    packet[static_cast<std::size_t>(16 + i)] = static_cast<char>(address >> (24 - 8 * i));
  }
  return packet + content;
}

TEST(FatesTest, IsAtOnceOnAGoodLink) {
  Random random(1);
  EXPECT_THAT(Fates({}, {}, random), ElementsAre(absl::ZeroDuration()));
}

TEST(FatesTest, LosesWhatACutPortSends) {
  Random random(1);
  LinkState cut;
  cut.cut_from = true;
  EXPECT_THAT(Fates(cut, {}, random), IsEmpty());
  EXPECT_THAT(Fates({}, cut, random), testing::SizeIs(1)) << "it is cut one way only";
}

TEST(FatesTest, LosesWhatACutPortIsSent) {
  Random random(1);
  LinkState cut;
  cut.cut_to = true;
  EXPECT_THAT(Fates({}, cut, random), IsEmpty());
  EXPECT_THAT(Fates(cut, {}, random), testing::SizeIs(1)) << "it is cut one way only";
}

TEST(FatesTest, LosesDuplicatesAndDelaysAsOftenAsTold) {
  Random random(1);
  LinkState link;
  link.loss = 0.25;
  link.duplicates = 0.5;
  link.delay_max = absl::Milliseconds(100);
  int lost = 0;
  int twice = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::vector<absl::Duration> fates = Fates(link, {}, random);
    lost += fates.empty() ? 1 : 0;
    twice += fates.size() == 2 ? 1 : 0;
    for (const absl::Duration delay : fates) EXPECT_LT(delay, absl::Milliseconds(100));
  }
  EXPECT_NEAR(lost, 2500, 200);
  EXPECT_NEAR(twice, 3750, 200);
}

TEST(DestinationTest, IsReadFromThePacket) { EXPECT_EQ(Destination(PacketFor(kSecond)), kSecond); }

TEST(DestinationTest, IsNothingForWhatIsNotIpv4) {
  std::string ipv6 = PacketFor(kSecond);
  ipv6[0] = 0x60;
  EXPECT_EQ(Destination(ipv6), 0U);
  EXPECT_EQ(Destination("short"), 0U);
}

class PacketSwitchTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < 2; ++i) {
      std::array<int, 2> ends{};
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()), 0);
      outside_[i] = ends[0];
      switch_.Add(ends[1], i == 0 ? kFirst : kSecond);
    }
    switch_.Start();
  }
  void TearDown() override {
    for (const int end : outside_) close(end);
  }

  void Send(std::size_t port, const std::string& packet) const {
    ASSERT_GT(write(outside_[port], packet.data(), packet.size()), 0);
  }
  std::string Receive(std::size_t port) const {
    std::array<char, 100> buffer{};
    const ssize_t size = read(outside_[port], buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(size < 0 ? 0 : size)};
  }

  PacketSwitch switch_{1};
  std::array<int, 2> outside_{};
};

TEST_F(PacketSwitchTest, CarriesPacketsToTheirAddress) {
  Send(0, PacketFor(kSecond, "there"));
  EXPECT_EQ(Receive(1), PacketFor(kSecond, "there"));
  Send(1, PacketFor(kFirst, "back"));
  EXPECT_EQ(Receive(0), PacketFor(kFirst, "back"));
}

TEST_F(PacketSwitchTest, CarriesWhatIsDelayed) {
  LinkState slow;
  slow.delay_max = absl::Milliseconds(20);
  switch_.Set(0, slow);
  Send(0, PacketFor(kSecond, "late"));
  EXPECT_EQ(Receive(1), PacketFor(kSecond, "late"));
}

TEST_F(PacketSwitchTest, LosesWhatIsCutUntilItIsMended) {
  LinkState cut;
  cut.cut_from = true;
  switch_.Set(0, cut);
  Send(0, PacketFor(kSecond, "lost"));
  while (switch_.lost() == 0) std::this_thread::yield();
  switch_.Set(0, {});
  Send(0, PacketFor(kSecond, "arrives"));
  EXPECT_EQ(Receive(1), PacketFor(kSecond, "arrives"));
}

}  // namespace
}  // namespace plimsoll::chaos
