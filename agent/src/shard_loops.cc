#include "agent/src/shard_loops.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {

ShardLoops::ShardLoops(SessionOptions options, const Clock& clock, Random random,
                       std::unique_ptr<Transport> transport, MakeTransport make_transport,
                       LogFunction log)
    : options_(std::move(options)),
      clock_(clock),
      make_transport_(std::move(make_transport)),
      log_(std::move(log)),
      random_(Random(random.Next())),
      first_(options_, clock, random, std::move(transport), log_) {
  if (!make_transport_) return;
  first_.ExpectShards([this](int shards) { OnShards(shards); });
}

void ShardLoops::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  // Nothing is made any more after it.
  first_.Stop();
  // All together: each may have to wait for a connection.
  ForEachLoop([](SyncLoop& loop) { loop.AskToStop(); });
  ForEachLoop([](SyncLoop& loop) { loop.Stop(); });
}

void ShardLoops::Add(DependencyId dependency, GrantPort& port, BreakerPort* breaker) {
  const MutexLock lock(mutex_);
  Joined joined{std::move(dependency), &port, breaker};
  if (shards_ > 0) return AddToShard(std::move(joined));
  first_.Add(joined.dependency, port, breaker);
  joined_.push_back(std::move(joined));
}

void ShardLoops::OnShards(int shards) {
  const MutexLock lock(mutex_);
  if (stopping_) return;
  log_(absl::StrCat("the controllers have ", shards,
                    " shards: there is a session with each that is used"));
  shards_.store(shards, std::memory_order_release);
  for (Joined& joined : std::exchange(joined_, {})) AddToShard(std::move(joined));
}

void ShardLoops::AddToShard(Joined joined) {
  if (stopping_) return;
  const int shard = ShardOf(joined.dependency, shards_);
  SyncLoop* const there = loop(shard);
  SyncLoop* const made = there == nullptr ? MakeLoop(shard) : there;
  made->Add(std::move(joined.dependency), *joined.port, joined.breaker);
  if (there != nullptr) return;
  if (leaving_) made->Leave();
  if (const absl::Status started = made->Start(); !started.ok()) {
    log_(absl::StrCat("shard ", shard, ": ", std::string(started.message()),
                      ": what belongs there gets no grants"));
  }
}

SyncLoop* ShardLoops::MakeLoop(int shard) {
  auto log = [log = log_, shard](std::string_view line) {
    log(absl::StrCat("shard ", shard, ": ", std::string(line)));
  };
  owned_.push_back(std::make_unique<SyncLoop>(options_, clock_, Random(random_.Next()),
                                              make_transport_(shard), std::move(log)));
  SyncLoop* const made = owned_.back().get();
  made->KnowShards(shards_);
  loops_[static_cast<std::size_t>(shard)].store(made, std::memory_order_release);
  return made;
}

void ShardLoops::Leave() {
  const MutexLock lock(mutex_);
  leaving_ = true;
  first_.Leave();
  ForEachLoop([](SyncLoop& loop) { loop.Leave(); });
}

void ShardLoops::Wake(const DependencyId& dependency) {
  const int shards = shards_.load(std::memory_order_acquire);
  if (shards == 0) return first_.Wake();
  if (SyncLoop* const one = loop(ShardOf(dependency, shards))) one->Wake();
}

SyncCounts ShardLoops::syncs() const {
  SyncCounts counts = first_.syncs();
  ForEachLoop([&counts](const SyncLoop& loop) {
    const SyncCounts own = loop.syncs();
    counts.ok += own.ok;
    counts.error += own.error;
    counts.timeout += own.timeout;
  });
  return counts;
}

bool ShardLoops::connected() const {
  if (shards_.load(std::memory_order_acquire) == 0) return first_.connected();
  bool all = true;
  ForEachLoop([&all](const SyncLoop& loop) { all = all && loop.connected(); });
  return all;
}

bool ShardLoops::released() const {
  bool all = first_.released();
  ForEachLoop([&all](const SyncLoop& loop) { all = all && loop.released(); });
  return all;
}

bool ShardLoops::finished() const {
  bool all = first_.finished();
  ForEachLoop([&all](const SyncLoop& loop) { all = all && loop.finished(); });
  return all;
}

std::string ShardLoops::instance() const {
  for (int shard = 0; shard < shards_.load(std::memory_order_acquire); ++shard) {
    if (const SyncLoop* const one = loop(shard)) return one->instance();
  }
  return first_.instance();
}

}  // namespace plimsoll::internal
