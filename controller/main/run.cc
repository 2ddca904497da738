#include "controller/main/run.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "controller/main/config_loader.h"
#include "controller/main/reload.h"
#include "controller/main/signals.h"
#include "plimsoll/console/embedded_console.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/random.h"
#include "plimsoll/store/memory_store.h"
#include "plimsoll/store/sqlite_store.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kExpiresSoon = absl::Hours(24 * 14);
// How often the file of tokens is looked at.
constexpr int kLookSeconds = 1;

std::string Show(const ListenAddress& address, std::uint16_t port) {
  const bool v6 = address.address.find(':') != std::string::npos;
  return v6 ? absl::StrCat("[", address.address, "]:", port)
            : absl::StrCat(address.address, ":", port);
}

// Each agent is a connection. Returns how many files may be open.
std::uint64_t RaiseOpenFilesLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const Config& config, OperatorWord word,
                                                 const Clock& clock) {
  const std::int64_t first_epoch = absl::ToUnixMillis(clock.WallTime());
  if (config.state_mode != StateMode::kMemory) {
    return OpenSqliteStore(config.state_dir, first_epoch, word);
  }
  if (word == OperatorWord::kNone) return MakeMemoryStore(first_epoch);
  return absl::FailedPreconditionError(
      "state.mode is memory: there is no state that --state-lost or --trust-state could be about");
}

// Under a name of its own first, so that whoever waits for the file never reads half of it.
absl::Status WritePortFile(const std::string& path, const Server& server) {
  const std::string temporary = absl::StrCat(path, ".", ::getpid());
  std::ofstream file(temporary);
  file << absl::StrFormat("{\"agents\":%d,\"api\":%d,\"pid\":%d}\n", server.agent_port(),
                          server.api_port(), ::getpid());
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write the port file '", path,
                                             "': ", std::generic_category().message(errno)));
}

