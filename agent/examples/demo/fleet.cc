#include "agent/examples/demo/fleet.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demo {
namespace {

constexpr absl::Duration kStopTimeout = absl::Seconds(4);

}  // namespace

absl::Status Fleet::Start(const std::string& name, double calls_per_second) {
  Replica replica;
  replica.name = name;
  replica.calls_per_second = calls_per_second;
  replicas_.push_back(std::move(replica));
  return Restart(replicas_.size() - 1);
}

absl::Status Fleet::Restart(std::size_t index) {
  Replica& replica = replicas_[index];
  const std::uint64_t seed =
      options_.seed * 1000 + index * 10 + static_cast<unsigned>(replica.starts);
  std::vector<std::string> command = {options_.program,
                                      "--role",
                                      "replica",
                                      "--name",
                                      replica.name,
                                      "--provider-host",
                                      options_.provider_host,
                                      "--provider-port",
                                      absl::StrCat(options_.provider_port),
                                      "--controller-host",
                                      options_.controller_host,
                                      "--controller-port",
                                      absl::StrCat(options_.controller_port),
                                      "--rate",
                                      absl::StrCat(replica.calls_per_second),
                                      "--seed",
                                      absl::StrCat(seed)};
  if (!options_.controllers.empty()) {
    command.insert(command.end(), {"--controllers", absl::StrJoin(options_.controllers, ",")});
  }
  if (options_.observed) command.emplace_back("--observed");
  std::string log;
  if (!options_.log_folder.empty()) {
    log = absl::StrCat(options_.log_folder, "/", replica.name, ".log");
    command.emplace_back("--verbose");
  }
  absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(command, log);
  if (!process.ok()) return process.status();
  replica.process = *std::move(process);
  ++replica.starts;
  replica.has_spoken = false;
  replica.has_succeeded = false;
  return absl::OkStatus();
}

void Fleet::Kill(std::size_t index) {
  Replica& replica = replicas_[index];
  if (replica.process == nullptr) return;
  replica.process->Kill();
  Take(replica);
  replica.process.reset();
  SetLimit(replica, 0);
}

void Fleet::Terminate(std::size_t index) {
  Replica& replica = replicas_[index];
  if (replica.process != nullptr) replica.process->Signal(SIGTERM);
}

void Fleet::StopAll() {
  for (std::size_t i = 0; i < replicas_.size(); ++i) Terminate(i);
  const Instant give_up = RealClock().Now() + kStopTimeout;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    if (replicas_[i].process != nullptr) {
      replicas_[i].process->WaitFor(give_up - RealClock().Now());
    }
    Kill(i);
  }
}

absl::Status Fleet::Read(absl::Duration wait) {
  const Instant end = RealClock().Now() + wait;
  std::vector<pollfd> outputs;
  for (const Replica& replica : replicas_) {
    const int output = replica.process == nullptr ? -1 : replica.process->output();
    outputs.push_back({output, POLLIN, 0});
  }
  for (absl::Duration left = wait; left > absl::ZeroDuration(); left = end - RealClock().Now()) {
    const auto milliseconds = static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
    if (poll(outputs.data(), outputs.size(), milliseconds) <= 0) break;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (outputs[i].revents == 0) continue;
      Take(replicas_[i]);
      if ((outputs[i].revents & POLLHUP) == 0) continue;
      outputs[i].fd = -1;
      absl::Status status = CheckEnded(replicas_[i]);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// Its output is closed: it is about to end, or has ended.
absl::Status Fleet::CheckEnded(Replica& replica) {
  replica.process->WaitFor(kStopTimeout);
  const int code = replica.process->exit_code().value_or(-1);
  replica.process.reset();
  SetLimit(replica, 0);
  // It was told to end before it could know what to do then.
  const bool unborn = code == 128 + SIGTERM && !replica.has_spoken;
  if (code == 0 || unborn) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(replica.name, " ended with exit status ", code));
}

void Fleet::Take(Replica& replica) {
  for (const std::string& line : replica.process->TakeLines()) {
    const absl::StatusOr<Report> report = ReportFromLine(line);
    if (!report.ok()) continue;
    SetLimit(replica, report->limit);
    replica.total.Merge(*report);
    if (options_.note_grants) {
      replica.grant_notes.push_back({report->granted_ns, report->written_ns, report->stepped_down});
    }
    replica.has_spoken = true;
    replica.has_succeeded |= report->succeeded > 0;
  }
}

void Fleet::SetLimit(Replica& replica, int limit) {
  const Instant now = RealClock().Now();
  replica.limit_integral += (now - replica.limit_since) * replica.total.limit;
  replica.limit_since = now;
  replica.total.limit = limit;
}

bool Fleet::AllHaveSpoken() const {
  return std::all_of(replicas_.begin(), replicas_.end(),
                     [](const Replica& replica) { return replica.has_spoken; });
}

void Fleet::ResetCounts() {
  reset_at_ = RealClock().Now();
  for (Replica& replica : replicas_) {
    const int limit = replica.total.limit;
    replica.total = Report{};
    replica.total.limit = limit;
    replica.limit_integral = absl::ZeroDuration();
    replica.limit_since = reset_at_;
  }
}

Report Fleet::Total() const {
  Report total;
  int limit = 0;
  for (const Replica& replica : replicas_) {
    total.Merge(replica.total);
    limit += replica.total.limit;
  }
  total.limit = limit;
  return total;
}

double Fleet::MeanLimit(const Replica& replica) const {
  const Instant now = RealClock().Now();
  const absl::Duration integral =
      replica.limit_integral + (now - replica.limit_since) * replica.total.limit;
  return absl::FDivDuration(integral, now - reset_at_);
}

}  // namespace plimsoll::demo
