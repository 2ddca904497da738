// An agent at controllers that have shards: a session with each shard that is used, and no other.
#include "agent/src/shard_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/agent/agent_support.h"

namespace plimsoll {
namespace {

using internal::Answer;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kShards = 6;

// Controllers that lead all shards between them. Each shard has a network of its own, and keeps
// which dependencies it was told of.
class ShardedController {
 public:
  ShardedController()
      : plain_([](const Sent& sent) -> std::optional<Answer> {
          if (sent.registration() == nullptr) return internal::ReleaseAnswer{};
          return Refusal{RefusalCode::kAgentTooOld, "this fleet has shards", Epoch(0)};
        }) {
    plain_.TellShards(kShards);
    for (int shard = 0; shard < kShards; ++shard) {
      networks_.push_back(std::make_unique<FakeNetwork>([this, shard](const Sent& sent) {
        Note(shard, sent);
        return AnswerWell(sent, 7);
      }));
    }
  }

  std::unique_ptr<Agent> Start(const Clock& clock, AgentOptions options = QuietOptions()) {
    AgentParts parts{clock, Random(1), plain_.MakeTransport()};
    parts.shard_transport = [this](int shard) {
      {
        const MutexLock lock(mutex_);
        ++transports_[shard];
      }
      return networks_[static_cast<std::size_t>(shard)]->MakeTransport();
    };
    auto agent = AgentFactory::Start(std::move(options), std::move(parts));
    EXPECT_TRUE(agent.ok()) << agent.status();
    return *std::move(agent);
  }
  std::set<std::string> SeenBy(int shard) {
    const MutexLock lock(mutex_);
    return seen_[shard];
  }
  std::map<int, int> transports() {
    const MutexLock lock(mutex_);
    return transports_;
  }
  std::set<int> released() {
    const MutexLock lock(mutex_);
    return released_;
  }
  FakeNetwork& plain() { return plain_; }
  FakeNetwork& network(int shard) { return *networks_[static_cast<std::size_t>(shard)]; }

 private:
  void Note(int shard, const Sent& sent) {
    const MutexLock lock(mutex_);
    if (const RegisterRequest* request = sent.registration()) {
      for (const DependencyId& name : request->dependencies) seen_[shard].insert(name.value);
    }
    if (const SyncRequest* request = sent.sync()) {
      for (const DependencyReport& report : request->dependencies) {
        seen_[shard].insert(report.dependency.value);
      }
    }
    if (sent.is_release()) released_.insert(shard);
  }

  FakeNetwork plain_;
  std::vector<std::unique_ptr<FakeNetwork>> networks_;
  Mutex mutex_;
  std::map<int, std::set<std::string>> seen_ ABSL_GUARDED_BY(mutex_);
  std::map<int, int> transports_ ABSL_GUARDED_BY(mutex_);
  std::set<int> released_ ABSL_GUARDED_BY(mutex_);
};

constexpr std::chrono::seconds kPatience{30};

TEST(ShardLoopsTest, EachDependencyIsReportedToItsShardAlone) {
  ShardedController controller;
  std::unique_ptr<Agent> agent = controller.Start(RealClock());
  std::map<int, std::set<std::string>> expected;
  for (int i = 0; i < 8; ++i) {
    const std::string name = absl::StrCat("dep-", i);
    expected[ShardOf(DependencyId(name), kShards)].insert(name);
    agent->bulkhead(name);
  }
  ASSERT_TRUE(agent->WaitUntilGranted(kPatience).ok());
  for (int shard = 0; shard < kShards; ++shard) {
    EXPECT_EQ(controller.SeenBy(shard), expected[shard]) << shard;
    EXPECT_EQ(controller.transports()[shard], expected[shard].empty() ? 0 : 1) << shard;
  }
  EXPECT_TRUE(agent->connected());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(agent->bulkhead(absl::StrCat("dep-", i)).limit(), 7);
  // Of a shard that was not used so far.
  for (int i = 8; controller.transports().size() < kShards; ++i) {
    agent->bulkhead(absl::StrCat("dep-", i));
  }
  EXPECT_TRUE(agent->WaitUntilGranted(kPatience).ok());
}

TEST(ShardLoopsTest, DrainingGivesEverySessionBack) {
  ShardedController controller;
  std::unique_ptr<Agent> agent = controller.Start(RealClock());
  std::set<int> used;
  for (int i = 0; i < 4; ++i) {
    const std::string name = absl::StrCat("dep-", i);
    used.insert(ShardOf(DependencyId(name), kShards));
    agent->bulkhead(name);
  }
  ASSERT_TRUE(agent->WaitUntilGranted(kPatience).ok());
  EXPECT_TRUE(agent->Drain(kPatience).ok());
  EXPECT_EQ(controller.released(), used);
}

TEST(ShardLoopsTest, WithoutDependenciesItIsConnectedAndHoldsNothing) {
  ShardedController controller;
  std::unique_ptr<Agent> agent = controller.Start(RealClock());
  while (!agent->connected()) std::this_thread::yield();
  EXPECT_TRUE(agent->Drain(kPatience).ok());
  EXPECT_TRUE(controller.transports().empty());
}

TEST(ShardLoopsTest, AnotherNumberIsNotBelieved) {
  ShardedController controller;
  Mutex mutex;
  std::vector<std::string> log;
  AgentOptions options = QuietOptions();
  options.log = [&](std::string_view line) {
    const MutexLock lock(mutex);
    log.emplace_back(line);
  };
  const DependencyId name("dep-0");
  FakeNetwork& network = controller.network(ShardOf(name, kShards));
  network.TellShards(4);
  std::unique_ptr<Agent> agent = controller.Start(RealClock(), options);
  agent->bulkhead(name.value);
  ASSERT_TRUE(agent->WaitUntilGranted(kPatience).ok());
  // A refusal of the next sync by a controller of another fleet.
  while (network.HasMessage()) network.Take();
  const auto told = [&] {
    const MutexLock lock(mutex);
    for (const std::string& line : log) {
      if (line.find("tells of 4 shards, and there are 6") != std::string::npos) return true;
    }
    return false;
  };
  while (!told()) {
    network.Reply(Refusal{RefusalCode::kInvalidArgument, "of another shard", Epoch(1)});
    std::this_thread::yield();
  }
  EXPECT_EQ(agent->bulkhead(name.value).limit(), 7) << "what was granted stays";
  EXPECT_EQ(controller.transports().size(), 1U);
}

// Whoever has a session without shards does not look for any, whatever a controller says.
TEST(ShardLoopsTest, WhoWasServedWithoutShardsStaysSo) {
  FakeNetwork network([](const Sent& sent) { return AnswerWell(sent, 7); });
  AgentParts parts{RealClock(), Random(1), network.MakeTransport()};
  int made = 0;
  parts.shard_transport = [&](int /*shard*/) {
    ++made;
    return network.MakeTransport();
  };
  auto agent = AgentFactory::Start(QuietOptions(), std::move(parts));
  ASSERT_TRUE(agent.ok());
  (*agent)->bulkhead("dep-0");
  ASSERT_TRUE((*agent)->WaitUntilGranted(kPatience).ok());
  network.TellShards(6);
  const std::int64_t errors = (*agent)->Snapshot().syncs.error;
  while ((*agent)->Snapshot().syncs.error == errors) {
    network.Reply(Refusal{RefusalCode::kAgentTooOld, "shards", Epoch(1)});
    std::this_thread::yield();
  }
  EXPECT_EQ(made, 0);
  EXPECT_EQ((*agent)->bulkhead("dep-0").limit(), 7);
}

}  // namespace
}  // namespace plimsoll
