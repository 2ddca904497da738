#include "controller/main/running_access.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/main/config_loader.h"
#include "controller/main/reload.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kExpiresSoon = absl::Hours(24 * 14);

// Which version of a file is there; empty if none is.
std::string FileVersion(const std::string& path) {
  struct stat facts {};
  if (path.empty() || stat(path.c_str(), &facts) != 0) return "";
  return absl::StrCat(facts.st_ino, " ", facts.st_size, " ", facts.st_mtim.tv_sec, " ",
                      facts.st_mtim.tv_nsec);
}

}  // namespace

void LogCertificate(const TlsMaterial& tls, const Logger& logger, const Clock& clock) {
  if (tls.context == nullptr) return;
  const bool soon = tls.expires - clock.WallTime() < kExpiresSoon;
  logger.Log(
      soon ? LogLevel::kWarning : LogLevel::kInfo,
      soon ? "the certificate expires soon, or has: replace it and send SIGHUP" : "certificate",
      {{"expires", absl::FormatTime(absl::RFC3339_sec, tls.expires, absl::UTCTimeZone())}});
}

RunningAccess::RunningAccess(Config running, const Logger& logger)
    : logger_(logger),
      running_(std::move(running)),
      tokens_version_(FileVersion(running_.access.tokens_file)) {}

void RunningAccess::Attach(Server& server) {
  const MutexLock lock(mutex_);
  server_ = &server;
}

void RunningAccess::Take(const Config& fresh) {
  const MutexLock lock(mutex_);
  TakeLocked(fresh);
  const ConfigSettings facts = FactsAfterReload({running_.entries, {}}, fresh.entries);
  running_.entries = facts.entries;
  if (server_ != nullptr) server_->SetConfig(facts);
  LogCertificate(running_.server.tls, logger_, RealClock());
  tokens_version_ = FileVersion(running_.access.tokens_file);
}

void RunningAccess::LookAtTokens() {
  const MutexLock lock(mutex_);
  std::string now = FileVersion(running_.access.tokens_file);
  if (std::exchange(tokens_version_, now) == now) return;
  absl::StatusOr<std::vector<TokenRule>> tokens = LoadTokens(running_.access);
  if (!tokens.ok()) {
    logger_.Error(absl::StrCat("the tokens from before stay in force: ",
                               std::string(tokens.status().message())));
    return;
  }
  Config fresh = running_;
  fresh.server.access.tokens = *std::move(tokens);
  TakeLocked(fresh);
}

void RunningAccess::TakeLocked(const Config& fresh) {
  for (const std::string& line : Compare(running_, fresh).access) {
    logger_.Info("access changed", {{"what", line}});
  }
  running_.access = fresh.access;
  // The listeners stay where they are, whatever `fresh` says.
  running_.server.access = MakeAccessRules(fresh.access, running_.server.api,
                                           running_.server.agents, fresh.server.access.tokens);
  running_.server.tls = fresh.server.tls;
  if (server_ == nullptr) return;
  server_->SetAccess(running_.server.access, fresh.access.api_rate_limit);
  server_->SetTls(running_.server.tls);
}

}  // namespace plimsoll
