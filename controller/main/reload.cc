#include "controller/main/reload.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plimsoll/algorithms/law_settings.h"

namespace plimsoll {
namespace {

std::string Text(absl::Duration value) { return absl::FormatDuration(value); }
std::string Text(double value) { return absl::StrCat(value); }
std::string Text(int value) { return absl::StrCat(value); }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(VegasStep value) { return std::string(ToString(value)); }
std::string Text(const LogRule& value) { return ToString(value); }

template <typename Number>
std::string Text(const std::optional<Number>& value) {
  return value.has_value() ? absl::StrCat(*value) : "default";
}

std::string Text(const ListenAddress& address) {
  return absl::StrCat(address.address, ":", address.port);
}

void AddAlgorithm(const AlgorithmConfig& config, Settings& settings) {
  settings["algorithm"] = std::string(ToString(config.kind));
  settings["floor"] = absl::StrCat(config.floor);
  settings["ceiling"] = absl::StrCat(config.ceiling);
  settings["algorithm.initial"] = absl::StrCat(config.initial);
  VisitLaws(config, [&](AlgorithmKind kind, const auto& law) {
    const std::string section(ToString(kind));
    VisitSettings(law, [&](const std::string& name, const auto& value) {
      settings[absl::StrCat(section, ".", name)] = Text(value);
    });
  });
}

void AddService(const std::string& name, const ServiceShare& share, Settings& settings) {
  const std::string prefix = absl::StrCat("services.", name, ".");
  settings[prefix + "weight"] = absl::StrCat(share.weight);
  settings[prefix + "minimum"] = absl::StrCat(share.minimum);
  settings[prefix + "maximum"] = Text(share.maximum);
  settings[prefix + "priority"] = absl::StrCat(share.priority);
  settings[prefix + "lend"] = absl::StrCat(share.lend);
}

void AddListener(const std::string& section, const ListenerLimits& limits, Settings& settings) {
  settings[section + ".connections_max"] = absl::StrCat(limits.connections_max);
  settings[section + ".body_max"] = absl::StrCat(limits.body_bytes_max);
}

// "quota 50 -> 20"; what one side does not have is "none" there.
std::vector<std::string> Differences(const Settings& before, const Settings& after) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [name, value] : before) both[name] = {value, "none"};
  for (const auto& [name, value] : after) {
    auto& pair = both.try_emplace(name, "none", "").first->second;
    pair.second = value;
  }
  std::vector<std::string> lines;
  for (const auto& [name, values] : both) {
    if (values.first == values.second) continue;
    lines.push_back(absl::StrCat(name, " ", values.first, " -> ", values.second));
  }
  return lines;
}

// Policies and templates, as they are called in messages.
std::map<std::string, const Policy*> ByName(const Config& config) {
  std::map<std::string, const Policy*> all;
  for (const auto& [name, policy] : config.policies) all[name.value] = &policy;
  for (const auto& [pattern, policy] : config.templates) {
    all[absl::StrCat("template ", pattern)] = &policy;
  }
  return all;
}

void AddChanges(const std::map<std::string, const Policy*>& before,
                const std::map<std::string, const Policy*>& after,
                std::vector<std::string>& lines) {
  for (const auto& [name, policy] : before) {
    if (!after.contains(name)) lines.push_back(name + ": removed");
  }
  for (const auto& [name, policy] : after) {
    const auto found = before.find(name);
    if (found == before.end()) {
      lines.push_back(absl::StrCat(name, ": added, quota ", SettingsOf(*policy).at("quota")));
      continue;
    }
    const std::vector<std::string> changed =
        Differences(SettingsOf(*found->second), SettingsOf(*policy));
    if (!changed.empty()) {
      lines.push_back(absl::StrCat(name, ": ", absl::StrJoin(changed, ", ")));
    }
  }
}

}  // namespace

Settings SettingsOf(const Policy& policy) {
  Settings settings;
  settings["description"] = policy.description;
  settings["quota"] = policy.quota.has_value() ? absl::StrCat(*policy.quota) : "none";
  settings["mode"] = std::string(ToString(policy.mode));
  settings["scope"] = std::string(ToString(policy.scope));
  AddAlgorithm(policy.algorithm, settings);
  settings["initial"] = Text(policy.initial);
  settings["window.length"] = Text(policy.window.length);
  settings["window.min_samples"] = absl::StrCat(policy.window.samples_min);
  settings["window.latency"] =
      policy.window.latency == LatencySignal::kMean ? "mean" : "percentile";
  settings["window.latency_ceiling"] = Text(policy.window.latency_ceiling);
  settings["window.percentile"] = absl::StrCat(policy.window.percentile);
  settings["window.drop_tolerance"] = absl::StrCat(policy.window.drop_tolerance);
  settings["call_deadline"] = Text(policy.call_deadline);
  settings["outage.base"] = Text(policy.outage.base);
  settings["outage.base_lease"] = Text(policy.outage.base_lease);
  settings["outage.reserve"] = absl::StrCat(policy.outage.reserve);
  settings["join_reserve"] = Text(policy.join_reserve);
  settings["instances_expected"] = absl::StrCat(policy.instances_expected);
  for (const auto& [name, share] : policy.services) AddService(name.value, share, settings);
  return settings;
}

