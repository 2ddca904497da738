#include "agent/examples/demo/options.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace plimsoll::demo {
namespace {

bool SetSwitch(DemoOptions& options, const std::string& name) {
  if (name == "--help") return options.help = true;
  if (name == "--plain") return options.plain = true;
  if (name == "--json") return options.json = true;
  if (name == "--verbose") return options.replica.verbose = true;
  if (name == "--observed") return options.replica.observed = true;
  return false;
}

bool SetLane(DemoOptions& options, const std::string& lane) {
  options.unlimited_lane = lane != "plimsoll";
  options.plimsoll_lane = lane != "unlimited";
  return lane == "both" || lane == "plimsoll" || lane == "unlimited";
}

bool SetReplicaValue(ReplicaOptions& replica, const std::string& name, const std::string& value) {
  if (name == "--name") {
    replica.name = value;
    return true;
  }
  if (name == "--provider-host") {
    replica.provider_host = value;
    return true;
  }
  if (name == "--controller-host") {
    replica.controller_host = value;
    return true;
  }
  if (name == "--controllers") {
    replica.controllers = absl::StrSplit(value, ',');
    return true;
  }
  if (name == "--provider-port") return absl::SimpleAtoi(value, &replica.provider_port);
  if (name == "--controller-port") return absl::SimpleAtoi(value, &replica.controller_port);
  return name == "--rate" && absl::SimpleAtod(value, &replica.calls_per_second) &&
         replica.calls_per_second > 0;
}

bool SetValue(DemoOptions& options, const std::string& name, const std::string& value) {
  if (name == "--seconds") return absl::SimpleAtod(value, &options.seconds);
  if (name == "--lane") return SetLane(options, value);
  if (name == "--seed") {
    const bool parsed = absl::SimpleAtoi(value, &options.seed);
    options.replica.seed = options.seed;
    return parsed;
  }
  if (name == "--controller") {
    options.controller = value;
    return true;
  }
  if (name == "--cli") {
    options.cli = value;
    return true;
  }
  if (name == "--keep") {
    return absl::SimpleAtod(value, &options.keep_seconds) && options.keep_seconds >= 0;
  }
  if (name == "--role") return options.is_replica = value == "replica";
  return SetReplicaValue(options.replica, name, value);
}

absl::Status Check(const DemoOptions& options) {
  if (options.is_replica || options.help) return absl::OkStatus();
  const double least = options.unlimited_lane && options.plimsoll_lane ? 12 : 8;
  if (options.seconds >= least && options.seconds <= 3600) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--seconds must lie between ", least, " and 3600"));
}

}  // namespace

absl::StatusOr<DemoOptions> ParseOptions(const std::vector<std::string>& arguments) {
  DemoOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (SetSwitch(options, arguments[i])) continue;
    if (i + 1 == arguments.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(arguments[i], " is unknown, or lacks its value"));
    }
    if (!SetValue(options, arguments[i], arguments[i + 1])) {
      return absl::InvalidArgumentError(
          absl::StrCat(arguments[i], " ", arguments[i + 1], " is not understood"));
    }
    ++i;
  }
  const absl::Status status = Check(options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace plimsoll::demo
