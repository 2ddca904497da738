#include "api/http/src/process_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace plimsoll::internal {
namespace {

// Fields of /proc/self/stat from the third on: the second, the name, may contain spaces.
std::vector<std::string> StatFields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

double Number(const std::vector<std::string>& fields, std::size_t index) {
  return index < fields.size() ? std::strtod(fields[index].c_str(), nullptr) : 0;
}

double BootTimeSeconds() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

double CountOpenFds() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

ProcessFacts ReadProcessFacts() {
  // proc(5), counted from the third field: utime is the 12th, stime follows, then starttime, rss.
  constexpr std::size_t kUtime = 11;
  constexpr std::size_t kStartTime = 19;
  constexpr std::size_t kRss = 21;
  const std::vector<std::string> stat = StatFields();
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessFacts facts;
  facts.cpu_seconds = (Number(stat, kUtime) + Number(stat, kUtime + 1)) / ticks;
  facts.resident_bytes = Number(stat, kRss) * static_cast<double>(sysconf(_SC_PAGESIZE));
  facts.start_time_seconds = BootTimeSeconds() + Number(stat, kStartTime) / ticks;
  facts.open_fds = CountOpenFds();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.max_fds = static_cast<double>(limit.rlim_cur);
  return facts;
}

}  // namespace plimsoll::internal
