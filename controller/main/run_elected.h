#pragma once

#include "absl/status/status.h"
#include "controller/main/config.h"
#include "controller/main/log.h"
#include "controller/main/run.h"
#include "controller/main/service_notifier.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {

// One of several controllers that share an etcd: it serves at once, and leads the shards for which
// it is elected; without shards, all or nothing. As RunController().
absl::Status RunElected(const Config& config, const RunOptions& options,
                        const ServiceNotifier& service, const Logger& logger, const Clock& clock);

}  // namespace plimsoll
