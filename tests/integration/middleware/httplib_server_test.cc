#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "agent/middleware/even_spread.h"
#include "agent/middleware/httplib/src/retry_after.h"
#include "plimsoll/middleware/httplib_server.h"
#include "tests/integration/middleware/granted_bulkhead.h"

namespace plimsoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

// A server of one thread per connection, with a limit.
class LimitedServer {
 public:
  explicit LimitedServer(int limit, HttplibServerOptions options = {},
                         const BulkheadOptions& bulkhead = {})
      : bulkhead_(limit, bulkhead) {
    EXPECT_TRUE(LimitServer(server_, *bulkhead_, std::move(options)).ok());
    const auto ok = [this](const httplib::Request&, httplib::Response& response) {
      ++handled_;
      response.set_content("ok", "text/plain");
    };
    server_.Get("/ok", ok);
    server_.Post("/ok", ok);
    server_.Get("/evil", [this](const httplib::Request&, httplib::Response&) { evil_ = true; });
  }
  ~LimitedServer() { StatsAtTheEnd(); }

  // A permit ends when the answer has been written, which the caller may see a little earlier.
  BulkheadStats StatsAtTheEnd() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
    return bulkhead_->stats();
  }

  void Start() {
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  httplib::Client Client() const { return httplib::Client("127.0.0.1", port_); }

  httplib::Server server_;
  GrantedBulkhead bulkhead_;
  std::atomic<int> handled_{0};
  std::atomic<bool> evil_{false};
  int port_ = 0;

 private:
  std::thread thread_;
};

// Sends `bytes`, and reads until the server closes the connection.
std::string Exchange(int port, const std::string& bytes) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = recv(connection, buffer, sizeof buffer, 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  close(connection);
  return answer;
}

TEST(HttplibServer, AnswersWithinTheLimit) {
  LimitedServer server(1);
  server.Start();
  {
    auto client = server.Client();
    client.set_keep_alive(true);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Get("/ok")->status, 200);
  }
  EXPECT_EQ(server.StatsAtTheEnd().succeeded, 3);
  EXPECT_EQ(server.StatsAtTheEnd().leaked, 0);
}

TEST(HttplibServer, RefusesWithoutRunningTheHandler) {
  LimitedServer server(0);
  server.Start();
  const auto answer = server.Client().Get("/ok");
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body,
            "{\"title\":\"Service Unavailable\",\"status\":503,\"code\":\"limit\"}\n");
  EXPECT_EQ(answer->get_header_value("Content-Type"), "application/problem+json");
  const int retry_after = std::stoi(answer->get_header_value("Retry-After"));
  EXPECT_GE(retry_after, 1);
  EXPECT_LE(retry_after, 5);
  EXPECT_EQ(server.handled_, 0);
  EXPECT_EQ(server.StatsAtTheEnd().rejected_limit, 1);
}

TEST(HttplibServer, KeepsTheConnectionOfARefusedRequestWithoutABody) {
  LimitedServer server(0);
  server.Start();
  auto client = server.Client();
  client.set_keep_alive(true);
  EXPECT_EQ(client.Get("/ok")->status, 503);
  EXPECT_TRUE(client.is_socket_open());
  EXPECT_EQ(client.Get("/ok")->status, 503);
}

TEST(HttplibServer, ReadsNothingOfTheBodyOfARefusedRequest) {
  LimitedServer server(0);
  server.Start();
  // Whoever waits for the 1000 bytes hangs here; whoever takes them for a request is tricked.
  const std::string answer = Exchange(server.port_,
                                      "POST /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
                                      "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Keep-Alive")));
  EXPECT_THAT(answer, ::testing::EndsWith("\"code\":\"limit\"}\n"));
  EXPECT_FALSE(server.evil_);
}

TEST(HttplibServer, ClosesAfterRefusingAChunkedBody) {
  LimitedServer server(0);
  server.Start();
  EXPECT_THAT(
      Exchange(server.port_, "POST /ok HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"),
      HasSubstr("\r\nConnection: close\r\n"));
}

