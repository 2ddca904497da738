#include "controller/main/run_log.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

std::uint64_t RaiseOpenFilesLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

const char* Show(const Config& config) {
  if (config.state_mode == StateMode::kEtcd) return "etcd";
  return config.state_mode == StateMode::kMemory ? "memory" : config.state_dir.c_str();
}

void LogDependencies(const Config& config, const Logger& logger) {
  PolicySet policies = config.policies;
  // No name has a wildcard.
  for (const auto& [pattern, policy] : config.templates) policies[DependencyId(pattern)] = policy;
  for (const auto& [name, policy] : policies) {
    const AlgorithmConfig& algorithm = policy.algorithm;
    const bool is_template = IsPattern(name.value);
    logger.Info(is_template ? "template" : "dependency",
                {{is_template ? "match" : "name", name.value},
                 {"quota", policy.quota ? absl::StrCat(*policy.quota) : "none"},
                 {"scope", policy.scope == Scope::kFleet ? "fleet" : "instance"},
                 {"algorithm", std::string(ToString(algorithm.kind))},
                 {"floor", absl::StrCat(algorithm.floor)},
                 {"ceiling", absl::StrCat(algorithm.ceiling)},
                 {"call_deadline", absl::FormatDuration(policy.call_deadline)},
                 {"base", absl::StrCat(policy.base())},
                 {"base_lease", absl::FormatDuration(policy.outage.base_lease)},
                 {"reserve", absl::StrCat(policy.outage.reserve)}});
  }
  if (config.observe_all) {
    logger.Warning("observe_all is on: what is to be enforced is only observed");
  }
  if (policies.empty()) {
    logger.Warning("no dependency is configured: agents are served, but get no grants");
  }
}

}  // namespace

std::string Show(const ListenAddress& address, std::uint16_t port) {
  const bool v6 = address.address.find(':') != std::string::npos;
  return v6 ? absl::StrCat("[", address.address, "]:", port)
            : absl::StrCat(address.address, ":", port);
}

void LogState(const StoreState& state, const Logger& logger) {
  logger.Info("this controller leads", {{"epoch", absl::StrCat(state.epoch.value)},
                                        {"store", std::string(ToString(state.condition))},
                                        {"inherited_bounds", absl::StrCat(state.bounds.size())}});
}

void LogStart(const Config& config, const Server& server, const Logger& logger) {
  logger.Info("listening", {{"api", Show(config.server.api, server.api_port())},
                            {"agents", Show(config.server.agents, server.agent_port())},
                            {"version", config.server.version},
                            {"config_hash", config.server.config_hash},
                            {"state", Show(config)},
                            {"lease", absl::FormatDuration(config.core.lease)},
                            {"hold_max", absl::FormatDuration(config.core.hold_max)},
                            {"sync_min", absl::FormatDuration(config.core.sync_min)},
                            {"tick", absl::FormatDuration(config.core.tick)},
                            {"clock_drift", absl::StrCat(config.core.clock_rate_error)},
                            {"sessions_max", absl::StrCat(config.core.sessions_max)},
                            {"dependencies", absl::StrCat(config.policies.size())}});
  LogDependencies(config, logger);
  if (config.state_mode == StateMode::kMemory) {
    logger.Warning("state is in memory: a restart forgets who holds what and may break quotas");
  }
}

void Announce(const Config& config, const Server& server) {
  const std::string text =
      absl::StrCat("REST   http://", Show(config.server.api, server.api_port()), "/v1/status\n",
                   "agents http://", Show(config.server.agents, server.agent_port()), "\n");
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void WarnIfOpen(const Config& config, const Logger& logger) {
  const AccessRules& rules = config.server.access;
  const std::pair<const char*, Role> planes[] = {{"api", rules.api_anonymous},
                                                 {"agents", rules.agents_anonymous}};
  for (const auto& [plane, role] : planes) {
    if (role == Role::kNone) continue;
    logger.Warning("nobody has to prove who they are: set auth.tokens_file to change that",
                   {{"listen", plane}, {"role", std::string(ToString(role))}});
  }
}

void WarnOfFewFiles(const Config& config, const Logger& logger) {
  const std::uint64_t files = RaiseOpenFilesLimit();
  const auto wanted = static_cast<std::uint64_t>(config.server.agent_limits.connections_max) +
                      static_cast<std::uint64_t>(config.server.api_limits.connections_max) + 64;
  if (files >= wanted) return;
  logger.Warning("fewer files may be open than connections are allowed: raise LimitNOFILE",
                 {{"files", absl::StrCat(files)}, {"wanted", absl::StrCat(wanted)}});
}

void LogNotice(const LogEvent& event, const Logger& logger) {
  static constexpr EventType kBad[] = {EventType::kStoreFailed,       EventType::kStoreLost,
                                       EventType::kDeposed,           EventType::kLearningEnded,
                                       EventType::kBreakerOpened,     EventType::kBreakerClosed,
                                       EventType::kConfigReloadFailed};
  const bool good = std::find(std::begin(kBad), std::end(kBad), event.type) == std::end(kBad);
  LogFields fields = {{"event", std::string(ToString(event.type))}, {"id", event.id}};
  if (!event.dependency.value.empty()) fields.emplace_back("dependency", event.dependency.value);
  logger.Log(good ? LogLevel::kInfo : LogLevel::kWarning, event.message, fields);
}

void LogAudit(const AuditRecord& record, const Logger& logger) {
  logger.Info("audit", {{"who", record.who},
                        {"what", record.what},
                        {"target", record.target},
                        {"before", record.before},
                        {"after", record.after},
                        {"request_id", record.request_id},
                        {"result", record.result}});
}

}  // namespace plimsoll
