#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "api/http/src/body_stream.h"
#include "api/http/src/watch_frames.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// What one stream wants to hear.
struct WatchFilter {
  std::array<bool, kWatchTopics> topics{};  // by WatchTopic
  DependencyId dependency;                  // empty: all
};

struct WatchCounts {
  std::int64_t open = 0;
  std::int64_t refused_total = 0;         // there were too many
  std::int64_t frames_dropped_total = 0;  // of streams that were too slow
  std::int64_t closed_slow_total = 0;     // these streams
};

// The event streams of /v1/watch: each frame is encoded once and shared by all of them. A stream
// may be kQueueMax frames behind; a slower one is closed. A burst that would fit no queue becomes
// one event `reset`: list again.
//
// Memory: kRingMax frames for who comes back, and per stream a queue of pointers to frames.
// Confined to the operator plane's thread.
class WatchHub {
 public:
  static constexpr std::size_t kQueueMax = 256;
  static constexpr std::size_t kRingMax = 2048;
  static constexpr absl::Duration kBeat = absl::Seconds(15);
  // For how long changes are remembered when nobody listens.
  static constexpr absl::Duration kMemory = absl::Minutes(1);

  // `start` tells the ids of this process from those of others.
  WatchHub(std::string start, int watchers_max);

  // A new stream, which first gets `greeting`, whole frames without an id, if that is not empty,
  // and what was missed since `last_id`, if that is not. Returns kResourceExhausted if there are
  // too many, kOutOfRange if what was missed is not known any more.
  absl::StatusOr<std::shared_ptr<BodyStream>> Open(const WatchFilter& filter,
                                                   const std::string& last_id, Instant now,
                                                   const std::string& greeting = "");
  void Publish(std::vector<WatchFrame> frames);
  // Keeps idle streams alive. To be called more often than kBeat.
  void Beat(Instant now);
  // Says good-bye and ends all streams; there will be no others.
  void Shutdown();
  // Says good-bye and ends the streams there are.
  void EndStreams();

  // Whether somebody listens, or did a short while ago: only then what changes must be published.
  bool IsWanted(Instant now) const { return counts_.open > 0 || now < wanted_until_; }

  const WatchCounts& counts() const { return counts_; }
  int watchers_max() const { return watchers_max_; }

 private:
  struct Encoded {
    WatchTopic topic;
    std::vector<DependencyId> about;
    BodyStream::Piece piece;
  };
  struct Watcher {
    WatchFilter filter;
    std::shared_ptr<BodyStream> stream;
  };

  void ForgetMissed();
  std::string IdOf(std::int64_t number) const;
  Encoded Encode(const WatchFrame& frame);
  BodyStream::Piece Reset() const;
  // The number after which to go on; nothing if what came since is not known.
  std::optional<std::int64_t> Resume(const std::string& last_id) const;
  void Close(std::int64_t watcher, bool slow, Instant now);
  void CountSlow(std::size_t frames);

  const std::string start_;
  const int watchers_max_;
  std::int64_t last_ = 0;     // the number of the newest frame
  std::deque<Encoded> ring_;  // the frames up to last_
  std::unordered_map<std::int64_t, Watcher> watchers_;
  std::int64_t next_watcher_ = 1;
  WatchCounts counts_;
  Instant wanted_until_;
  Instant beaten_at_;
  Instant now_;  // as of the last Open() or Beat()
  bool ended_ = false;
};

}  // namespace plimsoll::internal