TEST(HttplibServer, RefusesBeforeTheBodyIsSentToThoseWhoAsk) {
  LimitedServer server(0);
  server.Start();
  const std::string answer = Exchange(
      server.port_, "POST /ok HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(answer, ::testing::StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: "));
  EXPECT_THAT(answer, HasSubstr("\r\nRetry-After: "));
}

TEST(HttplibServer, TakesOnePermitForARequestThatAsksBeforeItSendsTheBody) {
  LimitedServer server(1);
  server.Start();
  const std::string answer = Exchange(server.port_,
                                      "POST /ok HTTP/1.1\r\nContent-Length: 2\r\nConnection: close"
                                      "\r\nExpect: 100-continue\r\n\r\nab");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 "));
  EXPECT_EQ(server.StatsAtTheEnd().admitted, 1);
  EXPECT_EQ(server.StatsAtTheEnd().succeeded, 1);
}

TEST(HttplibServer, RefusesAndClosesWhenItLeaves) {
  LimitedServer server(1);
  server.bulkhead_.StopAdmitting();
  server.Start();
  const std::string answer = Exchange(server.port_, "GET /ok HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("\"code\":\"draining\""));
}

TEST(HttplibServer, TellsATenantApartThatHasTooMany) {
  HttplibServerOptions options;
  options.call = [](const httplib::Request& request) {
    CallOptions call;
    call.tenant = HeaderView(request, "X-Tenant");
    return call;
  };
  BulkheadOptions bulkhead;
  bulkhead.tenants.share = 0.5;
  LimitedServer server(2, options, bulkhead);
  std::atomic<int> second{0};
  // While a call of the tenant is being handled, another one of the same and one of another come.
  server.server_.Get("/nested", [&](const httplib::Request&, httplib::Response&) {
    const auto mine = server.Client().Get("/ok", {{"X-Tenant", "a"}});
    second = mine->status * 1000 + server.Client().Get("/ok", {{"X-Tenant", "b"}})->status;
    EXPECT_THAT(mine->body, HasSubstr("\"code\":\"tenant\""));
    EXPECT_TRUE(mine->has_header("Retry-After"));
  });
  server.Start();
  EXPECT_EQ(server.Client().Get("/nested", {{"X-Tenant", "a"}})->status, 200);
  EXPECT_EQ(second, 429'200);
}

TEST(HttplibServer, BoundsWhatACallerAsksFor) {
  HttplibServerOptions options;
  options.call = [](const httplib::Request& request) {
    CallOptions call;
    call.cost = std::stoi(std::string(HeaderView(request, "X-Cost")));
    call.priority = -1;
    return call;
  };
  LimitedServer server(10, options);
  server.Start();
  for (const char* cost : {"-7", "0", "1", "5"}) {
    EXPECT_EQ(server.Client().Get("/ok", {{"X-Cost", cost}})->status, 200) << cost;
  }
  EXPECT_EQ(server.Client().Get("/ok", {{"X-Cost", "11"}})->status, 503);
  EXPECT_EQ(server.Client().Get("/ok", {{"X-Cost", "2000000000"}})->status, 503);
  EXPECT_EQ(server.StatsAtTheEnd().succeeded, 8);
}

TEST(HttplibServer, RefusesWhoseTimeIsUp) {
  LimitedServer server(1);
  server.Start();
  const auto answer = server.Client().Get("/ok", {{"Plimsoll-Time-Left-Ms", "0"}});
  EXPECT_EQ(answer->status, 503);
  EXPECT_THAT(answer->body, HasSubstr("\"code\":\"deadline\""));
  EXPECT_EQ(server.handled_, 0);
}

TEST(HttplibServer, NeverRefusesWhatIsExempt) {
  HttplibServerOptions options;
  options.exempt = [](const httplib::Request& request) { return request.path == "/ok"; };
  LimitedServer server(0, options);
  server.Start();
  EXPECT_EQ(server.Client().Get("/ok")->status, 200);
  EXPECT_EQ(server.Client().Get("/evil")->status, 503);
  EXPECT_EQ(server.StatsAtTheEnd().admitted, 0);
}

TEST(HttplibServer, EndsThePermitOnceByTheStatus) {
  LimitedServer server(6);
  server.server_.Get(R"(/(\d+))", [](const httplib::Request& request, httplib::Response& response) {
    response.status = std::stoi(request.matches[1]);
  });
  server.Start();
  for (const char* path : {"/200", "/404", "/500", "/503", "/429", "/504"}) {
    ASSERT_TRUE(server.Client().Get(path)) << path;
  }
  const BulkheadStats stats = server.StatsAtTheEnd();
  EXPECT_EQ(stats.ended_by(Outcome::kSuccess), 2);
  EXPECT_EQ(stats.ended_by(Outcome::kError), 1);
  EXPECT_EQ(stats.ended_by(Outcome::kOverload), 2);
  EXPECT_EQ(stats.ended_by(Outcome::kTimeout), 1);
  EXPECT_EQ(stats.leaked + stats.ignored, 0);
  EXPECT_EQ(stats.in_flight, 0);
}

TEST(HttplibServer, EndsThePermitOfAHandlerThatThrows) {
  LimitedServer server(1);
  server.server_.Get("/throw", [](const httplib::Request&, httplib::Response&) {
    throw std::runtime_error("broken");
  });
  server.Start();
  EXPECT_EQ(server.Client().Get("/throw")->status, 500);
  EXPECT_EQ(server.StatsAtTheEnd().ended_by(Outcome::kError), 1);
  EXPECT_EQ(server.StatsAtTheEnd().leaked, 0);
}

TEST(HttplibServer, HoldsThePermitWhileItStreams) {
  LimitedServer server(1);
  std::atomic<int> in_flight{0};
  server.server_.Get("/stream", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content_provider(2, "text/plain",
                                  [&](std::size_t, std::size_t, httplib::DataSink& sink) {
                                    in_flight = server.bulkhead_->in_flight();
                                    return sink.write("ab", 2);
                                  });
  });
  server.Start();
  EXPECT_EQ(server.Client().Get("/stream")->body, "ab");
  EXPECT_EQ(in_flight, 1);
}

