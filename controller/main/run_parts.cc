#include "controller/main/run_parts.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/main/config_schema.h"
#include "controller/main/run_log.h"
#include "controller/main/signals.h"
#include "controller/main/watchdog.h"
#include "plimsoll/console/embedded_console.h"
#include "plimsoll/core/random.h"

namespace plimsoll {
namespace {

// How often the file of tokens is looked at.
constexpr absl::Duration kLookPeriod = absl::Seconds(1);

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

void WarnUnless(const absl::Status& told, const Logger& logger) {
  if (!told.ok()) logger.Warning(std::string(told.message()));
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

}  // namespace

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

ServiceNotifier OpenNotifier(const std::string& address, const Logger& logger) {
  absl::StatusOr<ServiceNotifier> notifier = ServiceNotifier::Open(address);
  WarnUnless(notifier.status(), logger);
  return notifier.ok() ? *std::move(notifier) : ServiceNotifier();
}

ServerOptions ServerOptionsOf(const Config& config, Operations& operations, const Logger& logger) {
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

absl::Status StartServer(Server& server) {
  const absl::Status started = server.Start();
  if (started.ok()) return started;
  return absl::UnavailableError(
      absl::StrCat(std::string(started.message()),
                   "; stop what listens there, or choose another address under listen"));
}

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

}  // namespace plimsoll
