// Many agents against one real controller: keep-alive connections, one report a second each, spread
// evenly over the second; and, if asked for, operators beside them, quota changes that reach
// everybody, and a restart. README.md tells how to read the figures.

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>  // Asio 1.74 needs it first

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/core/clock.h"
#include "tests/bench/load_agent.h"
#include "tests/bench/operator_load.h"
#include "tests/bench/process_usage.h"

namespace plimsoll::bench {
namespace {

namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

constexpr int kQuotaPerAgent = 8;
// All can be given as much as the quota has for each; of the low one, all have less.
constexpr int kCeiling = 20;
constexpr int kLowCeiling = 2;
// Between the last registration and the figures.
constexpr absl::Duration kSettle = absl::Seconds(2);
constexpr absl::Duration kPushPatience = absl::Seconds(20);
constexpr absl::Duration kReturnPatience = absl::Seconds(30);

struct Options {
  AgentLoadOptions load;
  int seconds = 10;
  int watchers = 0;
  int rest_per_second = 0;
  int rounds = 1;
  int pushes = 0;
  int restart_after_ms = 0;  // how long the controller is away; 0: no restart
  bool json = false;
  std::string controller = demo::OwnFolder() + "/plimsoll-controller";
};

std::string Config(const Options& options, int ceiling = kCeiling) {
  std::string config = absl::StrFormat(
      "agents: {lease: 10s, hold_max: 1s, sessions_max: %d, connections_max: %d}\n"
      "api: {rate_limit: {per_second: 1000, burst: 1000}}\ndependencies:\n",
      options.load.agents + 100, options.load.agents + 1000);
  for (int i = 0; i < options.load.dependencies; ++i) {
    absl::StrAppendFormat(&config,
                          "  - {name: %s, algorithm: aimd, floor: 1, ceiling: %d, "
                          "call_deadline: 1s, quota: {capacity: %d}}\n",
                          DependencyName(i), ceiling, options.load.agents * kQuotaPerAgent);
  }
  return config;
}

double Milliseconds(absl::Duration duration) { return absl::ToDoubleMilliseconds(duration); }

double Rounded(double value) { return std::round(value * 1000) / 1000; }

// What one kind of phase, repeated, has shown.
struct Measured {
  double seconds = 0;
  double cpu_seconds = 0;
  std::int64_t reports = 0;
  std::int64_t grants = 0;
  LatencyHistogram latency;
};

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options),
        controller_(options.controller, folder_.path(), Config(options)),
        io_(1) {}

  int Main() {
    const absl::Status status = controller_.Start();
    if (!status.ok()) {
      std::fprintf(stderr, "agent_plane_load: %s\n", std::string(status.message()).c_str());
      return 1;
    }
    Register();
    MeasurePhases();
    for (int i = 0; i < options_.pushes; ++i) {
      MeasurePush(false);
      MeasurePush(true);
    }
    if (options_.restart_after_ms > 0) MeasureRestart();
    End();
    Print();
    return Verdict();
  }

 private:
  void Register() {
    const asio::ip::tcp::endpoint endpoint(asio::ip::address_v4::loopback(),
                                           static_cast<std::uint16_t>(controller_.agent_port()));
    const Usage before = UsageOf(controller_.pid());
    const Instant start = RealClock().Now();
    for (int i = 0; i < options_.load.agents; ++i) {
      agents_.push_back(std::make_unique<LoadAgent>(i, options_.load, endpoint, io_, figures_));
      asio::co_spawn(io_, agents_.back()->Run(), asio::detached);
    }
    while (figures_.registered + figures_.failures < options_.load.agents &&
           controller_.Running()) {
      io_.run_for(std::chrono::milliseconds(10));
    }
    const double seconds = absl::ToDoubleSeconds(RealClock().Now() - start);
    io_.run_for(absl::ToChronoMilliseconds(kSettle));
    const Usage after = UsageOf(controller_.pid());
    const double kib = static_cast<double>(after.resident_kib - before.resident_kib);
    facts_["registered"] = figures_.registered;
    facts_["seconds to register all"] = Rounded(seconds);
    facts_["registration, p99, ms"] = Rounded(Milliseconds(figures_.registration.Quantile(0.99)));
    facts_["resident without agents, MiB"] =
        Rounded(static_cast<double>(before.resident_kib) / 1024);
    facts_["resident per agent, KiB"] = Rounded(kib / options_.load.agents);
  }

  // Quiet and with operators in turn, so that a machine whose speed drifts is the same to both.
  void MeasurePhases() {
    const bool operators = options_.watchers > 0 || options_.rest_per_second > 0;
    Measured quiet;
    Measured busy;
    for (int i = 0; i < options_.rounds; ++i) {
      Measure(quiet);
      if (!operators) continue;
      OperatorLoad load(
          {options_.watchers, options_.rest_per_second, controller_.api_port(), DependencyName(0)});
      // Until all streams are open.
      io_.run_for(std::chrono::milliseconds(20 * options_.watchers + 1000));
      Measure(busy);
      Tell(load.Stop());
    }
    Tell("", quiet);
    if (!operators) return;
    Tell("with operators: ", busy);
    facts_["with operators / without, p99"] =
        Rounded(absl::FDivDuration(busy.latency.Quantile(0.99), quiet.latency.Quantile(0.99)));
  }

