// A controller and the processes of a fleet, each with a page of metrics, for Prometheus: they run
// until they are told to end. README.md explains what they do.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/fleet/list_metrics.h"
#include "agent/examples/fleet/member.h"
#include "agent/examples/fleet/profile.h"

namespace plimsoll::fleet {
namespace {

using demo::ChildProcess;
using demo::ControllerProcess;

constexpr char kUsage[] =
    "usage: plimsoll-fleet --folder DIR [--members N] [--period SECONDS] [--controller PATH]\n"
    "       plimsoll-fleet --list-metrics\n"
    "\n"
    "Starts a controller and N processes that call four dependencies, all with metrics, and "
    "writes\n"
    "DIR/targets.json for the file-based discovery of Prometheus. Ends them, and itself, at "
    "SIGTERM\n"
    "or SIGINT. Nothing is sent to anybody: a call is a permit that is held for a while.\n"
    "\n"
    "  --folder DIR       for the controller's state, its log, and targets.json; must exist\n"
    "  --members N        1 to 64 (default 8)\n"
    "  --period SECONDS   length of the story: well, slow, well, broken (default 60)\n"
    "  --controller PATH  of plimsoll-controller (default: beside this program)\n"
    "  --list-metrics     print every metric of an agent as JSON, and end\n";
constexpr int kUsageError = 2;
constexpr int kStartPolls = 1000;  // of 10 ms
constexpr std::chrono::milliseconds kPoll{10};
constexpr std::chrono::milliseconds kLook{200};
constexpr absl::Duration kStopTimeout = absl::Seconds(4);

struct Options {
  std::string folder;
  std::string controller;
  int members = 8;
  double period_seconds = 60;
  bool is_member = false;  // how this program starts the others
  MemberOptions member;
};

bool SetValue(Options& options, const std::string& name, const std::string& value) {
  if (name == "--folder") return !(options.folder = value).empty();
  if (name == "--controller") return !(options.controller = value).empty();
  if (name == "--members") return absl::SimpleAtoi(value, &options.members);
  if (name == "--period") return absl::SimpleAtod(value, &options.period_seconds);
  if (name == "--role") return options.is_member = value == "member";
  if (name == "--name") return !(options.member.name = value).empty();
  if (name == "--agents") return !(options.member.controller = value).empty();
  return name == "--seed" && absl::SimpleAtoi(value, &options.member.seed);
}

bool Parse(const std::vector<std::string>& arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size() || !SetValue(options, arguments[i], arguments[i + 1])) {
      return false;
    }
  }
  options.member.period = absl::Seconds(options.period_seconds);
  if (options.controller.empty()) options.controller = demo::OwnFolder() + "/plimsoll-controller";
  const bool sane = options.members >= 1 && options.members <= 64 && options.period_seconds >= 1;
  return sane && (options.is_member || !options.folder.empty());
}

std::atomic<bool> interrupted{false};

void OnSignal(int) { interrupted.store(true); }

struct Member {
  std::string name;
  std::unique_ptr<ChildProcess> process;
  int port = 0;
};

absl::StatusOr<Member> StartMember(const Options& options, int index, int agent_port) {
  Member member;
  member.name = absl::StrCat("checkout-", index);
  const std::vector<std::string> command = {demo::OwnFolder() + "/plimsoll-fleet",
                                            "--role",
                                            "member",
                                            "--name",
                                            member.name,
                                            "--agents",
                                            absl::StrCat("http://127.0.0.1:", agent_port),
                                            "--period",
                                            absl::StrCat(options.period_seconds),
                                            "--seed",
                                            absl::StrCat(index + 1)};
  absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(command);
  if (!process.ok()) return process.status();
  member.process = *std::move(process);
  for (int i = 0; i < kStartPolls && member.process->Running(); ++i) {
    const std::vector<std::string> lines = member.process->TakeLines();
    if (!lines.empty() && absl::SimpleAtoi(lines.front(), &member.port)) return member;
    std::this_thread::sleep_for(kPoll);
  }
  return absl::UnavailableError(absl::StrCat(member.name, " did not start"));
}

std::string Group(const std::vector<std::string>& targets, const std::string& job) {
  return absl::StrCat("{\"targets\":[\"", absl::StrJoin(targets, "\",\""),
                      "\"],\"labels\":{\"job\":\"", job, "\"}}");
}

// Under a name of its own first: Prometheus reads it whenever it likes.
absl::Status WriteTargets(const std::string& folder, int api_port,
                          const std::vector<Member>& members) {
  std::vector<std::string> agents;
  for (const Member& member : members) agents.push_back(absl::StrCat("127.0.0.1:", member.port));
  const std::string path = folder + "/targets.json";
  std::ofstream file(path + ".new");
  file << "[" << Group({absl::StrCat("127.0.0.1:", api_port)}, "plimsoll-controller") << ",\n "
       << Group(agents, "checkout") << "]\n";
  file.close();
  std::error_code error;
  std::filesystem::rename(path + ".new", path, error);
  if (file && !error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path));
}

// Ends as soon as one of them has.
absl::Status Watch(std::vector<Member>& members, ControllerProcess& controller) {
  while (!interrupted.load()) {
    if (!controller.Running()) return absl::AbortedError("the controller has ended");
    for (Member& member : members) {
      if (!member.process->Running()) {
        return absl::AbortedError(absl::StrCat(member.name, " has ended"));
      }
    }
    std::this_thread::sleep_for(kLook);
  }
  return absl::OkStatus();
}

absl::Status RunFleet(const Options& options) {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  ControllerProcess controller(options.controller, options.folder, kControllerConfig);
  if (absl::Status started = controller.Start(); !started.ok()) return started;
  std::vector<Member> members;
  for (int i = 0; i < options.members; ++i) {
    absl::StatusOr<Member> member = StartMember(options, i, controller.agent_port());
    if (!member.ok()) return member.status();
    members.push_back(*std::move(member));
  }
  absl::Status status = WriteTargets(options.folder, controller.api_port(), members);
  if (status.ok()) {
    std::printf("controller http://127.0.0.1:%d, %d members\n", controller.api_port(),
                options.members);
    std::fflush(stdout);
    status = Watch(members, controller);
  }
  for (Member& member : members) member.process->Signal(SIGTERM);
  for (Member& member : members) member.process->WaitFor(kStopTimeout);
  if (controller.Running()) controller.Terminate();
  return status;
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--list-metrics"}) {
    std::fputs(AgentMetricsJson().c_str(), stdout);
    return 0;
  }
  Options options;
  if (!Parse(arguments, options)) {
    std::fputs(kUsage, stderr);
    return kUsageError;
  }
  const absl::Status status = options.is_member ? RunMember(options.member) : RunFleet(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "plimsoll-fleet: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace plimsoll::fleet

int main(int argc, char** argv) {
  return plimsoll::fleet::Main(std::vector<std::string>(argv + 1, argv + argc));
}