Settings FixedSettingsOf(const Config& config) {
  Settings settings;
  settings["listen.api"] = Text(config.server.api);
  settings["listen.agents"] = Text(config.server.agents);
  AddListener("api", config.server.api_limits, settings);
  AddListener("agents", config.server.agent_limits, settings);
  settings["api.hosts"] = absl::StrJoin(config.server.api_hosts, ",");
  settings["api.cors_origins"] = absl::StrJoin(config.server.cors_origins, ",");
  settings["api.watchers_max"] = absl::StrCat(config.server.watchers_max);
  settings["timeseries.step"] = Text(config.server.history_step);
  settings["timeseries.keep"] = Text(config.server.history_keep);
  settings["console.enabled"] = Text(config.console);
  settings["console.base_path"] = config.server.console.base_path;
  settings["agents.lease"] = Text(config.core.lease);
  settings["agents.hold_max"] = Text(config.core.hold_max);
  settings["agents.sync_min"] = Text(config.core.sync_min);
  settings["agents.clock_drift"] = absl::StrCat(config.core.clock_rate_error);
  settings["agents.tick"] = Text(config.core.tick);
  settings["agents.sessions_max"] = absl::StrCat(config.core.sessions_max);
  settings["agents.dependencies_max"] = absl::StrCat(config.core.dependencies_max);
  settings["state.mode"] = config.server.state_mode;
  settings["state.etcd.endpoints"] = absl::StrJoin(config.etcd.endpoints, ", ");
  settings["state.etcd.prefix"] = config.etcd.prefix;
  settings["state.etcd.lease"] = Text(config.etcd.lease);
  settings["state.etcd.shards"] = absl::StrCat(config.etcd.shards);
  settings["state.etcd.ca_file"] = config.etcd.ca_file;
  settings["state.etcd.cert_file"] = config.etcd.cert_file;
  settings["state.etcd.key_file"] = config.etcd.key_file;
  settings["state.etcd.user"] = config.etcd.user;
  settings["state.etcd.password_file"] = config.etcd.password_file;
  settings["advertise.agents"] = config.advertise.agents;
  settings["advertise.api"] = config.advertise.api;
  settings["state.dir"] = config.state_dir;
  settings["events.keep"] = absl::StrCat(config.core.events_keep);
  settings["log.level"] = std::string(ToString(config.log_level));
  settings["log.format"] = config.log_format == LogFormat::kJson ? "json" : "text";
  return settings;
}

Settings AccessSettingsOf(const Config& config) {
  const AccessConfig& access = config.access;
  Settings settings;
  settings["auth.tokens_file"] = access.tokens_file;
  settings["auth.allow_anonymous"] =
      absl::StrJoin(access.anonymous, ",",
                    [](std::string* out, Role role) { out->append(std::string(ToString(role))); });
  settings["auth.identities"] = absl::StrCat(access.certificates.size());
  for (const CertificateRule& rule : access.certificates) {
    settings[absl::StrCat("auth.identities.", rule.san)] =
        absl::StrCat(rule.name, " ", std::string(ToString(rule.role)));
  }
  for (const TokenRule& rule : config.server.access.tokens) {
    // Enough of the hash to tell two tokens of one name apart, and of no use to anybody.
    settings[absl::StrCat("auth.tokens.", rule.name, ".", ToHex(rule.sha256).substr(0, 6))] =
        std::string(ToString(rule.role));
  }
  settings["api.rate_limit.per_second"] = absl::StrCat(access.api_rate_limit.per_second);
  settings["api.rate_limit.burst"] = absl::StrCat(access.api_rate_limit.burst);
  settings["metrics.require_auth"] = Text(access.metrics_require_auth);
  settings["tls.cert_file"] = access.tls.cert_file;
  settings["tls.key_file"] = access.tls.key_file;
  settings["tls.client_ca_file"] = access.tls.client_ca_file;
  settings["tls.min_version"] = access.tls.only_tls13 ? "1.3" : "1.2";
  settings["tls.require_client_cert"] = Text(access.tls.require_client_cert);
  return settings;
}

ConfigChanges Compare(const Config& before, const Config& after) {
  ConfigChanges changes;
  AddChanges(ByName(before), ByName(after), changes.policies);
  changes.access = Differences(AccessSettingsOf(before), AccessSettingsOf(after));
  changes.needs_restart = Differences(FixedSettingsOf(before), FixedSettingsOf(after));
  return changes;
}

absl::Status CheckReload(const Config& running, const Config& after) {
  std::vector<std::string> faults;
  const auto check = [&](const std::string& name, const absl::Status& valid) {
    if (valid.ok()) return;
    faults.push_back(absl::StrCat(name, ": with the lease of ", Text(running.core.lease),
                                  " that holds until a restart: ", std::string(valid.message())));
  };
  for (const auto& [name, policy] : after.policies) {
    check(name.value, Validate(policy, running.core.lease));
  }
  for (const auto& one : after.templates) {
    check(absl::StrCat("template ", one.first), ValidateTemplate(one, running.core.lease));
  }
  // The listeners stay where they are, whatever `after` says.
  const std::pair<const ListenAddress&, Role> listeners[] = {{running.server.api, Role::kViewer},
                                                             {running.server.agents, Role::kAgent}};
  for (const auto& [address, role] : listeners) {
    std::string fault = ExposureFault(address, role, after.access);
    if (!fault.empty()) faults.push_back(std::move(fault));
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

}  // namespace plimsoll
