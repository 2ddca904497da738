#pragma once

#include <cstdint>
#include <string>

#include "controller/main/config.h"
#include "controller/main/log.h"
#include "controller/operations/audit.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/http/server.h"

namespace plimsoll {

// What the program says of itself, in its log and on standard output.

// "[::1]:7480"
std::string Show(const ListenAddress& address, std::uint16_t port);
void LogStart(const Config& config, const Server& server, const Logger& logger);
void LogState(const StoreState& state, const Logger& logger);
// Beside the log, for people who try it.
void Announce(const Config& config, const Server& server);
void WarnIfOpen(const Config& config, const Logger& logger);
// Each agent is a connection: raises how many files may be open, and says so if that is too few.
void WarnOfFewFiles(const Config& config, const Logger& logger);
// Events that operators must not miss; good news are no warnings.
void LogNotice(const LogEvent& event, const Logger& logger);
// Who changed what, beside the record in the store.
void LogAudit(const AuditRecord& record, const Logger& logger);

}  // namespace plimsoll
