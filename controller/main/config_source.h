#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/config/faults.h"
#include "controller/main/config.h"
#include "controller/main/log.h"
#include "controller/main/running_access.h"
#include "controller/operations/policy_book.h"

namespace plimsoll {

// The configuration file while the controller runs: reads it anew, tells what it would change and
// what of it needs a restart, in the log too. Confined to the thread that makes changes.
class ConfigSource {
 public:
  // Reads the file; errors have one line per fault, and `faults` has them one by one.
  using Load = std::function<absl::StatusOr<Config>(Faults& faults)>;
  // The same for a text instead of the file.
  using Parse = std::function<absl::StatusOr<Config>(const std::string& text, Faults& faults)>;

  // `access` is told of what has been accepted; it and `logger` must outlive the source.
  ConfigSource(Config running, std::string name, Load load, Parse parse, RunningAccess& access,
               const Logger& logger)
      : running_(std::make_shared<Config>(std::move(running))),
        name_(std::move(name)),
        load_(std::move(load)),
        parse_(std::move(parse)),
        access_(access),
        logger_(logger) {}

  // The configuration as it was accepted last.
  const Config& accepted() const { return *running_; }
  bool has_file() const { return load_ != nullptr; }
  FileReading Reread() const;
  std::vector<ChangeFault> Check(const std::string& text) const;

 private:
  std::vector<ChangeFault> ToChangeFaults(const absl::Status& status, const Faults& faults) const;

  const std::shared_ptr<Config> running_;
  const std::string name_;
  const Load load_;
  const Parse parse_;
  RunningAccess& access_;
  const Logger& logger_;
};

}  // namespace plimsoll
