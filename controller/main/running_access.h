#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "controller/main/config.h"
#include "controller/main/log.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/http/server.h"

namespace plimsoll {

// Who may do what while the controller runs: takes over what a reload says, and reads the file of
// tokens anew when it has changed. Thread-safe: reloads come on the API plane's thread, looks at
// the file on the one that waits for signals.
class RunningAccess {
 public:
  // `logger` must outlive it.
  RunningAccess(Config running, const Logger& logger);

  // Changes go to this server, which must outlive it. Before, they go nowhere.
  void Attach(Server& server);
  // The access of `fresh`, which CheckReload() must have found good, holds from now on.
  void Take(const Config& fresh);
  // Reads the tokens if their file is another one than before. What cannot be used changes nothing,
  // and is told in the log once.
  void LookAtTokens();

 private:
  void TakeLocked(const Config& fresh) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Logger& logger_;
  Mutex mutex_;
  Config running_ ABSL_GUARDED_BY(mutex_);
  std::string tokens_version_ ABSL_GUARDED_BY(mutex_);
  Server* server_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// Tells until when the certificate is good, loudly if that is soon.
void LogCertificate(const TlsMaterial& tls, const Logger& logger, const Clock& clock);

}  // namespace plimsoll
