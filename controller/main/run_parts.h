#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "controller/main/config.h"
#include "controller/main/config_source.h"
#include "controller/main/log.h"
#include "controller/main/run.h"
#include "controller/main/running_access.h"
#include "controller/main/service_notifier.h"
#include "controller/operations/policy_book.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/server.h"

namespace plimsoll {

// What a controller alone and one of several have in common. What is referred to must outlive what
// is made of it.

PolicyBookOptions BookOptions(const Config& config, const RunOptions& options,
                              const ConfigSource& source, const Logger& logger);
// With what operators have set, which holds from the first grant.
std::unique_ptr<Core> MakeCore(const Config& config, const PolicyBook& book,
                               const StoreState& state, const Logger& logger, const Clock& clock);
ServerOptions ServerOptionsOf(const Config& config, Operations& operations, const Logger& logger);
// Binds; errors say what to do.
absl::Status StartServer(Server& server);
// Who cannot be told is no reason not to serve.
ServiceNotifier OpenNotifier(const std::string& address, const Logger& logger);
// From when it is bound until a signal ends it. `failed`, which may be empty, tells why it is of no
// use to go on.
absl::Status Serve(const Config& config, const RunOptions& options, Server& server,
                   RunningAccess& access, const std::function<absl::Status()>& failed,
                   const ServiceNotifier& service, const Logger& logger, const Clock& clock);

}  // namespace plimsoll
