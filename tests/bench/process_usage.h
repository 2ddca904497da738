#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace plimsoll {

// What a process has used, as /proc tells it.
struct Usage {
  double cpu_seconds = 0;
  std::int64_t resident_kib = 0;
  std::int64_t resident_max_kib = 0;
};

// All zero if there is no such process.
inline Usage UsageOf(pid_t pid) {
  Usage usage;
  std::ifstream stat(absl::StrCat("/proc/", pid, "/stat"));
  std::string line;
  if (!std::getline(stat, line)) return usage;
  // Fields 14 and 15, counted from behind the name, which may hold blanks.
  const std::vector<std::string> fields = absl::StrSplit(line.substr(line.rfind(')') + 2), ' ');
  std::int64_t user = 0;
  std::int64_t system = 0;
  if (fields.size() > 12 && absl::SimpleAtoi(fields[11], &user) &&
      absl::SimpleAtoi(fields[12], &system)) {
    usage.cpu_seconds =
        static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string name; status >> name;) {
    if (name == "VmRSS:") status >> usage.resident_kib;
    if (name == "VmHWM:") status >> usage.resident_max_kib;
  }
  return usage;
}

}  // namespace plimsoll
