#include "controller/main/config_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "controller/main/reload.h"

namespace plimsoll {
namespace {

void LogFaults(const absl::Status& status, const Logger& logger) {
  const std::vector<std::string> lines = absl::StrSplit(std::string(status.message()), '\n');
  for (const std::string& line : lines) {
    logger.Error(absl::StrCat("configuration: ", line));
  }
  logger.Error("the configuration was not reloaded: the one from before stays in force");
}

// Whoever wonders why nobody is refused finds this.
constexpr char kObserveAllOn[] =
    "observe_all is on: what is to be enforced is only observed, and no quota is kept";

void LogChanges(const ConfigChanges& changes, const std::string& hash, const Logger& logger) {
  for (const std::string& line : changes.policies) logger.Info("policy changed", {{"what", line}});
  for (const std::string& line : changes.needs_restart) {
    logger.Warning("not changed: it needs a restart", {{"what", line}});
  }
  logger.Info("configuration reloaded",
              {{"config_hash", hash},
               {"changed", absl::StrCat(changes.policies.size())},
               {"needs_restart", absl::StrCat(changes.needs_restart.size())}});
}

}  // namespace

FileReading ConfigSource::Reread() const {
  FileReading reading;
  Faults faults;
  absl::StatusOr<Config> fresh = load_(faults);
  absl::Status usable = fresh.status();
  if (usable.ok()) usable = CheckReload(*running_, *fresh);
  if (!usable.ok()) {
    LogFaults(usable, logger_);
    reading.faults = ToChangeFaults(usable, faults);
    return reading;
  }
  const ConfigChanges changes = Compare(*running_, *fresh);
  reading.hash = fresh->server.config_hash;
  reading.pending_restart = changes.needs_restart;
  reading.summary = changes.policies.empty()
                        ? "No policy has changed."
                        : absl::StrCat(absl::StrJoin(changes.policies, "; "), ".");
  if (fresh->observe_all != running_->observe_all) {
    absl::StrAppend(&reading.summary, " observe_all is ", fresh->observe_all ? "on" : "off",
                    " from now on.");
  }
  reading.observe_all = fresh->observe_all;
  reading.policies = fresh->policies;
  reading.templates = fresh->templates;
  reading.accept = [running = running_, fresh = *std::move(fresh), changes, hash = reading.hash,
                    &access = access_, &logger = logger_] {
    running->policies = fresh.policies;
    running->templates = fresh.templates;
    running->observe_all = fresh.observe_all;
    if (fresh.observe_all) logger.Warning(kObserveAllOn);
    access.Take(fresh);
    LogChanges(changes, hash, logger);
  };
  return reading;
}

std::vector<ChangeFault> ConfigSource::Check(const std::string& text) const {
  Faults faults;
  const absl::StatusOr<Config> fresh = parse_(text, faults);
  absl::Status usable = fresh.status();
  if (usable.ok()) usable = CheckReload(*running_, *fresh);
  if (usable.ok()) return {};
  return ToChangeFaults(usable, faults);
}

// Not every fault has a place in the file: it may not be there at all.
std::vector<ChangeFault> ConfigSource::ToChangeFaults(const absl::Status& status,
                                                      const Faults& faults) const {
  std::vector<ChangeFault> told;
  for (const Fault& fault : faults.Sorted()) {
    const Faults::Place place = faults.PlaceOf(fault, name_);
    told.push_back({place.pointer, std::string(ToString(fault.code)), fault.message, place.name,
                    place.has_lines ? fault.mark.line : 0,
                    place.has_lines ? fault.mark.column : 0});
  }
  if (told.empty()) told.push_back({"", "CONFLICT", std::string(status.message()), name_});
  return told;
}

}  // namespace plimsoll
