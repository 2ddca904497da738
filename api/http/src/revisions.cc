#include "api/http/src/revisions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/http/src/views.h"

namespace plimsoll::internal {
namespace {

constexpr std::array<const char*, kCollections> kNames = {"dependencies", "quotas", "limits",
                                                          "instances"};

template <typename Row, typename Essence>
bool Differ(const std::vector<Row>& a, const std::vector<Row>& b, Essence essence) {
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(),
                     [&essence](const Row& x, const Row& y) { return essence(x) == essence(y); });
}

std::optional<Instant> JudgedAt(const std::optional<LastDecision>& last) {
  return last.has_value() ? std::optional<Instant>(last->at) : std::nullopt;
}

auto LimitDecided(const LimitRow& row) {
  return std::tuple(
      std::tie(row.dependency, row.service, row.instance, row.session, row.explanation), row.mode,
      row.granted, row.stage, row.fenced);
}
auto LimitMeasured(const LimitRow& row) {
  return std::tuple(row.enforced, row.reserved, row.wanted, row.in_flight, row.in_flight_max,
                    JudgedAt(row.last_decision));
}
auto ShareDecided(const LimitRow& row) {
  return std::tie(row.dependency, row.service, row.instance, row.session, row.granted);
}
auto ShareMeasured(const LimitRow& row) {
  return std::tie(row.reserved, row.wanted, row.in_flight);
}
auto InstanceDecided(const InstanceRow& row) {
  return std::tie(row.session, row.service, row.instance, row.agent_version, row.zone,
                  row.connected, row.leaving, row.fenced, row.dependencies);
}
auto BreakerMeasured(const std::optional<BreakerRow>& row) {
  const BreakerRow& breaker = row.has_value() ? *row : BreakerRow();
  const BreakerEvidence& seen = breaker.evidence;
  return std::tuple(row.has_value(), breaker.view, breaker.opened_total, breaker.prober,
                    breaker.instances, seen.succeeded, seen.failed, seen.slow, seen.hanging);
}
auto DependencyMeasured(const DependencyRow& row) {
  return std::tuple(row.instances, row.granted, row.reserved, row.orphaned, row.wanted,
                    row.in_flight, row.algorithm_limit, row.baseline, row.admitted_per_second,
                    row.rejected_per_second, row.latency_p50, row.latency_p99,
                    JudgedAt(row.last_decision), BreakerMeasured(row.breaker));
}

// What operators have set, as they see it.
std::string SettingsOf(const Snapshot& snapshot) {
  std::string settings;
  for (const DependencyRow& row : snapshot.dependencies) {
    nlohmann::ordered_json view = DependencyView(row, {}, false, TimeBase{});
    view.erase("status");
    settings += view.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  return settings;
}

}  // namespace

void Revisions::Note(const std::shared_ptr<const Snapshot>& snapshot) {
  if (snapshot == seen_) return;
  std::string settings = SettingsOf(*snapshot);
  if (seen_ != nullptr) {
    const Snapshot& a = *seen_;
    const Snapshot& b = *snapshot;
    const bool set = settings != settings_;
    const bool limits_decided = Differ(a.limits, b.limits, LimitDecided);
    const bool limits_measured = Differ(a.limits, b.limits, LimitMeasured);
    const bool pools = Differ(a.dependencies, b.dependencies, DependencyMeasured);
    Raise(Collection::kLimits, limits_decided, limits_measured);
    Raise(Collection::kInstances, Differ(a.instances, b.instances, InstanceDecided), false);
    Raise(Collection::kQuotas, set || Differ(a.limits, b.limits, ShareDecided),
          pools || Differ(a.limits, b.limits, ShareMeasured));
    Raise(Collection::kDependencies, set,
          pools || limits_decided || limits_measured || a.learning != b.learning);
  }
  settings_ = std::move(settings);
  seen_ = snapshot;
}

void Revisions::Raise(Collection collection, bool decided, bool measured) {
  Count& count = counts_[static_cast<std::size_t>(collection)];
  count.revision += decided ? 1 : 0;
  count.generation += measured ? 1 : 0;
}

std::string Revisions::Revision(Collection collection) const {
  const auto index = static_cast<std::size_t>(collection);
  const std::int64_t reign = seen_ != nullptr ? seen_->epoch.value : 0;
  return absl::StrCat(kNames[index], ".", reign, "-", counts_[index].revision);
}

std::string Revisions::ETag(Collection collection) const {
  const Count& count = counts_[static_cast<std::size_t>(collection)];
  return absl::StrCat("\"", Revision(collection), ".", count.generation, "\"");
}

bool MatchesETag(const std::string& if_none_match, const std::string& etag) {
  const std::vector<std::string> tags = absl::StrSplit(if_none_match, ',');
  return std::any_of(tags.begin(), tags.end(), [&etag](const std::string& tag) {
    std::string stripped(absl::StripAsciiWhitespace(tag));
    if (stripped.starts_with("W/")) stripped.erase(0, 2);
    return stripped == etag || stripped == "*";
  });
}

}  // namespace plimsoll::internal
