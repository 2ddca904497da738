// Many agents against one real controller: keep-alive connections, one report a second each, spread
// evenly over the second. README.md tells how to read the figures.

#include <sys/resource.h>

#include <algorithm>
#include <utility>  // Asio 1.74 needs it first

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/random.h"
#include "plimsoll/wire/codec.h"
#include "tests/bench/process_usage.h"

namespace plimsoll {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

constexpr int kHistogramBuckets = 20;
constexpr int kQuotaPerAgent = 8;
constexpr absl::Duration kInterval = absl::Seconds(1);
constexpr absl::Duration kSettle =
    absl::Seconds(2);  // between the last registration and the figures

struct Options {
  int agents = 1000;
  int seconds = 10;
  int dependencies = 1;
  int hold_ms = 0;
  int ramp_per_second = 2000;
  bool json = false;
  std::string controller = demo::OwnFolder() + "/plimsoll-controller";
};

// What all agents add to. Everything runs in one thread.
struct Figures {
  bool measuring = false;
  bool over = false;  // what fails now fails because the run has ended
  int registered = 0;
  std::int64_t reports = 0;
  std::int64_t grants = 0;
  std::int64_t failures = 0;
  std::string first_failure;
  LatencyHistogram latency;       // of answers, beyond the hold
  LatencyHistogram registration;  // of registrations

  void Fail(const std::string& why) {
    if (over) return;
    if (failures++ == 0) first_failure = why;
  }
};

std::string DependencyName(int index) { return absl::StrCat("dependency-", index); }

// One agent: registers, then reports once a second what a replica with some calls in flight would
// measure, and installs and acknowledges the grants it gets.
class LoadAgent {
 public:
  LoadAgent(int index, const Options& options, Tcp::endpoint controller, asio::io_context& io,
            Figures& figures)
      : index_(index),
        options_(options),
        controller_(std::move(controller)),
        socket_(io),
        timer_(io),
        figures_(figures),
        random_(static_cast<std::uint64_t>(index) + 1) {}

  asio::awaitable<void> Run() {
    co_await Sleep(absl::Seconds(static_cast<double>(index_) / options_.ramp_per_second));
    if (stopped_ || !co_await Connect() || !co_await Register()) co_return;
    // Where in the second it reports: evenly spread.
    const Instant now = RealClock().Now();
    const double phase = static_cast<double>(index_) / options_.agents;
    const std::int64_t into_second = now.ns % absl::ToInt64Nanoseconds(kInterval);
    Instant next = now - absl::Nanoseconds(into_second) + kInterval * (1 + phase);
    while (true) {
      co_await Sleep(next - RealClock().Now());
      if (stopped_ || !co_await Sync()) co_return;
      next = std::max(next + kInterval, RealClock().Now());
    }
  }

  // Ends Run() soon.
  void Stop() {
    boost::system::error_code ignored;
    stopped_ = true;
    socket_.close(ignored);
    timer_.cancel();
  }

 private:
  struct Installed {
    GrantStamp stamp;
    Steps steps;
  };
  struct Reply {
    bool arrived = false;
    std::string body;
    absl::Duration time;
  };

  asio::awaitable<void> Sleep(absl::Duration duration) {
    boost::system::error_code error;
    timer_.expires_after(absl::ToChronoNanoseconds(duration));
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }

  asio::awaitable<bool> Connect() {
    boost::system::error_code error;
    co_await socket_.async_connect(controller_, asio::redirect_error(asio::use_awaitable, error));
    if (!error) socket_.set_option(Tcp::no_delay(true), error);
    if (error) figures_.Fail(absl::StrCat("connect: ", error.message()));
    co_return !error;
  }

  asio::awaitable<Reply> Post(std::string path, std::string body) {
    http::request<http::string_body> request(http::verb::post, path, 11);
    request.set(http::field::host, "127.0.0.1");
    request.set(http::field::content_type, "application/json");
    request.body() = std::move(body);
    request.prepare_payload();
    boost::system::error_code error;
    const Instant start = RealClock().Now();
    co_await http::async_write(socket_, request, asio::redirect_error(asio::use_awaitable, error));
    http::response<http::string_body> response;
    if (!error) {
      co_await http::async_read(socket_, buffer_, response,
                                asio::redirect_error(asio::use_awaitable, error));
    }
    Reply reply{!error && response.result_int() < 300, std::move(response.body()),
                RealClock().Now() - start};
    if (!reply.arrived) {
      figures_.Fail(error ? absl::StrCat(path, ": ", error.message())
                          : absl::StrCat(path, ": ", response.result_int(), " ", reply.body));
    }
    co_return reply;
  }