TEST(HttplibServer, EndsThePermitOfACallerThatHangsUpInTheBody) {
  LimitedServer server(1);
  server.server_.set_read_timeout(milliseconds(50));
  server.Start();
  Exchange(server.port_, "POST /ok HTTP/1.1\r\nConnection: close\r\nContent-Length: 9\r\n\r\nabc");
  EXPECT_EQ(server.handled_, 0);
  EXPECT_EQ(server.StatsAtTheEnd().in_flight, 0);
  EXPECT_EQ(server.StatsAtTheEnd().leaked, 0);
}

// What the handler of a request with this header sees as its time left; never: none.
milliseconds TimeLeftInHandler(const std::string& header) {
  LimitedServer server(1);
  milliseconds left{0};
  server.server_.Get("/left", [&](const httplib::Request&, httplib::Response&) {
    left = std::chrono::ceil<milliseconds>(Deadline::Current().left());
  });
  server.Start();
  server.Client().Get("/left", {{"Plimsoll-Time-Left-Ms", header}});
  return left;
}

TEST(HttplibServer, HandlersInheritTheTimeThatTheCallerHas) {
  EXPECT_LE(TimeLeftInHandler("5000"), milliseconds(5000));
  EXPECT_GT(TimeLeftInHandler("5000"), milliseconds(3000));
  EXPECT_LE(TimeLeftInHandler("99999999"), milliseconds(600'000));
  for (const char* bad : {"", "-5", "5s", "1e3", "99999999999999999999"}) {
    EXPECT_GT(TimeLeftInHandler(bad), milliseconds(600'000)) << bad;
  }
}

// What the handler may cause in retries, and what the answer says that it used: two, if it can.
std::pair<int, std::string> RetriesOfARequest(const httplib::Headers& headers, int retries_max) {
  HttplibServerOptions options;
  options.retries_max = retries_max;
  LimitedServer server(1, options);
  int left = -1;
  server.server_.Get("/retries", [&](const httplib::Request&, httplib::Response&) {
    left = RetryScope::Left();
    RetryScope::Take(2);
  });
  server.Start();
  const auto answer = server.Client().Get("/retries", headers);
  return {left, answer->get_header_value("Plimsoll-Retries-Used")};
}

TEST(HttplibServer, HandlersInheritTheRetriesOfTheCallerAndItIsToldWhatTheyUsed) {
  using Seen = std::pair<int, std::string>;
  const auto said = [](const char* text) {
    return httplib::Headers{{"Plimsoll-Retries-Left", text}};
  };
  EXPECT_EQ(RetriesOfARequest(said("3"), 9), Seen(3, "2"));
  EXPECT_EQ(RetriesOfARequest(said("1"), 9), Seen(1, "1"));
  EXPECT_EQ(RetriesOfARequest(said("99"), 4), Seen(4, "2"));  // never more than this side allows
  EXPECT_EQ(RetriesOfARequest({}, 4), Seen(4, ""));           // to those who did not ask
  for (const char* bad : {"", "-1", "+9", "9e9", "0x9", "99999999999999999999"}) {
    EXPECT_EQ(RetriesOfARequest(said(bad), 4), Seen(4, "")) << bad;
  }
}

TEST(HttplibServer, CallsTheHandlersThatItTookThePlaceOf) {
  HttplibServerOptions options;
  std::atomic<int> calls{0};
  options.pre_routing = [&](const httplib::Request&, httplib::Response&) {
    ++calls;
    return httplib::Server::HandlerResponse::Unhandled;
  };
  options.post_routing = [&](const httplib::Request&, httplib::Response&) { ++calls; };
  options.logger = [&](const httplib::Request&, const httplib::Response&) { ++calls; };
  LimitedServer server(1, options);
  server.Start();
  EXPECT_EQ(server.Client().Get("/ok")->status, 200);
  server.StatsAtTheEnd();
  EXPECT_EQ(calls, 3);
}

TEST(HttplibServer, NamesTheFaultsOfItsOptions) {
  HttplibServerOptions options;
  options.retry_after_min = seconds(0);
  options.time_left_max = milliseconds(0);
  httplib::Server server;
  GrantedBulkhead bulkhead(1);
  const std::string message(LimitServer(server, *bulkhead, options).message());
  EXPECT_THAT(message, HasSubstr("retry_after_min (0 s)"));
  EXPECT_THAT(message, HasSubstr("time_left_max (0 ms)"));
}

TEST(EvenSpread, SendsClientsBackAtDifferentTimes) {
  internal::EvenSpread<seconds> spread(seconds(1), seconds(5));
  std::set<long long> values;
  for (int i = 0; i < 8; ++i) values.insert(spread.Next().count());
  EXPECT_EQ(values, (std::set<long long>{1, 2, 3, 4, 5}));
}

TEST(ParseRetryAfter, ReadsSecondsAndDates) {
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  const auto parse = [&](const char* value) {
    return internal::ParseRetryAfter(value, date, seconds(300)).value_or(seconds(-1)).count();
  };
  EXPECT_EQ(parse("7"), 7);
  EXPECT_EQ(parse("0"), 0);
  EXPECT_EQ(parse("999999999999"), 300);
  EXPECT_EQ(parse("Sun, 06 Nov 1994 08:50:00 GMT"), 23);
  EXPECT_EQ(parse("Mon, 07 Nov 1994 08:49:37 GMT"), 300);
  EXPECT_EQ(parse("Sun, 06 Nov 1994 08:49:00 GMT"), 0);
  for (const char* bad : {"", "-1", "soon", "1.5", "7 ", "Sun, 31 Feb 1994 08:49:37 GMT",
                          "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
                          "99999999999999999999999"}) {
    EXPECT_EQ(parse(bad), -1) << bad;
  }
  EXPECT_FALSE(internal::ParseRetryAfter("Sun, 06 Nov 1994 08:50:00 GMT", "", seconds(300)));
}

}  // namespace
}  // namespace plimsoll
