#include <gtest/gtest.h>

#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "plimsoll/agent/guard.h"
#include "plimsoll/middleware/httplib_client.h"
#include "tests/integration/middleware/granted_bulkhead.h"

namespace plimsoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A dependency that answers as the test says.
class HttplibClient : public ::testing::Test {
 protected:
  HttplibClient() {
    server_.Get(R"(/status/(\d+))", [](const httplib::Request& request, httplib::Response& answer) {
      answer.status = std::stoi(request.matches[1]);
      answer.set_header("Retry-After", "7");
      answer.set_content("body", "text/plain");
    });
    server_.Get("/left", [](const httplib::Request& request, httplib::Response& answer) {
      answer.set_content(request.get_header_value("Plimsoll-Time-Left-Ms"), "text/plain");
    });
    server_.Get("/layer", [this](const httplib::Request& request, httplib::Response& answer) {
      left_.push_back(request.get_header_value("Plimsoll-Retries-Left"));
      answer.set_header("Plimsoll-Retries-Used", "1");
      answer.status = 503;
    });
    server_.Get("/never", [this](const httplib::Request&, httplib::Response&) {
      release_.try_acquire_for(seconds(20));
    });
    server_.Get("/drips", [this](const httplib::Request&, httplib::Response& answer) {
      answer.set_chunked_content_provider("text/plain", [this](std::size_t, httplib::DataSink& s) {
        release_.try_acquire_for(milliseconds(20));
        return s.write("a", 1);
      });
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~HttplibClient() override {
    release_.release(8);
    server_.stop();
    thread_.join();
  }

  HttplibAnswer Get(const std::string& path, CallOptions call = {}) {
    httplib::Client client("127.0.0.1", port_);
    return Send(client, *bulkhead_, Request(path), call);
  }
  static httplib::Request Request(const std::string& path) {
    httplib::Request request;
    request.method = "GET";
    request.path = path;
    return request;
  }
  static CallOptions Within(milliseconds time) {
    CallOptions call;
    call.deadline = Deadline::In(time);
    return call;
  }

  GrantedBulkhead bulkhead_{1};
  int port_ = 0;
  std::chrono::nanoseconds paused_{0};
  std::vector<std::string> left_;  // retries that "/layer" was told to have

 private:
  std::counting_semaphore<> release_{0};
  httplib::Server server_;
  std::thread thread_;
};

TEST_F(HttplibClient, EndsThePermitByTheStatus) {
  const std::pair<const char*, Outcome> cases[] = {
      {"/status/200", Outcome::kSuccess},  {"/status/404", Outcome::kSuccess},
      {"/status/500", Outcome::kError},    {"/status/503", Outcome::kOverload},
      {"/status/429", Outcome::kOverload}, {"/status/504", Outcome::kTimeout},
  };
  for (const auto& [path, outcome] : cases) EXPECT_EQ(Get(path).outcome, outcome) << path;
  EXPECT_EQ(bulkhead_->stats().succeeded, 3);
  EXPECT_EQ(bulkhead_->stats().dropped, 3);
  EXPECT_EQ(bulkhead_->stats().leaked, 0);
}

TEST_F(HttplibClient, HandsOnTheAnswer) {
  const HttplibAnswer answer = Get("/status/503");
  EXPECT_EQ(answer.result->body, "body");
  EXPECT_EQ(answer.retry_after, seconds(7));
  EXPECT_FALSE(answer.rejection);
}

TEST_F(HttplibClient, SendsNothingWithoutAPermit) {
  const Admission taken = bulkhead_->TryAcquire();
  const HttplibAnswer answer = Get("/status/200");
  EXPECT_FALSE(answer.result);
  EXPECT_EQ(answer.rejection, Rejection::kLimit);
}

TEST_F(HttplibClient, SendsNothingAfterTheDeadline) {
  const DeadlineScope scope(Deadline::In(seconds(0)));
  EXPECT_EQ(Get("/status/200").rejection, Rejection::kDeadline);
  EXPECT_EQ(bulkhead_->in_flight(), 0);
}

TEST_F(HttplibClient, TellsTheTimeThatIsLeft) {
  const int left = std::stoi(Get("/left", Within(seconds(5))).result->body);
  EXPECT_LE(left, 5000);
  EXPECT_GT(left, 3000);
}

TEST_F(HttplibClient, CutsACallAtItsDeadline) {
  const Deadline start = Deadline::In(seconds(10));
  EXPECT_EQ(Get("/never", Within(milliseconds(100))).outcome, Outcome::kTimeout);
  EXPECT_GT(start.left(), seconds(5));
  EXPECT_EQ(bulkhead_->stats().dropped, 1);
}

TEST_F(HttplibClient, CutsAnAnswerThatDrips) {
  const Deadline start = Deadline::In(seconds(10));
  EXPECT_EQ(Get("/drips", Within(milliseconds(100))).outcome, Outcome::kTimeout);
  EXPECT_GT(start.left(), seconds(5));
}

TEST_F(HttplibClient, ACallerThatGivesUpSaysNothingOfTheDependency) {
  httplib::Request request = Request("/drips");
  request.content_receiver = [](const char*, std::size_t, std::uint64_t, std::uint64_t) {
    return false;
  };
  httplib::Client client("127.0.0.1", port_);
  EXPECT_EQ(Send(client, *bulkhead_, request).outcome, Outcome::kCancelled);
  EXPECT_EQ(bulkhead_->stats().ignored, 1);
}

TEST_F(HttplibClient, IsTheFunctionOfAGuard) {
  Guard guard({.bulkhead = &*bulkhead_}, {.pause = [this](auto pause) { paused_ = pause; }});
  httplib::Client client("127.0.0.1", port_);
  const auto result =
      guard.Call({.deadline = Deadline::In(seconds(60))}, [&](const Attempt& attempt) {
        HttplibAnswer answer = SendBy(attempt.deadline, client, Request("/status/503"));
        return std::pair(AttemptEnd(answer.outcome, answer.retry_after.value_or(seconds(0))),
                         std::move(answer));
      });
  EXPECT_EQ(result.attempts, 3);
  EXPECT_EQ(result.value->result->status, 503);
  EXPECT_GE(paused_, seconds(7));  // as the dependency asked for
  EXPECT_EQ(bulkhead_->stats().ended_by(Outcome::kOverload), 3);
}

// Attempts are counted over processes: the dependency tries once again for each that it is asked,
// so of four retries it has two, and this side the others.
TEST_F(HttplibClient, SharesItsRetriesWithTheDependency) {
  Guard guard({.bulkhead = &*bulkhead_}, {.retry = {.attempts_max = 5}, .pause = [](auto) {}});
  httplib::Client client("127.0.0.1", port_);
  const auto result = guard.Call([&](const Attempt& attempt) {
    return SendBy(attempt.deadline, client, Request("/layer")).outcome;
  });
  EXPECT_EQ(left_, (std::vector<std::string>{"4", "2", "0"}));
  EXPECT_EQ(result.attempts, 3);
  EXPECT_EQ(result.end, RetryEnd::kAttempts);
}

TEST_F(HttplibClient, TellsNothingOfRetriesWithoutABound) {
  EXPECT_EQ(Get("/layer").outcome, Outcome::kOverload);
  EXPECT_EQ(left_, std::vector<std::string>{""});
}

TEST_F(HttplibClient, ARefusedConnectionIsAnError) {
  httplib::Client client("127.0.0.1", 1);
  EXPECT_EQ(Send(client, *bulkhead_, Request("/")).outcome, Outcome::kError);
}

}  // namespace
}  // namespace plimsoll