  asio::awaitable<bool> Register() {
    RegisterRequest request;
    request.service = ServiceId("load");
    request.instance = InstanceId(absl::StrCat("load-", index_));
    request.agent_version = "0.1.0";
    request.nonce = absl::StrFormat("%016x%016x", random_.Next(), random_.Next());
    for (int i = 0; i < options_.dependencies; ++i) {
      request.dependencies.emplace_back(DependencyName(i));
    }
    const Reply reply = co_await Post("/v1/agent/sessions", Encode(request));
    if (!reply.arrived) co_return false;
    const absl::StatusOr<RegisterAnswer> answer = DecodeRegisterAnswer(reply.body);
    if (!answer.ok()) {
      figures_.Fail(std::string(answer.status().message()));
      co_return false;
    }
    session_ = answer->session;
    epoch_ = answer->epoch;
    Install(answer->grants);
    ++figures_.registered;
    figures_.registration.Record(reply.time);
    co_return true;
  }

  asio::awaitable<bool> Sync() {
    SyncRequest request;
    request.session = session_;
    request.n = SyncNumber(++n_);
    request.epoch = epoch_;
    request.hold = absl::Milliseconds(options_.hold_ms);
    for (int i = 0; i < options_.dependencies; ++i) {
      request.dependencies.push_back(MakeReport(DependencyId(DependencyName(i))));
    }
    const Reply reply = co_await Post(absl::StrCat("/v1/agent/sessions/", session_.value, "/sync"),
                                      Encode(request));
    if (!reply.arrived) co_return false;
    const absl::StatusOr<SyncAnswer> answer = DecodeSyncAnswer(reply.body);
    if (!answer.ok()) {
      figures_.Fail(std::string(answer.status().message()));
      co_return false;
    }
    epoch_ = std::max(epoch_, answer->epoch);
    Install(answer->grants);
    if (figures_.measuring) {
      ++figures_.reports;
      figures_.grants += static_cast<std::int64_t>(answer->grants.size());
      figures_.latency.Record(std::max(absl::ZeroDuration(), reply.time - request.hold));
    }
    co_return true;
  }

  void Install(const std::vector<Grant>& grants) {
    for (const Grant& grant : grants) {
      installed_[grant.dependency] = {grant.stamp, grant.steps};
    }
  }

  // A second at about five calls in flight, of 20 to 100 ms each.
  DependencyReport MakeReport(const DependencyId& dependency) {
    const Installed& installed = installed_[dependency];
    DependencyReport report;
    report.dependency = dependency;
    report.installed = installed.stamp;
    report.in_force = installed.steps;
    report.in_flight = std::min(installed.steps.limit, static_cast<Calls>(3 + random_.Below(4)));
    report.in_flight_max = report.in_flight;
    Window window;
    window.stamp = installed.stamp;
    window.length = kInterval;
    window.in_flight_max = report.in_flight;
    window.in_flight = kInterval * report.in_flight * 0.8;
    for (int i = 0; i < kHistogramBuckets; ++i) {
      window.latency.Record(absl::Milliseconds(20 + 4 * i));
      window.latency.Record(absl::Milliseconds(20 + 4 * i));
    }
    window.succeeded = static_cast<std::int64_t>(window.latency.TotalCount());
    window.admitted = window.succeeded;
    if (report.in_flight > 0) report.windows.push_back(std::move(window));
    return report;
  }

  bool stopped_ = false;
  const int index_;
  const Options& options_;
  const Tcp::endpoint controller_;
  Tcp::socket socket_;
  asio::steady_timer timer_;
  Figures& figures_;
  Random random_;

