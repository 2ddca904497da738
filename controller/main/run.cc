#include "controller/main/run.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/main/config_schema.h"
#include "controller/main/config_source.h"
#include "controller/main/current_book.h"
#include "controller/main/reign_loop.h"
#include "controller/main/running_access.h"
#include "controller/main/service_notifier.h"
#include "controller/main/signals.h"
#include "controller/main/watchdog.h"
#include "controller/operations/policy_book.h"
#include "plimsoll/console/embedded_console.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/random.h"
#include "plimsoll/store/etcd_client.h"
#include "plimsoll/store/etcd_store.h"
#include "plimsoll/store/memory_store.h"
#include "plimsoll/store/sqlite_store.h"

namespace plimsoll {
namespace {

// How often the file of tokens is looked at.
constexpr absl::Duration kLookPeriod = absl::Seconds(1);

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
  static constexpr EventType kBad[] = {EventType::kStoreFailed,       EventType::kStoreLost,
                                       EventType::kDeposed,           EventType::kLearningEnded,
                                       EventType::kBreakerOpened,     EventType::kBreakerClosed,
                                       EventType::kConfigReloadFailed};
  const bool good = std::find(std::begin(kBad), std::end(kBad), event.type) == std::end(kBad);
  LogFields fields = {{"event", std::string(ToString(event.type))}, {"id", event.id}};
  if (!event.dependency.value.empty()) fields.emplace_back("dependency", event.dependency.value);
  logger.Log(good ? LogLevel::kInfo : LogLevel::kWarning, event.message, fields);
}

// Who changed what, beside the record in the store.
void LogAudit(const AuditRecord& record, const Logger& logger) {
  logger.Info("audit", {{"who", record.who},
                        {"what", record.what},
                        {"target", record.target},
                        {"before", record.before},
                        {"after", record.after},
                        {"request_id", record.request_id},
                        {"result", record.result}});
}

PolicyBookOptions BookOptions(const Config& config, const RunOptions& options,
                              const ConfigSource& source, const Logger& logger) {
  PolicyBookOptions book;
  book.file_policies = config.policies;
  book.file_templates = config.templates;
  book.observe_all = config.observe_all;
  book.hash = config.server.config_hash;
  book.defaults = DefaultPolicy(options.profile);
  book.lease = config.core.lease;
  if (source.has_file()) book.reread = [&source] { return source.Reread(); };
  book.check = [&source](const std::string& text) { return source.Check(text); };
  book.on_audit = [&logger](const AuditRecord& record) { LogAudit(record, logger); };
  return book;
}

void WarnUnless(const absl::Status& told, const Logger& logger) {
  if (!told.ok()) logger.Warning(std::string(told.message()));
}

// Who cannot be told is no reason not to serve.
ServiceNotifier OpenNotifier(const std::string& address, const Logger& logger) {
  absl::StatusOr<ServiceNotifier> notifier = ServiceNotifier::Open(address);
  WarnUnless(notifier.status(), logger);
  return notifier.ok() ? *std::move(notifier) : ServiceNotifier();
}

// What `systemctl status` shows while all is well.
std::string StatusLine(const Config& config, const Server& server) {
  return absl::StrCat("serving agents at ", Show(config.server.agents, server.agent_port()),
                      " and the API at ", Show(config.server.api, server.api_port()));
}

// `failed`, which may be empty, tells why it is of no use to go on.
absl::Status ServeUntilTold(const RunOptions& options, const std::string& status, Server& server,
                            RunningAccess& access, const std::function<absl::Status()>& failed,
                            const ServiceNotifier& service, const Logger& logger,
                            const Clock& clock) {
  Watchdog watchdog(options.watchdog, [&server](std::function<void()> answered) {
    server.AskThreads(std::move(answered));
  });
  WarnUnless(service.Ready(status), logger);
  for (;;) {
    if (watchdog.Look(clock.Now())) WarnUnless(service.Alive(), logger);
    const int signal = NextSignal(watchdog.Pause(clock.Now(), kLookPeriod));
    if (signal == SIGHUP) {
      if (!options.load) logger.Warning("there is no configuration file to reload");
      WarnUnless(service.Reloading(SystemMonotonicUs()), logger);
      server.Reload("SIGHUP",
                    [&service, &logger, status] { WarnUnless(service.Ready(status), logger); });
    } else if (signal != 0) {
      logger.Info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
      WarnUnless(service.Stopping(), logger);
      return absl::OkStatus();
    }
    access.LookAtTokens();
    if (!failed) continue;
    if (absl::Status failure = failed(); !failure.ok()) return failure;
  }
}

ServerOptions OptionsOf(const Config& config, Operations& operations, const Logger& logger) {
  ServerOptions options = config.server;
  if (config.console) {
    options.console = EmbeddedConsole();
    options.console.base_path = config.server.console.base_path;
  }
  options.config.entries = config.entries;
  options.config_schema = SchemaText();
  options.operations = &operations;
  options.on_notice = [&logger](const LogEvent& event) { LogNotice(event, logger); };
  return options;
}

absl::Status Start(Server& server) {
  const absl::Status started = server.Start();
  if (started.ok()) return started;
  return absl::UnavailableError(
      absl::StrCat(std::string(started.message()),
                   "; stop what listens there, or choose another address under listen"));
}

// From when it is bound until it has stopped.
absl::Status Serve(const Config& config, const RunOptions& options, Server& server,
                   RunningAccess& access, const std::function<absl::Status()>& failed,
                   const ServiceNotifier& service, const Logger& logger, const Clock& clock) {
  if (options.announce) Announce(config, server);
  WarnIfOpen(config, logger);
  LogCertificate(config.server.tls, logger, clock);
  const std::string& ports = options.port_path;
  absl::Status served = ports.empty() ? absl::OkStatus() : WritePortFile(ports, server);
  if (served.ok()) {
    served = ServeUntilTold(options, StatusLine(config, server), server, access, failed, service,
                            logger, clock);
  }
  LetSignalsKill();
  return served;
}

// With what operators have set, which holds from the first grant.
std::unique_ptr<Core> MakeCore(const Config& config, const PolicyBook& book,
                               const StoreState& state, const Logger& logger, const Clock& clock) {
  for (const std::string& notice : book.notices()) logger.Warning(notice);
  CoreOptions options = config.core;
  options.seed = Random::FromEntropy().Next();
  const PolicyEvent in_force = book.InForce();
  auto core =
      std::make_unique<Core>(options, in_force.policies, state, clock.Now(), in_force.templates);
  core->Apply(in_force, clock.Now());
  return core;
}

std::string UrlOf(const Config& config, const std::string& advertised, const ListenAddress& listen,
                  std::uint16_t port) {
  if (!advertised.empty()) return advertised;
  const bool tls = config.server.tls.context != nullptr;
  return absl::StrCat(tls ? "https://" : "http://", Show(listen, port));
}

EtcdStoreOptions StoreOptions(const Config& config, const RunOptions& options, const Server& server,
                              const Logger& logger) {
  EtcdStoreOptions store;
  store.prefix = config.etcd.prefix;
  store.lease = config.etcd.lease;
  store.word = options.word;
  // Of this process: a restart at the same address is somebody else.
  store.self.id = absl::StrFormat("%016x", Random::FromEntropy().Next());
  store.self.agents =
      UrlOf(config, config.advertise.agents, config.server.agents, server.agent_port());
  store.self.api = UrlOf(config, config.advertise.api, config.server.api, server.api_port());
  store.on_trouble = [&logger](const std::string& line) { logger.Warning(line); };
  return store;
}

std::function<std::unique_ptr<Etcd>()> EtcdFactory(const Config& config, const Clock& clock) {
  const EtcdSettings& etcd = config.etcd;
  const EtcdAccess access{etcd.endpoints, etcd.ca_file, etcd.cert_file,
                          etcd.key_file,  etcd.user,    config.etcd_password};
  return [access, call = EtcdCallTimeMax(etcd.lease), &clock] {
    return MakeEtcdClient(access, call, clock);
  };
}

// One of several controllers: it serves at once, and leads when it is elected.
absl::Status RunElected(const Config& config, const RunOptions& options,
                        const ServiceNotifier& service, const Logger& logger, const Clock& clock) {
  RunningAccess access(config, logger);
  const ConfigSource source(config, options.config_name, options.load, options.parse, access,
                            logger);
  const auto make_book = [&](const std::vector<Document>& documents) {
    PolicyBookOptions book = BookOptions(config, options, source, logger);
    const Config& accepted = source.accepted();
    book.file_policies = accepted.policies;
    book.file_templates = accepted.templates;
    book.observe_all = accepted.observe_all;
    return std::make_unique<PolicyBook>(std::move(book), documents, clock.WallTime());
  };
  CurrentBook book(make_book({}));
  // The server is there before the leadership, which must know its ports, and asks it from then on.
  std::unique_ptr<Leadership> leadership;
  std::optional<ReignLoop> loop;
  std::atomic<bool> ready = false;
  ServerOptions server_options = OptionsOf(config, book, logger);
  server_options.leader = [&] { return ready ? leadership->leader() : std::nullopt; };
  server_options.on_deposed = [&](const std::string& why, std::optional<Epoch> seen) {
    loop->Deposed(why, seen);
  };
  Server server(server_options, clock);
  access.Attach(server);
  if (absl::Status started = Start(server); !started.ok()) return started;
  leadership = MakeEtcdLeadership(StoreOptions(config, options, server, logger),
                                  EtcdFactory(config, clock), clock, Random::FromEntropy());
  ready = true;
  LogStart(config, server, logger);
  const ReignLoop::Parts parts = {.begin =
                                      [&](const StoreState& state) {
                                        book.Replace(make_book(state.documents));
                                        return MakeCore(config, book.book(), state, logger, clock);
                                      },
                                  .end = [&] { book.Replace(make_book({})); }};
  loop.emplace(*leadership, server, parts, logger, clock);
  loop->Start();
  const absl::Status served = Serve(
      config, options, server, access, [&] { return loop->failure(); }, service, logger, clock);
  loop->Stop();
  server.Stop();
  loop->Resign();
  return served;
}

}  // namespace

