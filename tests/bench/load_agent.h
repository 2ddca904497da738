#pragma once

#include <utility>  // Asio 1.74 needs it first

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/protocol.h"
#include "plimsoll/core/random.h"

namespace plimsoll::bench {

struct AgentLoadOptions {
  int agents = 1000;
  int dependencies = 1;
  // 0: reports once a second, answers are due at once. Otherwise as real agents do: an answer is
  // held until a grant changes, at most that long, and followed by the next report.
  int hold_ms = 0;
  int ramp_per_second = 2000;  // registrations begun per second
};

std::string DependencyName(int index);

// A change of the agents' limits that is under way: who has received it.
struct Push {
  int number = 0;
  int expected = 0;  // whose limit it changes
  bool up = false;
  Instant began;
  int received = 0;
  Instant last;  // when the last one so far received it
  LatencyHistogram latency;
};

// What all agents add to. Everything runs in one thread.
struct AgentFigures {
  bool measuring = false;
  bool interrupted = false;  // the controller is or was away: what fails now is tried again
  bool over = false;         // what fails now fails because the run has ended
  int registered = 0;
  std::int64_t reports = 0;
  std::int64_t grants = 0;
  std::int64_t failures = 0;
  std::string first_failure;
  LatencyHistogram latency;       // of answers, beyond the hold
  LatencyHistogram registration;  // of registrations
  Push push;
  // Of each agent that was cut off, when it was served again.
  std::vector<Instant> returned;

  void Fail(const std::string& why);
};

// One agent: registers, then reports what a replica with some calls in flight would measure, and
// installs and acknowledges the grants it gets. When the controller goes away it comes back with
// the jitter of real agents. Confined to the thread of `io`.
class LoadAgent {
 public:
  // Options, figures and io must outlive the agent.
  LoadAgent(int index, const AgentLoadOptions& options, boost::asio::ip::tcp::endpoint controller,
            boost::asio::io_context& io, AgentFigures& figures);

  boost::asio::awaitable<void> Run();
  // Ends Run() soon.
  void Stop();
  // What it has been granted of the first dependency; 0 if nothing.
  Calls limit() const;

 private:
  struct Installed {
    GrantStamp stamp;
    Steps steps;
  };
  struct Reply {
    bool arrived = false;
    unsigned status = 0;
    std::string body;
    absl::Duration time;
  };

  boost::asio::awaitable<void> Sleep(absl::Duration duration);
  boost::asio::awaitable<bool> Connect();
  boost::asio::awaitable<Reply> Post(std::string path, std::string body);
  boost::asio::awaitable<void> Send(std::string text, boost::system::error_code& error);
  void Parse(boost::beast::http::response_parser<boost::beast::http::string_body>& parser,
             boost::system::error_code& error);
  boost::asio::awaitable<bool> Register();
  boost::asio::awaitable<bool> Sync();
  // Until it is served again, or the load ends.
  boost::asio::awaitable<bool> ComeBack();
  boost::asio::awaitable<bool> ReportUntilCutOff();
  SyncRequest MakeSync();
  DependencyReport MakeReport(const DependencyId& dependency);
  bool Digest(const SyncRequest& request, const Reply& reply);
  void Install(const std::vector<Grant>& grants);
  void NotePush(const Steps& before, const Steps& after);

  bool stopped_ = false;
  const int index_;
  const AgentLoadOptions& options_;
  const boost::asio::ip::tcp::endpoint controller_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  AgentFigures& figures_;
  Random random_;

  boost::beast::flat_buffer buffer_;
  SessionId session_;
  Epoch epoch_;
  std::int64_t n_ = 0;
  int push_seen_ = 0;
  std::map<DependencyId, Installed> installed_;
};

}  // namespace plimsoll::bench
