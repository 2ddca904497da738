#include "controller/main/config_keys.h"

namespace plimsoll {
namespace {

constexpr unsigned kLive = ConfigKey::kLive;

// A reload changes all of them, and nearly all have the same default with --dev.
ConfigKey LiveKey(const char* name, KeyType type, const char* value, const char* allowed,
                  const char* meaning) {
  return {name, type, value, nullptr, allowed, kLive, meaning};
}

std::vector<ConfigKey> LimitKeys() {
  return {
      LiveKey(
          "mode", KeyType::kWord, "enforce", "enforce|observe|disabled",
          "enforce: the limits hold. observe: everything is worked out, explained and published, "
          "and "
          "nobody is refused. disabled: as observe, and the law is told nothing."),
      LiveKey(
          "scope", KeyType::kWord, "fleet", "fleet|instance",
          "fleet: one limit for all instances together, then divided. instance: each by itself."),
      LiveKey("algorithm", KeyType::kWord, "fleet_knee",
              "fixed|aimd|vegas|gradient|gradient2|envoy_gradient|bdp|fleet_knee",
              "The law that moves the limit; algorithms/README.md tells what each is good for. Its "
              "settings stand in a section of its name."),
      LiveKey("floor", KeyType::kWhole, "5", "1 to 1000000",
              "Least limit of an instance: below it nothing can be learned, and 0 would never "
              "recover."),
      LiveKey(
          "ceiling", KeyType::kWhole, "200", "1 to 1000000",
          "Largest limit of an instance, at least the floor. Without one, memory runs out first."),
      LiveKey("initial", KeyType::kWhole, "", "1 to 1000000",
              "Where the law starts: by default at the quota with scope fleet, at 20 with scope "
              "instance."),
      LiveKey("call_deadline", KeyType::kDuration, "30s", "1ms to 24h",
              "Every call is cut at this age, by you: the quota counts on it."),
      LiveKey("window.length", KeyType::kDuration, "1s", "100ms to 1m",
              "How long calls are gathered for one look. Shorter reacts faster, to less evidence."),
      LiveKey("window.min_samples", KeyType::kWhole, "20", "1 to 2147483647",
              "Fewer ended calls move no limit."),
      LiveKey("window.latency", KeyType::kWord, "percentile", "percentile|mean",
              "What the law is told: a percentile of the calls that ended, or their mean, in which "
              "calls "
              "that hang count while they hang."),
      LiveKey("window.percentile", KeyType::kNumber, "0.9", "above 0, at most 1",
              "Which percentile."),
      LiveKey("window.latency_ceiling", KeyType::kDuration, "", "above 0s",
              "A higher latency counts as overload, like drops. None."),
      LiveKey("window.drop_tolerance", KeyType::kNumber, "0.05", "0 to below 1",
              "A larger share of dropped calls counts as overload."),
      LiveKey(
          "outage.base", KeyType::kWhole, "", "0 to the ceiling",
          "Limit of an instance that has lost the controller, once its lease has ended; by default "
          "the floor. All of it stays reserved."),
      {"outage.base_lease", KeyType::kDuration, "10m", "30s", "agents.lease to 24h", kLive,
       "How long the base holds: the outage of a controller that costs nothing more."},
      LiveKey("outage.reserve", KeyType::kWhole, "0", "0 to the base",
              "What remains after the base lease, for ever. 0, since only stable names free it."),
  };
}

std::vector<ConfigKey> SharingKeys() {
  return {
      LiveKey("quota.capacity", KeyType::kWhole, "", "1 to 1000000",
              "The most calls in flight, all instances of all services together. None: no quota."),
      LiveKey("quota.instances_expected", KeyType::kWhole, "0", "0 to 2147483647",
              "Checks that the floors of so many instances fit. 0: unknown."),
      LiveKey("quota.join_reserve", KeyType::kWhole, "", "0 to below the capacity",
              "Kept free for newcomers; by default 2 % of the capacity, and 0 of less than 50."),
      LiveKey("quota.policy", KeyType::kWord, "fair_share", "fair_share",
              "How the capacity is shared: by weight and demand. There is one way so far."),
      LiveKey("quota.services.NAME.weight", KeyType::kNumber, "1", "above 0",
              "Of two services that contend, 3 and 1 get three quarters and one quarter."),
      LiveKey("quota.services.NAME.min_share", KeyType::kWhole, "0", "0 to 1000000",
              "Guaranteed as far as it can be used; all minima together fit the capacity."),
      LiveKey("quota.services.NAME.max_share", KeyType::kWhole, "", "0 to 1000000",
              "Never more, headroom included. None."),
      LiveKey("quota.services.NAME.priority", KeyType::kWhole, "0", "0 to 7",
              "0 is served first; later ones keep their min_share and floors."),
      LiveKey("quota.services.NAME.lend", KeyType::kNumber, "1", "0 to 1",
              "Which part of its nominal share others may use while it is idle."),
  };
}

std::vector<ConfigKey> BreakerKeys() {
  return {
      LiveKey(
          "breaker.enabled", KeyType::kFlag, "true", "",
          "false takes away the breaker that the defaults have given. Without the section there is "
          "none."),
      LiveKey("breaker.consecutive_failures", KeyType::kWhole, "5", "0 to 2147483647",
              "Opens after so many, of all instances, with no success of anybody. 0: off."),
      LiveKey("breaker.failure_rate", KeyType::kNumber, "0", "0 to 1",
              "Opens at this share of failures in the window. 0: off."),
      LiveKey("breaker.slow_rate", KeyType::kNumber, "0", "0 to 1",
              "Opens at this share of calls longer than slow_after. 0: off."),
      LiveKey("breaker.calls_min", KeyType::kWhole, "20", "1 to 2147483647",
              "Fewer calls say nothing about rates."),
      LiveKey("breaker.slow_after", KeyType::kDuration, "0s", "",
              "Longer calls are slow; needed by slow_rate."),
      LiveKey("breaker.window", KeyType::kDuration, "10s", "", "Over which rates are taken."),
      LiveKey("breaker.hang_after", KeyType::kDuration, "30s", "",
              "A call in flight for longer counts as a failure. 0s: off."),
      LiveKey("breaker.cool_off", KeyType::kDuration, "1s", "",
              "Until one instance probes; grows with each failed probe."),
      LiveKey("breaker.cool_off_max", KeyType::kDuration, "10s", "",
              "The longest cool-off: how late a recovery may be noticed."),
      LiveKey("breaker.cool_off_growth", KeyType::kNumber, "2", "",
              "By which factor a failed probe lengthens the cool-off."),
      LiveKey("breaker.cool_off_jitter", KeyType::kNumber, "0.2", "0 to 1",
              "Which part of the cool-off is drawn by lot, so that breakers do not probe in step."),
      LiveKey("breaker.probe_deadline", KeyType::kDuration, "5s", "",
              "A probe that takes longer has failed."),
      LiveKey("breaker.probes_to_close", KeyType::kWhole, "1", "1 to 2147483647",
              "Probes in a row that must succeed."),
      LiveKey("breaker.probe_failures_to_open", KeyType::kWhole, "1", "1 to 2147483647",
              "Probes that may fail before the next cool-off."),
  };
}

}  // namespace

const std::vector<ConfigKey>& PolicyKeys() {
  static const auto& keys = *[] {
    auto* all = new std::vector<ConfigKey>(LimitKeys());
    for (const ConfigKey& key : SharingKeys()) all->push_back(key);
    for (const ConfigKey& key : BreakerKeys()) all->push_back(key);
    return all;
  }();
  return keys;
}

}  // namespace plimsoll