  void Measure(Measured& into) {
    figures_.latency = LatencyHistogram();
    figures_.reports = figures_.grants = 0;
    figures_.measuring = true;
    const Instant from = RealClock().Now();
    const double cpu_before = UsageOf(controller_.pid()).cpu_seconds;
    io_.run_for(std::chrono::seconds(options_.seconds));
    into.cpu_seconds += UsageOf(controller_.pid()).cpu_seconds - cpu_before;
    into.seconds += absl::ToDoubleSeconds(RealClock().Now() - from);
    figures_.measuring = false;
    into.reports += figures_.reports;
    into.grants += figures_.grants;
    into.latency.Merge(figures_.latency);
  }

  void Tell(const std::string& prefix, const Measured& measured) {
    const double thousands =
        static_cast<double>(std::max<std::int64_t>(measured.reports, 1)) / 1000;
    facts_[prefix + "seconds measured"] = Rounded(measured.seconds);
    facts_[prefix + "reports"] = measured.reports;
    facts_[prefix + "grants"] = measured.grants;
    for (const auto& [name, quantile] :
         {std::pair{"p50", 0.5}, std::pair{"p99", 0.99}, std::pair{"p99.9", 0.999}}) {
      facts_[absl::StrCat(prefix, "answer beyond the hold, ", name, ", ms")] =
          Rounded(Milliseconds(measured.latency.Quantile(quantile)));
    }
    facts_[prefix + "CPU per 1,000 reports, s"] = Rounded(measured.cpu_seconds / thousands);
    facts_[prefix + "CPU, cores"] = Rounded(measured.cpu_seconds / measured.seconds);
  }

  void Tell(const OperatorFigures& operators) {
    facts_["operators: event streams"] = operators.streams;
    facts_["operators: events"] = operators.frames;
    facts_["operators: MiB of events"] =
        Rounded(static_cast<double>(operators.bytes) / 1024 / 1024);
    facts_["operators: REST answers"] = operators.answers;
    facts_["operators: REST, p50, ms"] = Rounded(Milliseconds(operators.latency.Quantile(0.5)));
    facts_["operators: REST, p99, ms"] = Rounded(Milliseconds(operators.latency.Quantile(0.99)));
    for (std::int64_t i = 0; i < operators.failures; ++i) {
      figures_.Fail(operators.first_failure);
    }
  }

  // A ceiling at which the limit of every agent has to change that does not have so little already,
  // and how long it takes until all those know.
  void MeasurePush(bool up) {
    Push& push = figures_.push;
    const int number = push.number + 1;
    push = Push();
    push.number = number;
    push.up = up;
    push.expected =
        static_cast<int>(std::count_if(agents_.begin(), agents_.end(), [up](const auto& agent) {
          return up || agent->limit() > kLowCeiling;
        }));
    controller_.set_config(Config(options_, up ? kCeiling : kLowCeiling));
    const double cpu_before = UsageOf(controller_.pid()).cpu_seconds;
    const double own_before = UsageOf(getpid()).cpu_seconds;
    push.began = RealClock().Now();
    controller_.Signal(SIGHUP);
    while (push.received < push.expected && RealClock().Now() - push.began < kPushPatience) {
      io_.run_for(std::chrono::milliseconds(5));
    }
    if (push.received < push.expected) {
      figures_.Fail(
          absl::StrCat("a new ceiling reached only ", push.received, " of ", push.expected));
    }
    const double cpu = UsageOf(controller_.pid()).cpu_seconds - cpu_before;
    const double own = UsageOf(getpid()).cpu_seconds - own_before;
    const std::string name = up ? "raise" : "cut";
    facts_[name + ": agents reached"].push_back(push.received);
    facts_[name + ": p50, ms"].push_back(Rounded(Milliseconds(push.latency.Quantile(0.5))));
    facts_[name + ": p99, ms"].push_back(Rounded(Milliseconds(push.latency.Quantile(0.99))));
    facts_[name + ": last, ms"].push_back(Rounded(Milliseconds(push.last - push.began)));
    facts_[name + ": CPU until then, s"].push_back(Rounded(cpu));
    facts_[name + ": CPU of this program, s"].push_back(Rounded(own));
    io_.run_for(absl::ToChronoMilliseconds(kSettle * 2));
  }

