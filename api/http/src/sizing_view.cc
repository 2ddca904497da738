#include "api/http/src/sizing_view.h"

#include <nlohmann/json.hpp>
#include <string>

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<Calls>& calls) { return calls ? Json(*calls) : Json(nullptr); }

Json SecondsOrNull(absl::Duration measured) {
  if (measured <= absl::ZeroDuration()) return nullptr;
  return absl::ToDoubleSeconds(measured);
}

Json MeasuredView(const SizingAdvice& advice) {
  return {{"span_seconds", absl::ToDoubleSeconds(advice.span)},
          {"steps", advice.steps},
          {"instances", advice.instances},
          {"arrivals_per_second", advice.arrivals_mean},
          {"arrivals_per_second_max", advice.arrivals_peak},
          {"latency_mean_seconds", SecondsOrNull(advice.latency_mean)},
          {"latency_p99_seconds", SecondsOrNull(advice.latency_p99)},
          {"utilisation", advice.utilisation_mean},
          {"utilisation_max", advice.utilisation_peak},
          {"rejected_share", advice.refused_share}};
}

Json RemarksView(const SizingAdvice& advice) {
  Json remarks = Json::array();
  for (const SizingRemark& remark : advice.remarks) {
    remarks.push_back(
        {{"finding", std::string(ToString(remark.finding))}, {"message", remark.message}});
  }
  return remarks;
}

Json ItemView(const SizingAdvice& advice) {
  return {{"dependency", advice.dependency.value},
          {"measured", MeasuredView(advice)},
          {"needed",
           {{"in_flight_by_mean", OrNull(advice.in_flight_by_mean)},
            {"in_flight_by_p99", OrNull(advice.in_flight_by_p99)},
            {"critical", OrNull(advice.critical)},
            {"optional", OrNull(advice.optional)}}},
          {"advised",
           {{"quota", OrNull(advice.quota)},
            {"floor", OrNull(advice.floor)},
            {"ceiling", OrNull(advice.ceiling)}}},
          {"configured",
           {{"quota", OrNull(advice.configured_quota)},
            {"floor", advice.configured_floor},
            {"ceiling", advice.configured_ceiling}}},
          {"reasons", advice.reasons},
          {"remarks", RemarksView(advice)}};
}

}  // namespace

Json SizingView(const std::vector<SizingAdvice>& advice) {
  Json items = Json::array();
  for (const SizingAdvice& one : advice) items.push_back(ItemView(one));
  return {{"items", items}};
}

}  // namespace plimsoll::internal
