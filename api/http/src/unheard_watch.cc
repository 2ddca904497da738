#include "api/http/src/unheard_watch.h"

#include <algorithm>
#include <utility>

namespace plimsoll::internal {
namespace {

// What lies between two looks beyond this was a pause of this process, and says nothing of others.
constexpr absl::Duration kLookMax = absl::Milliseconds(200);
// So many answers in time make a witness.
constexpr int kBeats = 3;

}  // namespace

UnheardWatch::UnheardWatch(absl::Duration unheard_after, absl::Duration hold_max)
    : unheard_after_(unheard_after), beat_max_(hold_max + unheard_after) {}

void UnheardWatch::Asked() {
  ++owed_;
  heard_ = true;
  stirred_ = true;
}

void UnheardWatch::Settled() {
  --owed_;
  stirred_ = true;
}

void UnheardWatch::Synced(int shard, const SessionId& session) {
  Rhythm& rhythm = sessions_.try_emplace({shard, session}, Rhythm{clock_, 0}).first->second;
  const bool in_time = clock_ - rhythm.synced_at <= beat_max_;
  if (in_time && rhythm.beats < kBeats) ++rhythm.beats;
  if (!in_time) rhythm.beats = 0;
  rhythm.synced_at = clock_;
}

void UnheardWatch::Released(int shard, const SessionId& session) {
  sessions_.erase({shard, session});
}

std::optional<Hearing> UnheardWatch::Look(Instant now, bool leads, bool store_answers) {
  Count(now, store_answers);
  const bool begins = leads && !leads_;
  leads_ = leads;
  if (begins) doubted_ = false;
  if (begins || !leads) {
    silence_ = absl::ZeroDuration();
    sessions_.clear();
  }
  if (std::exchange(heard_, false) && std::exchange(unheard_, false)) return Hearing::kHeardAgain;
  if (!leads) return std::nullopt;
  DropSilent();
  return Judge();
}

void UnheardWatch::Count(Instant now, bool store_answers) {
  const absl::Duration passed = std::min(now - looked_at_, kLookMax);
  looked_at_ = now;
  clock_ += passed;
  silence_ += passed;
  if (std::exchange(stirred_, false) || owed_ > 0 || !store_answers) {
    silence_ = absl::ZeroDuration();
  }
}

std::optional<Hearing> UnheardWatch::Judge() {
  if (unheard_) {
    // Agents have to find it first, and may ask another one before.
    if (doubted_ || silence_ <= 2 * beat_max_) return std::nullopt;
    doubted_ = true;
    return Hearing::kStillUnheard;
  }
  if (silence_ <= unheard_after_ || !HasWitness()) return std::nullopt;
  unheard_ = true;
  doubted_ = true;
  sessions_.clear();
  return Hearing::kUnheard;
}

// Who falls silent while others are heard has gone by itself. Nobody is old enough for this who was
// there when all fell silent.
void UnheardWatch::DropSilent() {
  if (clock_ - dropped_at_ < beat_max_) return;
  dropped_at_ = clock_;
  absl::erase_if(sessions_, [this](const auto& session) {
    return clock_ - session.second.synced_at > 2 * beat_max_;
  });
}

bool UnheardWatch::HasWitness() const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [](const auto& session) { return session.second.beats >= kBeats; });
}

}  // namespace plimsoll::internal
