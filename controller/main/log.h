#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/core/clock.h"

namespace plimsoll {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

// "debug", "info", "warning", "error"; of static storage.
std::string_view ToString(LogLevel level);

// Named values beside a message. Names are snake_case, with units; values are free text.
using LogFields = std::vector<std::pair<std::string, std::string>>;

// One entry, one line, whatever is in it. Pure.
std::string FormatLogLine(LogFormat format, absl::Time time, LogLevel level,
                          const std::string& message, const LogFields& fields);

// Writes entries of at least `level`, each with one call, so that lines of several threads do not
// mix. Thread-safe.
class Logger {
 public:
  // `file` and `clock` must outlive the logger.
  Logger(LogLevel level, LogFormat format, std::FILE* file, const Clock& clock)
      : level_(level), format_(format), file_(file), clock_(clock) {}

  void Log(LogLevel level, const std::string& message, const LogFields& fields = {}) const;
  void Info(const std::string& message, const LogFields& fields = {}) const {
    Log(LogLevel::kInfo, message, fields);
  }
  void Warning(const std::string& message, const LogFields& fields = {}) const {
    Log(LogLevel::kWarning, message, fields);
  }
  void Error(const std::string& message, const LogFields& fields = {}) const {
    Log(LogLevel::kError, message, fields);
  }

 private:
  const LogLevel level_;
  const LogFormat format_;
  std::FILE* const file_;
  const Clock& clock_;
};

}  // namespace plimsoll
