#include "tests/bench/load_agent.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::bench {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr int kHistogramBuckets = 20;
constexpr std::size_t kReadBytes = 2048;
constexpr absl::Duration kInterval = absl::Seconds(1);
// Of real agents: between an answer and the next report, and the first and longest pause before
// another attempt, of which a random part is waited.
constexpr absl::Duration kSyncMin = absl::Milliseconds(50);
constexpr absl::Duration kBackoffMin = absl::Milliseconds(300);
constexpr absl::Duration kBackoffMax = absl::Seconds(2);

}  // namespace

std::string DependencyName(int index) { return absl::StrCat("dependency-", index); }

void AgentFigures::Fail(const std::string& why) {
  if (over || interrupted) return;
  if (failures++ == 0) first_failure = why;
}

LoadAgent::LoadAgent(int index, const AgentLoadOptions& options, asio::ip::tcp::endpoint controller,
                     asio::io_context& io, AgentFigures& figures)
    : index_(index),
      options_(options),
      controller_(std::move(controller)),
      socket_(io),
      timer_(io),
      figures_(figures),
      random_(static_cast<std::uint64_t>(index) + 1) {}

asio::awaitable<void> LoadAgent::Run() {
  co_await Sleep(absl::Seconds(static_cast<double>(index_) / options_.ramp_per_second));
  if (stopped_ || !co_await Connect() || !co_await Register()) co_return;
  ++figures_.registered;
  // g++ 12 makes a trap of a loop that awaits in its condition.
  for (bool again = true; again;) {
    again = co_await ReportUntilCutOff();
    if (again) again = co_await ComeBack();
  }
}

// Returns whether there is a point in coming back.
asio::awaitable<bool> LoadAgent::ReportUntilCutOff() {
  // Where in the second it reports: evenly spread.
  const Instant now = RealClock().Now();
  const double phase = static_cast<double>(index_) / options_.agents;
  const std::int64_t into_second = now.ns % absl::ToInt64Nanoseconds(kInterval);
  Instant next = now - absl::Nanoseconds(into_second) + kInterval * (1 + phase);
  while (true) {
    co_await Sleep(next - RealClock().Now());
    if (stopped_) co_return false;
    if (!co_await Sync()) co_return !stopped_ && figures_.interrupted;
    next = options_.hold_ms > 0 ? RealClock().Now() + kSyncMin
                                : std::max(next + kInterval, RealClock().Now());
  }
}

asio::awaitable<bool> LoadAgent::ComeBack() {
  for (absl::Duration backoff = kBackoffMin; !stopped_;
       backoff = std::min(backoff * 2, kBackoffMax)) {
    co_await Sleep(random_.Uniform() * backoff);
    boost::system::error_code ignored;
    socket_.close(ignored);
    buffer_.clear();
    if (stopped_) break;
    bool served = co_await Connect();
    if (!served) continue;
    served = co_await Sync();
    if (!served) served = co_await Register();
    if (!served) continue;
    figures_.returned.push_back(RealClock().Now());
    co_return true;
  }
  co_return false;
}

void LoadAgent::Stop() {
  boost::system::error_code ignored;
  stopped_ = true;
  socket_.close(ignored);
  timer_.cancel();
}

Calls LoadAgent::limit() const {
  const auto found = installed_.find(DependencyId(DependencyName(0)));
  return found == installed_.end() ? 0 : found->second.steps.limit;
}