void LogDependencies(const PolicySet& policies, const Logger& logger) {
  for (const auto& [name, policy] : policies) {
    const AlgorithmConfig& algorithm = policy.algorithm;
    logger.Info("dependency", {{"name", name.value},
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
  if (policies.empty()) {
    logger.Warning("no dependency is configured: agents are served, but get no grants");
  }
}

void LogStart(const Config& config, const StoreState& state, const Server& server,
              const Logger& logger) {
  logger.Info("listening",
              {{"api", Show(config.server.api, server.api_port())},
               {"agents", Show(config.server.agents, server.agent_port())},
               {"version", config.server.version},
               {"config_hash", config.server.config_hash},
               {"state", config.state_mode == StateMode::kMemory ? "memory" : config.state_dir},
               {"epoch", absl::StrCat(state.epoch.value)},
               {"store", std::string(ToString(state.condition))},
               {"inherited_bounds", absl::StrCat(state.bounds.size())},
               {"lease", absl::FormatDuration(config.core.lease)},
               {"hold_max", absl::FormatDuration(config.core.hold_max)},
               {"sync_min", absl::FormatDuration(config.core.sync_min)},
               {"tick", absl::FormatDuration(config.core.tick)},
               {"clock_drift", absl::StrCat(config.core.clock_rate_error)},
               {"sessions_max", absl::StrCat(config.core.sessions_max)},
               {"dependencies", absl::StrCat(config.policies.size())}});
  LogDependencies(config.policies, logger);
  if (config.state_mode == StateMode::kMemory) {
    logger.Warning("state is in memory: a restart forgets who holds what and may break quotas");
  }
}

// Beside the log, for people who try it.
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

void LogCertificate(const TlsMaterial& tls, const Logger& logger, const Clock& clock) {
  if (tls.context == nullptr) return;
  const bool soon = tls.expires - clock.WallTime() < kExpiresSoon;
  logger.Log(
      soon ? LogLevel::kWarning : LogLevel::kInfo,
      soon ? "the certificate expires soon, or has: replace it and send SIGHUP" : "certificate",
      {{"expires", absl::FormatTime(absl::RFC3339_sec, tls.expires, absl::UTCTimeZone())}});
}

void WarnOfFewFiles(const Config& config, const Logger& logger) {
  const std::uint64_t files = RaiseOpenFilesLimit();
  const auto wanted = static_cast<std::uint64_t>(config.server.agent_limits.connections_max) +
                      static_cast<std::uint64_t>(config.server.api_limits.connections_max) + 64;
  if (files >= wanted) return;
  logger.Warning("fewer files may be open than connections are allowed: raise LimitNOFILE",
                 {{"files", absl::StrCat(files)}, {"wanted", absl::StrCat(wanted)}});
}

// Events that operators must not miss; good news are no warnings.
void LogNotice(const LogEvent& event, const Logger& logger) {
  const bool good =
      event.type == EventType::kStoreRecovered || event.type == EventType::kPoliciesChanged;
  LogFields fields = {{"event", std::string(ToString(event.type))}, {"id", event.id}};
  if (!event.dependency.value.empty()) fields.emplace_back("dependency", event.dependency.value);
  logger.Log(good ? LogLevel::kInfo : LogLevel::kWarning, event.message, fields);
}

void RefuseReload(const absl::Status& status, Server& server, const Logger& logger) {
  server.NoteReloadFailed();
  const std::vector<std::string> lines = absl::StrSplit(std::string(status.message()), '\n');
  for (const std::string& line : lines) {
    logger.Error(absl::StrCat("configuration: ", line));
  }
  logger.Error("the configuration was not reloaded: the one from before stays in force");
}

// The rules of `fresh`, for the listeners there are.
void TakeAccess(const Config& fresh, Server& server, Config& running) {
  running.access = fresh.access;
  running.server.access = MakeAccessRules(fresh.access, running.server.api, running.server.agents,
                                          fresh.server.access.tokens);
  running.server.tls = fresh.server.tls;
  server.SetAccess(running.server.access, fresh.access.api_rate_limit);
  server.SetTls(running.server.tls);
}

// Which version of a file is there; empty if none is.
std::string FileVersion(const std::string& path) {
  struct stat facts {};
  if (path.empty() || stat(path.c_str(), &facts) != 0) return "";
  return absl::StrCat(facts.st_ino, " ", facts.st_size, " ", facts.st_mtim.tv_sec, " ",
                      facts.st_mtim.tv_nsec);
}

// What cannot be used changes nothing.
void ReloadTokens(Server& server, Config& running, const Logger& logger) {
  absl::StatusOr<std::vector<TokenRule>> tokens = LoadTokens(running.access);
  if (!tokens.ok()) return LogFaults(tokens.status(), logger);
  Config fresh = running;
  fresh.server.access.tokens = *std::move(tokens);
  for (const std::string& line : Compare(running, fresh).access) {
    logger.Info("access changed", {{"what", line}});
  }
  TakeAccess(fresh, server, running);
}

// SIGHUP: what cannot be used changes nothing.
void Reload(const RunOptions& options, Server& server, Config& running, const Logger& logger) {
  if (!options.reload) {
    logger.Warning("there is no configuration file to reload");
    return;
  }
  absl::StatusOr<Config> fresh = options.reload();
  if (!fresh.ok()) return RefuseReload(fresh.status(), server, logger);
  if (const absl::Status fits = CheckReload(running, *fresh); !fits.ok()) {
    return RefuseReload(fits, server, logger);
  }
  const ConfigChanges changes = Compare(running, *fresh);
  for (const std::string& line : changes.policies) logger.Info("policy changed", {{"what", line}});
  for (const std::string& line : changes.access) logger.Info("access changed", {{"what", line}});
  for (const std::string& line : changes.needs_restart) {
    logger.Warning("not changed: it needs a restart", {{"what", line}});
  }
  logger.Info("configuration reloaded",
              {{"config_hash", fresh->server.config_hash},
               {"changed", absl::StrCat(changes.policies.size() + changes.access.size())},
               {"needs_restart", absl::StrCat(changes.needs_restart.size())}});
  TakeAccess(*fresh, server, running);
  LogCertificate(running.server.tls, logger, RealClock());
  const ConfigFacts facts = FactsAfterReload({running.entries, {}}, fresh->entries);
  server.SetConfig(facts);
  running.entries = facts.entries;
  running.policies = fresh->policies;
  server.SetPolicies(std::move(fresh->policies), fresh->server.config_hash);
}

void ServeUntilTold(const RunOptions& options, Server& server, Config running,
                    const Logger& logger) {
  std::string tokens = FileVersion(running.access.tokens_file);
  for (;;) {
    const int signal = NextSignal(kLookSeconds);
    if (signal != 0 && signal != SIGHUP) {
      logger.Info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
      return;
    }
    if (signal == SIGHUP) Reload(options, server, running, logger);
    std::string now = FileVersion(running.access.tokens_file);
    if (std::exchange(tokens, now) != now && signal == 0) ReloadTokens(server, running, logger);
  }
}

}  // namespace

absl::Status RunController(const Config& config, const RunOptions& options, const Logger& logger,
                           const Clock& clock) {
  WarnOfFewFiles(config, logger);
  absl::StatusOr<std::unique_ptr<Store>> store = OpenStore(config, options.word, clock);
  if (!store.ok()) return store.status();
  const absl::StatusOr<StoreState> state = (*store)->TakeOver();
  if (!state.ok()) return state.status();

  // What the previous reign has granted is held from now on, so not from an instant before.
  clock.Refresh();
  CoreOptions core_options = config.core;
  core_options.seed = Random::FromEntropy().Next();
  Core core(core_options, config.policies, *state, clock.Now());
  ServerOptions server_options = config.server;
  if (config.console) {
    server_options.console = EmbeddedConsole();
    server_options.console.base_path = config.server.console.base_path;
  }
  server_options.config.entries = config.entries;
  server_options.on_notice = [&logger](const LogEvent& event) { LogNotice(event, logger); };
  Server server(server_options, core, **store, clock);
  if (const absl::Status started = server.Start(); !started.ok()) {
    return absl::UnavailableError(
        absl::StrCat(std::string(started.message()),
                     "; stop what listens there, or choose another address under listen"));
  }
  LogStart(config, *state, server, logger);
  if (options.announce) Announce(config, server);
  WarnIfOpen(config, logger);
  LogCertificate(config.server.tls, logger, clock);
  const std::string& ports = options.port_path;
  absl::Status written = ports.empty() ? absl::OkStatus() : WritePortFile(ports, server);
  if (written.ok()) ServeUntilTold(options, server, config, logger);
  LetSignalsKill();
  server.Stop();
  return written;
}

}  // namespace plimsoll
