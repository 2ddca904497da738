#include "controller/main/run.h"

#include <memory>

#include "controller/main/run_elected.h"
#include "controller/main/run_log.h"
#include "controller/main/run_parts.h"
#include "plimsoll/store/memory_store.h"
#include "plimsoll/store/sqlite_store.h"

namespace plimsoll {
namespace {

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
  Server server(ServerOptionsOf(config, book, logger), *core, **store, clock);
  access.Attach(server);
  if (absl::Status started = StartServer(server); !started.ok()) return started;
  LogStart(config, server, logger);
  LogState(*state, logger);
  absl::Status served = Serve(config, options, server, access, {}, service, logger, clock);
  server.Stop();
  return served;
}

}  // namespace plimsoll