  boost::beast::flat_buffer buffer_;
  SessionId session_;
  Epoch epoch_;
  std::int64_t n_ = 0;
  std::map<DependencyId, Installed> installed_;
};

std::string Config(const Options& options) {
  std::string config = absl::StrFormat(
      "agents: {lease: 10s, hold_max: 1s, sessions_max: %d, connections_max: %d}\ndependencies:\n",
      options.agents + 100, options.agents + 1000);
  for (int i = 0; i < options.dependencies; ++i) {
    absl::StrAppendFormat(&config,
                          "  - {name: %s, algorithm: aimd, floor: 1, ceiling: 20, "
                          "call_deadline: 1s, quota: {capacity: %d}}\n",
                          DependencyName(i), options.agents * kQuotaPerAgent);
  }
  return config;
}

double Milliseconds(absl::Duration duration) { return absl::ToDoubleMilliseconds(duration); }

void Print(const Options& options, const Figures& figures, double ramp_seconds,
           double measured_seconds, double cpu_seconds, const Usage& usage) {
  const double thousands = static_cast<double>(std::max<std::int64_t>(figures.reports, 1)) / 1000;
  const char* const format =
      options.json
          ? R"({"agents":%d,"dependencies":%d,"hold_ms":%d,"registered":%d,"ramp_seconds":%.2f,)"
            R"("register_p99_ms":%.2f,"seconds":%.2f,"reports":%d,"grants":%d,"failures":%d,)"
            R"("answer_p50_ms":%.3f,"answer_p99_ms":%.3f,"cpu_seconds_per_1000_reports":%.4f,)"
            R"("cpu_cores":%.3f,"rss_mib":%.1f,"rss_max_mib":%.1f})"
            "\n"
          : "agents                        %d\ndependencies of each          %d\n"
            "hold                          %d ms\nregistered                    %d\n"
            "time to register all          %.2f s\nregistration, p99             %.2f ms\n"
            "measured                      %.2f s\nreports                       %d\n"
            "grants                        %d\nfailures                      %d\n"
            "answer beyond the hold, p50   %.3f ms\nanswer beyond the hold, p99   %.3f ms\n"
            "CPU per 1,000 reports         %.4f s\nCPU                           %.3f cores\n"
            "resident                      %.1f MiB\nresident, highest             %.1f MiB\n";
  // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): one of the two above.
  std::printf(format, options.agents, options.dependencies, options.hold_ms, figures.registered,
              ramp_seconds, Milliseconds(figures.registration.Quantile(0.99)), measured_seconds,
              static_cast<int>(figures.reports), static_cast<int>(figures.grants),
              static_cast<int>(figures.failures), Milliseconds(figures.latency.Quantile(0.5)),
              Milliseconds(figures.latency.Quantile(0.99)), cpu_seconds / thousands,
              cpu_seconds / measured_seconds, static_cast<double>(usage.resident_kib) / 1024,
              static_cast<double>(usage.resident_max_kib) / 1024);
}

void RaiseFileLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Run(const Options& options) {
  RaiseFileLimit();  // inherited by the controller
  const demo::TemporaryFolder folder;
  demo::ControllerProcess controller(options.controller, folder.path(), Config(options));
  const absl::Status status = controller.Start();
  if (!status.ok()) {
    std::fprintf(stderr, "agent_plane_load: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  asio::io_context io(1);
  Figures figures;
  const Tcp::endpoint endpoint(asio::ip::address_v4::loopback(),
                               static_cast<std::uint16_t>(controller.agent_port()));
  std::vector<std::unique_ptr<LoadAgent>> agents;
  const Instant start = RealClock().Now();
  for (int i = 0; i < options.agents; ++i) {
    agents.push_back(std::make_unique<LoadAgent>(i, options, endpoint, io, figures));
    asio::co_spawn(io, agents.back()->Run(), asio::detached);
  }
  while (figures.registered + figures.failures < options.agents && controller.Running()) {
    io.run_for(std::chrono::milliseconds(10));
  }
  const double ramp_seconds = absl::ToDoubleSeconds(RealClock().Now() - start);
  io.run_for(absl::ToChronoMilliseconds(kSettle));

  figures.measuring = true;
  const Instant measured_from = RealClock().Now();
  const double cpu_before = UsageOf(controller.pid()).cpu_seconds;
  io.run_for(std::chrono::seconds(options.seconds));
  const Usage usage = UsageOf(controller.pid());
  const double measured = absl::ToDoubleSeconds(RealClock().Now() - measured_from);
  figures.over = true;
  for (const std::unique_ptr<LoadAgent>& agent : agents) agent->Stop();
  io.run_for(absl::ToChronoMilliseconds(kSettle));
  Print(options, figures, ramp_seconds, measured, usage.cpu_seconds - cpu_before, usage);
  if (figures.failures == 0) return 0;
  std::fprintf(stderr, "agent_plane_load: %d failures, the first: %s\n",
               static_cast<int>(figures.failures), figures.first_failure.c_str());
  return 1;
}

bool SetOption(Options& options, const std::string& name, const std::string& value) {
  if (name == "--controller") {
    options.controller = value;
    return true;
  }
  const std::map<std::string, int*> numbers = {{"--agents", &options.agents},
                                               {"--seconds", &options.seconds},
                                               {"--dependencies", &options.dependencies},
                                               {"--hold-ms", &options.hold_ms},
                                               {"--ramp-per-second", &options.ramp_per_second}};
  const auto number = numbers.find(name);
  return number != numbers.end() && absl::SimpleAtoi(value, number->second) &&
         *number->second >= (name == "--hold-ms" ? 0 : 1);
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  plimsoll::Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--json") {
      options.json = true;
    } else if (i + 1 == argc || !plimsoll::SetOption(options, argv[i], argv[i + 1])) {
      std::fprintf(
          stderr,
          "usage: agent_plane_load --agents N --seconds S [--dependencies D] [--hold-ms H]"
          "\n                        [--ramp-per-second R] [--json] [--controller PATH]\n");
      return 2;
    } else {
      ++i;
    }
  }
  return plimsoll::Run(options);
}
