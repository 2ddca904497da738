#include "tests/integration/chaos/judge.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::chaos {
namespace {

constexpr double kBeforeBreach = 5;
constexpr double kAfterBreach = 1;
constexpr double kLineInterval = 0.1;

std::string Line(const Sight& sight) {
  std::string limits;
  for (const PlaceView& place : sight.places) absl::StrAppendFormat(&limits, " %2d", place.limit);
  return absl::StrFormat("%9.3f  in flight %2d, at most %2d of %2d; limits%s = %d", sight.at,
                         sight.in_flight, sight.in_flight_max, sight.allowed, limits,
                         sight.limits());
}

}  // namespace

int Sight::limits() const {
  int sum = 0;
  for (const PlaceView& place : places) sum += place.limit;
  return sum;
}

void Judge::See(const Sight& sight) {
  if (sight.in_flight_max > in_flight_max_) {
    in_flight_max_ = sight.in_flight_max;
    allowed_at_max_ = sight.allowed;
  }
  if (sight.excess_max > 0 && !breached_at_) breached_at_ = sight.at;
  if (!breached_at_ || sight.at <= *breached_at_ + kAfterBreach) recent_.push_back(sight);
  while (recent_.front().at < sight.at - kBeforeBreach - kAfterBreach &&
         (!breached_at_ || recent_.front().at < *breached_at_ - kBeforeBreach)) {
    recent_.pop_front();
  }
  WatchMembers(sight);
  last_limits_ = sight.limits();
  if (healed_at_ && !whole_after_ && last_limits_ >= quota_ - kKeptBack) {
    whole_after_ = sight.at - *healed_at_;
  }
}

void Judge::WatchMembers(const Sight& sight) {
  for (std::size_t i = 0; i < sight.places.size() && i < members_.size(); ++i) {
    Member& member = members_[i];
    const bool served = sight.places[i].succeeded > member.succeeded;
    member.succeeded = sight.places[i].succeeded;
    if (healed_at_ && served && !member.served_after) {
      member.served_after = sight.at - *healed_at_;
    }
    const double drought = sight.at - member.last;
    if (sight.places[i].undisturbed && drought > longest_drought_) {
      longest_drought_ = drought;
      drought_place_ = static_cast<int>(i);
      drought_end_ = sight.at;
    }
    if (served || !sight.places[i].undisturbed) member.last = sight.at;
  }
}

void Judge::Healed(double at, int quota) {
  healed_at_ = at;
  quota_ = quota;
}

std::optional<double> Judge::all_serve_after() const {
  double last = 0;
  for (const Member& member : members_) {
    if (!member.served_after) return std::nullopt;
    last = std::max(last, *member.served_after);
  }
  return last;
}

std::vector<std::string> Judge::Breach() const {
  std::vector<std::string> lines;
  if (!breached_at_) return lines;
  double next = 0;
  for (const Sight& sight : recent_) {
    if (sight.at != *breached_at_ && sight.at < next) continue;
    lines.push_back(Line(sight));
    next = sight.at + kLineInterval;
  }
  return lines;
}

}  // namespace plimsoll::chaos
