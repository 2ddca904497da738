#include "controller/main/config_keys.h"

namespace plimsoll {
namespace {

constexpr unsigned kLive = ConfigKey::kLive;

std::vector<ConfigKey> LimitKeys() {
  return {
      {"mode", KeyType::kWord, "enforce", nullptr, "enforce|observe|disabled", kLive,
       "enforce: the limits hold. observe: everything is worked out, explained and published, and "
       "nobody is refused. disabled: as observe, and the law is told nothing."},
      {"scope", KeyType::kWord, "fleet", nullptr, "fleet|instance", kLive,
       "fleet: one limit for all instances together, then divided. instance: each by itself."},
      {"algorithm", KeyType::kWord, "fleet_knee", nullptr,
       "fixed|aimd|vegas|gradient|gradient2|envoy_gradient|bdp|fleet_knee", kLive,
       "The law that moves the limit; algorithms/README.md tells what each is good for. Its "
       "settings stand in a section of its name."},
      {"floor", KeyType::kWhole, "5", nullptr, "1 to 1000000", kLive,
       "Least limit of an instance: below it nothing can be learned, and 0 would never recover."},
      {"ceiling", KeyType::kWhole, "200", nullptr, "1 to 1000000", kLive,
       "Largest limit of an instance, at least the floor. Without one, memory runs out first."},
      {"initial", KeyType::kWhole, "", nullptr, "1 to 1000000", kLive,
       "Where the law starts: by default at the quota with scope fleet, at 20 with scope "
       "instance."},
      {"call_deadline", KeyType::kDuration, "30s", nullptr, "1ms to 24h", kLive,
       "Every call is cut at this age, by you: the quota counts on it."},
      {"window.length", KeyType::kDuration, "1s", nullptr, "100ms to 1m", kLive,
       "How long calls are gathered for one look. Shorter reacts faster, to less evidence."},
      {"window.min_samples", KeyType::kWhole, "20", nullptr, "1 to 2147483647", kLive,
       "Fewer ended calls move no limit."},
      {"window.latency", KeyType::kWord, "percentile", nullptr, "percentile|mean", kLive,
       "What the law is told: a percentile of the calls that ended, or their mean, in which calls "
       "that hang count while they hang."},
      {"window.percentile", KeyType::kNumber, "0.9", nullptr, "above 0, at most 1", kLive,
       "Which percentile."},
      {"window.latency_ceiling", KeyType::kDuration, "", nullptr, "above 0s", kLive,
       "A higher latency counts as overload, like drops. None."},
      {"window.drop_tolerance", KeyType::kNumber, "0.05", nullptr, "0 to below 1", kLive,
       "A larger share of dropped calls counts as overload."},
      {"outage.base", KeyType::kWhole, "", nullptr, "0 to the ceiling", kLive,
       "Limit of an instance that has lost the controller, once its lease has ended; by default "
       "the floor. All of it stays reserved."},
      {"outage.base_lease", KeyType::kDuration, "10m", "30s", "agents.lease to 24h", kLive,
       "How long the base holds: the outage of a controller that costs nothing more."},
      {"outage.reserve", KeyType::kWhole, "0", nullptr, "0 to the base", kLive,
       "What remains after the base lease, for ever. 0, since only stable names free it."},
  };
}

std::vector<ConfigKey> SharingKeys() {
  return {
      {"quota.capacity", KeyType::kWhole, "", nullptr, "1 to 1000000", kLive,
       "The most calls in flight, all instances of all services together. None: no quota."},
      {"quota.instances_expected", KeyType::kWhole, "0", nullptr, "0 to 2147483647", kLive,
       "Checks that the floors of so many instances fit. 0: unknown."},
      {"quota.join_reserve", KeyType::kWhole, "", nullptr, "0 to below the capacity", kLive,
       "Kept free for newcomers; by default 2 % of the capacity, and 0 of less than 50."},
      {"quota.policy", KeyType::kWord, "fair_share", nullptr, "fair_share", kLive,
       "How the capacity is shared: by weight and demand. There is one way so far."},
      {"quota.services.NAME.weight", KeyType::kNumber, "1", nullptr, "above 0", kLive,
       "Of two services that contend, 3 and 1 get three quarters and one quarter."},
      {"quota.services.NAME.min_share", KeyType::kWhole, "0", nullptr, "0 to 1000000", kLive,
       "Guaranteed as far as it can be used; all minima together fit the capacity."},
      {"quota.services.NAME.max_share", KeyType::kWhole, "", nullptr, "0 to 1000000", kLive,
       "Never more, headroom included. None."},
      {"quota.services.NAME.priority", KeyType::kWhole, "0", nullptr, "0 to 7", kLive,
       "0 is served first; later ones keep their min_share and floors."},
      {"quota.services.NAME.lend", KeyType::kNumber, "1", nullptr, "0 to 1", kLive,
       "Which part of its nominal share others may use while it is idle."},
  };
}

std::vector<ConfigKey> BreakerKeys() {
  return {
      {"breaker.enabled", KeyType::kFlag, "true", nullptr, "", kLive,
       "false takes away the breaker that the defaults have given. Without the section there is "
       "none."},
      {"breaker.consecutive_failures", KeyType::kWhole, "5", nullptr, "0 to 2147483647", kLive,
       "Opens after so many, of all instances, with no success of anybody. 0: off."},
      {"breaker.failure_rate", KeyType::kNumber, "0", nullptr, "0 to 1", kLive,
       "Opens at this share of failures in the window. 0: off."},
      {"breaker.slow_rate", KeyType::kNumber, "0", nullptr, "0 to 1", kLive,
       "Opens at this share of calls longer than slow_after. 0: off."},
      {"breaker.calls_min", KeyType::kWhole, "20", nullptr, "1 to 2147483647", kLive,
       "Fewer calls say nothing about rates."},
      {"breaker.slow_after", KeyType::kDuration, "0s", nullptr, "", kLive,
       "Longer calls are slow; needed by slow_rate."},
      {"breaker.window", KeyType::kDuration, "10s", nullptr, "", kLive,
       "Over which rates are taken."},
      {"breaker.hang_after", KeyType::kDuration, "30s", nullptr, "", kLive,
       "A call in flight for longer counts as a failure. 0s: off."},
      {"breaker.cool_off", KeyType::kDuration, "1s", nullptr, "", kLive,
       "Until one instance probes; grows with each failed probe."},
      {"breaker.cool_off_max", KeyType::kDuration, "10s", nullptr, "", kLive,
       "The longest cool-off: how late a recovery may be noticed."},
      {"breaker.cool_off_growth", KeyType::kNumber, "2", nullptr, "", kLive,
       "By which factor a failed probe lengthens the cool-off."},
      {"breaker.cool_off_jitter", KeyType::kNumber, "0.2", nullptr, "0 to 1", kLive,
       "Which part of the cool-off is drawn by lot, so that breakers do not probe in step."},
      {"breaker.probe_deadline", KeyType::kDuration, "5s", nullptr, "", kLive,
       "A probe that takes longer has failed."},
      {"breaker.probes_to_close", KeyType::kWhole, "1", nullptr, "1 to 2147483647", kLive,
       "Probes in a row that must succeed."},
      {"breaker.probe_failures_to_open", KeyType::kWhole, "1", nullptr, "1 to 2147483647", kLive,
       "Probes that may fail before the next cool-off."},
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