asio::awaitable<void> LoadAgent::Sleep(absl::Duration duration) {
  boost::system::error_code error;
  timer_.expires_after(absl::ToChronoNanoseconds(duration));
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<bool> LoadAgent::Connect() {
  boost::system::error_code error;
  co_await socket_.async_connect(controller_, asio::redirect_error(asio::use_awaitable, error));
  if (!error) socket_.set_option(asio::ip::tcp::no_delay(true), error);
  if (!error) socket_.non_blocking(true, error);
  if (error) figures_.Fail(absl::StrCat("connect: ", error.message()));
  co_return !error;
}

asio::awaitable<LoadAgent::Reply> LoadAgent::Post(std::string path, std::string body) {
  boost::system::error_code error;
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  const Instant start = RealClock().Now();
  co_await Send(absl::StrCat("POST ", path,
                             " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                             "Content-Length: ",
                             body.size(), "\r\n\r\n", body),
                error);
  while (!error && !parser.is_done()) {
    const std::size_t count = co_await socket_.async_read_some(
        buffer_.prepare(kReadBytes), asio::redirect_error(asio::use_awaitable, error));
    buffer_.commit(count);
    if (!error) Parse(parser, error);
  }
  Reply reply{!error && parser.get().result_int() < 300, parser.get().result_int(),
              std::move(parser.get().body()), RealClock().Now() - start};
  if (!reply.arrived) {
    figures_.Fail(error ? absl::StrCat(path, ": ", error.message())
                        : absl::StrCat(path, ": ", reply.status, " ", reply.body));
  }
  co_return reply;
}

// Mostly the socket takes all of it at once.
asio::awaitable<void> LoadAgent::Send(std::string text, boost::system::error_code& error) {
  const std::size_t sent = socket_.write_some(asio::buffer(text), error);
  if (error == asio::error::would_block) error = {};
  if (error || sent == text.size()) co_return;
  co_await asio::async_write(socket_, asio::buffer(text) + sent,
                             asio::redirect_error(asio::use_awaitable, error));
}

// As much of an answer as has arrived.
void LoadAgent::Parse(http::response_parser<http::string_body>& parser,
                      boost::system::error_code& error) {
  for (bool more = true; more && !error && !parser.is_done() && buffer_.size() > 0;) {
    const std::size_t used = parser.put(buffer_.data(), error);
    buffer_.consume(used);
    more = used > 0;
  }
  if (error == http::error::need_more) error = {};
}

asio::awaitable<bool> LoadAgent::Register() {
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
  n_ = 0;
  installed_.clear();
  Install(answer->grants);
  figures_.registration.Record(reply.time);
  co_return true;
}

asio::awaitable<bool> LoadAgent::Sync() {
  const SyncRequest request = MakeSync();
  const Reply reply =
      co_await Post(absl::StrCat("/v1/agent/sessions/", session_.value, "/sync"), Encode(request));
  co_return reply.arrived&& Digest(request, reply);
}

SyncRequest LoadAgent::MakeSync() {
  SyncRequest request;
  request.session = session_;
  request.n = SyncNumber(++n_);
  request.epoch = epoch_;
  request.hold = absl::Milliseconds(options_.hold_ms);
  for (int i = 0; i < options_.dependencies; ++i) {
    request.dependencies.push_back(MakeReport(DependencyId(DependencyName(i))));
  }
  return request;
}

bool LoadAgent::Digest(const SyncRequest& request, const Reply& reply) {
  const absl::StatusOr<SyncAnswer> answer = DecodeSyncAnswer(reply.body);
  if (!answer.ok()) {
    figures_.Fail(std::string(answer.status().message()));
    return false;
  }
  epoch_ = std::max(epoch_, answer->epoch);
  Install(answer->grants);
  if (!figures_.measuring) return true;
  ++figures_.reports;
  figures_.grants += static_cast<std::int64_t>(answer->grants.size());
  figures_.latency.Record(std::max(absl::ZeroDuration(), reply.time - request.hold));
  return true;
}

void LoadAgent::Install(const std::vector<Grant>& grants) {
  for (const Grant& grant : grants) {
    Installed& installed = installed_[grant.dependency];
    NotePush(installed.steps, grant.steps);
    installed = {grant.stamp, grant.steps};
  }
}

void LoadAgent::NotePush(const Steps& before, const Steps& after) {
  Push& push = figures_.push;
  const bool moved = push.up ? after.limit > before.limit : after.limit < before.limit;
  if (push_seen_ == push.number || !moved) return;
  push_seen_ = push.number;
  push.last = RealClock().Now();
  push.latency.Record(push.last - push.began);
  ++push.received;
}

// A second at about five calls in flight, of 20 to 100 ms each.
DependencyReport LoadAgent::MakeReport(const DependencyId& dependency) {
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

}  // namespace plimsoll::bench