  // kill -9, some time without a controller, and how agents come back.
  void MeasureRestart() {
    figures_.interrupted = true;
    controller_.Kill();
    io_.run_for(std::chrono::milliseconds(options_.restart_after_ms));
    const Instant from = RealClock().Now();
    absl::Status status;
    std::atomic<bool> started = false;
    // A child ends with the thread that started it, so this one stays.
    starter_ = std::thread([&, over = over_.get_future()] {
      status = controller_.Start();
      started = true;
      over.wait();
    });
    while (!started || (status.ok() && RealClock().Now() - from < kReturnPatience &&
                        static_cast<int>(figures_.returned.size()) < options_.load.agents)) {
      io_.run_for(std::chrono::milliseconds(5));
    }
    figures_.interrupted = false;
    if (!status.ok()) return figures_.Fail(std::string(status.message()));
    const int back = static_cast<int>(figures_.returned.size());
    if (back < options_.load.agents) figures_.Fail(absl::StrCat("only ", back, " came back"));
    TellCurve(from);
    io_.run_for(absl::ToChronoMilliseconds(kSettle));
    facts_["after a restart: CPU so far, s"] = Rounded(UsageOf(controller_.pid()).cpu_seconds);
  }

  void TellCurve(Instant from) {
    const std::vector<Instant>& returned = figures_.returned;  // in the order of time
    facts_["after a restart: agents back"] = returned.size();
    if (returned.empty()) return;
    for (const int percent : {1, 10, 50, 90, 99, 100}) {
      const std::size_t k = std::max<std::size_t>(returned.size() * percent / 100, 1) - 1;
      facts_[absl::StrCat("after a restart: ", percent, " % are back after, ms")] =
          Rounded(Milliseconds(returned[k] - from));
    }
    facts_["after a restart: most in 100 ms"] = Busiest(returned);
  }

  static std::size_t Busiest(const std::vector<Instant>& returned) {
    std::size_t most = 0;
    std::size_t begin = 0;
    for (std::size_t end = 0; end < returned.size(); ++end) {
      while (returned[end] - returned[begin] > absl::Milliseconds(100)) ++begin;
      most = std::max(most, end - begin + 1);
    }
    return most;
  }

  void End() {
    const Usage usage = UsageOf(controller_.pid());
    facts_["resident, MiB"] = Rounded(static_cast<double>(usage.resident_kib) / 1024);
    facts_["resident, highest, MiB"] = Rounded(static_cast<double>(usage.resident_max_kib) / 1024);
    figures_.over = true;
    for (const std::unique_ptr<LoadAgent>& agent : agents_) agent->Stop();
    io_.run_for(absl::ToChronoMilliseconds(kSettle));
    over_.set_value();
    if (starter_.joinable()) starter_.join();
  }

  void Print() {
    Json all = {{"agents", options_.load.agents},
                {"dependencies of each", options_.load.dependencies},
                {"hold, ms", options_.load.hold_ms}};
    all.update(facts_);
    all["failures"] = figures_.failures;
    if (options_.json) {
      std::printf("%s\n", all.dump().c_str());
      return;
    }
    for (const auto& [name, value] : all.items()) {
      std::printf("%-46s %s\n", name.c_str(), value.dump().c_str());
    }
  }

  int Verdict() const {
    if (figures_.failures == 0) return 0;
    std::fprintf(stderr, "agent_plane_load: %d failures, the first: %s\n",
                 static_cast<int>(figures_.failures), figures_.first_failure.c_str());
    return 1;
  }

  const Options& options_;
  const demo::TemporaryFolder folder_;
  demo::ControllerProcess controller_;
  asio::io_context io_;
  AgentFigures figures_;
  std::vector<std::unique_ptr<LoadAgent>> agents_;
  Json facts_;
  std::thread starter_;      // of the controller after a restart
  std::promise<void> over_;  // the run is
};

void RaiseFileLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool SetOption(Options& options, const std::string& name, const std::string& value) {
  if (name == "--controller") {
    options.controller = value;
    return true;
  }
  // Each with its smallest value.
  const std::map<std::string, std::pair<int*, int>> numbers = {
      {"--agents", {&options.load.agents, 1}},
      {"--seconds", {&options.seconds, 1}},
      {"--dependencies", {&options.load.dependencies, 1}},
      {"--hold-ms", {&options.load.hold_ms, 0}},
      {"--ramp-per-second", {&options.load.ramp_per_second, 1}},
      {"--watchers", {&options.watchers, 0}},
      {"--rest-per-second", {&options.rest_per_second, 0}},
      {"--rounds", {&options.rounds, 1}},
      {"--pushes", {&options.pushes, 0}},
      {"--restart-after-ms", {&options.restart_after_ms, 0}}};
  const auto number = numbers.find(name);
  return number != numbers.end() && absl::SimpleAtoi(value, number->second.first) &&
         *number->second.first >= number->second.second;
}

constexpr char kUsage[] =
    "usage: agent_plane_load --agents N --seconds S [--dependencies D] [--hold-ms H]\n"
    "         [--ramp-per-second R] [--watchers W] [--rest-per-second R] [--rounds N]\n"
    "         [--pushes N] [--restart-after-ms MS] [--json] [--controller PATH]\n";

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  plimsoll::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--json") {
      options.json = true;
    } else if (i + 1 < argc && plimsoll::bench::SetOption(options, argv[i], argv[i + 1])) {
      ++i;
    } else {
      std::fputs(plimsoll::bench::kUsage, stderr);
      return 2;
    }
  }
  plimsoll::bench::RaiseFileLimit();  // inherited by the controller
  return plimsoll::bench::Run(options).Main();
}