absl::Status RunController(const Config& config, const RunOptions& options, const Logger& logger,
                           const Clock& clock) {
  WarnOfFewFiles(config, logger);
  const ServiceNotifier service = OpenNotifier(options.notify_socket, logger);
  if (config.state_mode == StateMode::kEtcd) {
    return RunElected(config, options, service, logger, clock);
  }
  absl::StatusOr<std::unique_ptr<Store>> store = OpenStore(config, options.word, clock);
  if (!store.ok()) return store.status();
  const absl::StatusOr<StoreState> state = (*store)->TakeOver();
  if (!state.ok()) return state.status();

  // What the previous reign has granted is held from now on, so not from an instant before.
  clock.Refresh();
  RunningAccess access(config, logger);
  const ConfigSource source(config, options.config_name, options.load, options.parse, access,
                            logger);
  PolicyBook book(BookOptions(config, options, source, logger), state->documents, clock.WallTime());
  const std::unique_ptr<Core> core = MakeCore(config, book, *state, logger, clock);
  Server server(OptionsOf(config, book, logger), *core, **store, clock);
  access.Attach(server);
  if (absl::Status started = Start(server); !started.ok()) return started;
  LogStart(config, server, logger);
  LogState(*state, logger);
  absl::Status served = Serve(config, options, server, access, {}, service, logger, clock);
  server.Stop();
  return served;
}

}  // namespace plimsoll
