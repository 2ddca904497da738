#include "api/http/src/watch_hub.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

BodyStream::Piece MakePiece(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

bool Wants(const WatchFilter& filter, WatchTopic topic, const std::vector<DependencyId>& about) {
  if (!filter.topics[static_cast<std::size_t>(topic)]) return false;
  return filter.dependency.empty() || about.empty() ||
         std::find(about.begin(), about.end(), filter.dependency) != about.end();
}

}  // namespace

WatchHub::WatchHub(std::string start, int watchers_max)
    : start_(std::move(start)), watchers_max_(watchers_max) {}

absl::StatusOr<std::shared_ptr<BodyStream>> WatchHub::Open(const WatchFilter& filter,
                                                           const std::string& last_id, Instant now,
                                                           const std::string& greeting) {
  now_ = now;
  if (ended_) return absl::UnavailableError("this controller is stopping; go to the next one");
  if (!IsWanted(now)) ForgetMissed();
  std::int64_t from = last_;
  if (!last_id.empty()) {
    const std::optional<std::int64_t> resumed = Resume(last_id);
    if (!resumed.has_value()) {
      return absl::OutOfRangeError(absl::StrCat(
          "what came after '", last_id, "' is not known any more; list again, without the header"));
    }
    from = *resumed;
  }
  if (counts_.open >= watchers_max_) {
    ++counts_.refused_total;
    return absl::ResourceExhaustedError(
        absl::StrCat("all ", watchers_max_, " event streams are taken; poll with If-None-Match"));
  }
  const std::int64_t id = next_watcher_++;
  auto stream = std::make_shared<BodyStream>();
  stream->OnClosed([this, id](bool slow) { Close(id, slow, now_); });
  watchers_.emplace(id, Watcher{filter, stream});
  ++counts_.open;
  // Where a resumed stream goes on is told by what it missed.
  stream->Push(MakePiece(last_id.empty() ? absl::StrCat("retry: 2000\nid: ", IdOf(last_), "\n\n")
                                         : "retry: 2000\n\n"));
  if (!greeting.empty()) stream->Push(MakePiece(greeting));
  std::vector<BodyStream::Piece> missed;
  for (std::size_t i = ring_.size() - static_cast<std::size_t>(last_ - from); i < ring_.size();
       ++i) {
    if (Wants(filter, ring_[i].topic, ring_[i].about)) missed.push_back(ring_[i].piece);
  }
  if (missed.size() >= kQueueMax) missed = {Reset()};
  for (BodyStream::Piece& piece : missed) stream->Push(std::move(piece));
  return stream;
}

void WatchHub::Publish(std::vector<WatchFrame> frames) {
  if (frames.empty()) return;
  const std::size_t known = frames.size() > kRingMax ? 0 : ring_.size();
  if (known == 0) ring_.clear();
  for (const WatchFrame& frame : frames) {
    ring_.push_back(Encode(frame));
    if (ring_.size() > kRingMax) ring_.pop_front();
  }
  const std::size_t fresh = std::min(frames.size(), ring_.size());
  // Streams that break leave the map, so they are found first.
  std::vector<std::pair<std::shared_ptr<BodyStream>, std::size_t>> slow;
  for (auto& [id, watcher] : watchers_) {
    std::vector<BodyStream::Piece> pieces;
    for (auto it = ring_.end() - static_cast<std::ptrdiff_t>(fresh); it != ring_.end(); ++it) {
      if (Wants(watcher.filter, it->topic, it->about)) pieces.push_back(it->piece);
    }
    if (pieces.size() >= kQueueMax || frames.size() > kRingMax) pieces = {Reset()};
    if (watcher.stream->waiting() + pieces.size() > kQueueMax) {
      slow.emplace_back(watcher.stream, pieces.size() + watcher.stream->waiting());
      continue;
    }
    for (BodyStream::Piece& piece : pieces) watcher.stream->Push(std::move(piece));
  }
  for (auto& [stream, dropped] : slow) {
    CountSlow(dropped);
    stream->Break();
  }
}

void WatchHub::Beat(Instant now) {
  now_ = now;
  if (now - beaten_at_ < kBeat) return;
  beaten_at_ = now;
  // The id lets streams that want little go on from here.
  const BodyStream::Piece piece = MakePiece(absl::StrCat(":\nid: ", IdOf(last_), "\n\n"));
  for (auto& [id, watcher] : watchers_) {
    if (watcher.stream->waiting() < kQueueMax) watcher.stream->Push(piece);
  }
}

void WatchHub::Shutdown() {
  ended_ = true;
  EndStreams();
}

void WatchHub::EndStreams() {
  const BodyStream::Piece bye = MakePiece("event: bye\ndata: {}\n\n");
  std::vector<std::shared_ptr<BodyStream>> streams;
  for (auto& [id, watcher] : watchers_) streams.push_back(watcher.stream);
  for (const auto& stream : streams) {
    stream->Push(bye);
    stream->End();
  }
}

// A number that nobody has seen separates what was missed from what comes.
void WatchHub::ForgetMissed() {
  ring_.clear();
  ++last_;
}

std::string WatchHub::IdOf(std::int64_t number) const { return absl::StrCat(start_, "-", number); }

WatchHub::Encoded WatchHub::Encode(const WatchFrame& frame) {
  return {frame.topic, frame.about,
          MakePiece(absl::StrCat("id: ", IdOf(++last_),
                                 "\nevent: ", std::string(EventName(frame.topic)),
                                 "\ndata: ", frame.data, "\n\n"))};
}

BodyStream::Piece WatchHub::Reset() const {
  return MakePiece(absl::StrCat("id: ", IdOf(last_), "\nevent: reset\ndata: {}\n\n"));
}

std::optional<std::int64_t> WatchHub::Resume(const std::string& last_id) const {
  const std::string prefix = absl::StrCat(start_, "-");
  if (!last_id.starts_with(prefix)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = last_id.data() + last_id.size();
  const auto [rest, error] = std::from_chars(last_id.data() + prefix.size(), end, number);
  const bool whole = error == std::errc() && rest == end;
  if (!whole || number > last_ || number < last_ - static_cast<std::int64_t>(ring_.size())) {
    return std::nullopt;
  }
  return number;
}

void WatchHub::Close(std::int64_t watcher, bool slow, Instant now) {
  const auto found = watchers_.find(watcher);
  if (found == watchers_.end()) return;
  if (slow) CountSlow(found->second.stream->waiting());
  watchers_.erase(found);
  --counts_.open;
  wanted_until_ = now + kMemory;
}

void WatchHub::CountSlow(std::size_t frames) {
  counts_.frames_dropped_total += static_cast<std::int64_t>(frames);
  ++counts_.closed_slow_total;
}

}  // namespace plimsoll::internal
