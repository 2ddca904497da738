#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "agent/src/transport.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::Duration kPatience = absl::Seconds(60);

// A door that opens once. Thread-safe.
class Gate {
 public:
  void Open() {
    const MutexLock lock(mutex_);
    open_ = true;
    opened_.NotifyAll();
  }
  void Pass() {
    const MutexLock lock(mutex_);
    while (!open_) opened_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

RegisterRequest MakeRegisterRequest() {
  RegisterRequest request;
  request.service = ServiceId("checkout");
  request.instance = InstanceId("checkout-0");
  request.agent_version = "0.1.0";
  request.nonce = "0123456789abcdef";
  request.dependencies = {DependencyId("payments-api")};
  return request;
}

SyncRequest MakeSyncRequest() {
  SyncRequest request;
  request.session = SessionId("7-42");
  request.n = SyncNumber(3);
  request.epoch = Epoch(7);
  request.hold = absl::Seconds(1);
  return request;
}

RegisterAnswer MakeAnswer() {
  RegisterAnswer answer;
  answer.session = SessionId("7-42");
  answer.epoch = Epoch(7);
  answer.hold_max = absl::Seconds(1);
  answer.sync_min = absl::Milliseconds(50);
  return answer;
}

SyncAnswer MakeSyncAnswer() {
  SyncAnswer answer;
  answer.epoch = Epoch(7);
  return answer;
}

// A controller of which the test writes the answers.
class HttpTransportTest : public ::testing::Test {
 protected:
  using Handler = std::function<void(const httplib::Request&, httplib::Response&)>;

  HttpTransportTest() {
    const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
      CurrentHandler()(request, response);
    };
    server_.Post(".*", handle);
    server_.Delete(".*", handle);
    server_.set_tcp_nodelay(true);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
    transport_ = MakeHttpTransport({AddressOf(port_)}, absl::Seconds(10));
  }
  ~HttpTransportTest() override {
    transport_.reset();
    server_.stop();
    thread_.join();
  }

  static std::string AddressOf(int port) { return "http://127.0.0.1:" + std::to_string(port); }
  static Handler Respond(int status, const std::string& body) {
    return [status, body](const httplib::Request&, httplib::Response& response) {
      response.status = status;
      response.set_content(body, "application/json");
    };
  }
  absl::Status SyncFailure(absl::Duration timeout = kPatience) {
    const Answer answer = transport_->Exchange(0, MakeSyncRequest(), timeout);
    const auto* none = std::get_if<NoAnswer>(&answer);
    return none == nullptr ? absl::OkStatus() : none->why;
  }

  // A handler may still be running when the test goes on: it keeps what it runs.
  void SetHandler(Handler handler) {
    const MutexLock lock(mutex_);
    handler_ = std::move(handler);
  }
  Handler CurrentHandler() {
    const MutexLock lock(mutex_);
    return handler_;
  }

  Mutex mutex_;
  Handler handler_ ABSL_GUARDED_BY(mutex_);
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(HttpTransportTest, ARegistrationIsPostedAsTheContractSays) {
  httplib::Request seen;
  SetHandler([&](const httplib::Request& request, httplib::Response& response) {
    seen = request;
    response.status = 201;
    response.set_content(Encode(MakeAnswer()), "application/json");
  });
  const Answer answer = transport_->Exchange(0, MakeRegisterRequest(), kPatience);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/v1/agent/sessions");
  EXPECT_EQ(seen.get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(seen.body, Encode(MakeRegisterRequest()));
  ASSERT_TRUE(std::holds_alternative<RegisterAnswer>(answer));
  EXPECT_EQ(std::get<RegisterAnswer>(answer), MakeAnswer());
}

TEST_F(HttpTransportTest, ASyncIsPostedToItsSession) {
  httplib::Request seen;
  SetHandler([&](const httplib::Request& request, httplib::Response& response) {
    seen = request;
    response.set_content(Encode(MakeSyncAnswer()), "application/json");
  });
  const Answer answer = transport_->Exchange(0, MakeSyncRequest(), kPatience);
  EXPECT_EQ(seen.path, "/v1/agent/sessions/7-42/sync");
  EXPECT_EQ(seen.body, Encode(MakeSyncRequest()));
  ASSERT_TRUE(std::holds_alternative<SyncAnswer>(answer));
  EXPECT_EQ(std::get<SyncAnswer>(answer), MakeSyncAnswer());
}

TEST_F(HttpTransportTest, AReleaseDeletesItsSession) {
  httplib::Request seen;
  SetHandler([&](const httplib::Request& request, httplib::Response& response) {
    seen = request;
    response.status = 204;
  });
  const Answer answer = transport_->Exchange(0, ReleaseRequest{SessionId("7-42")}, kPatience);
  EXPECT_EQ(seen.method, "DELETE");
  EXPECT_EQ(seen.path, "/v1/agent/sessions/7-42");
  EXPECT_TRUE(std::holds_alternative<ReleaseAnswer>(answer));
}

TEST_F(HttpTransportTest, OneConnectionServesManyMessages) {
  std::vector<int> ports;
  SetHandler([&](const httplib::Request& request, httplib::Response& response) {
    ports.push_back(request.remote_port);
    response.set_content(Encode(MakeSyncAnswer()), "application/json");
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(SyncFailure().ok());
  EXPECT_THAT(ports, ::testing::ElementsAre(ports[0], ports[0], ports[0]));
}

TEST_F(HttpTransportTest, AProblemDocumentIsARefusal) {
  Problem problem;
  problem.status = 404;
  problem.code = "SESSION_UNKNOWN";
  problem.detail = "register again";
  problem.epoch = Epoch(8);
  SetHandler(Respond(404, Encode(problem)));
  const Answer answer = transport_->Exchange(0, MakeSyncRequest(), kPatience);
  ASSERT_TRUE(std::holds_alternative<Refusal>(answer));
  EXPECT_EQ(std::get<Refusal>(answer),
            (Refusal{RefusalCode::kSessionUnknown, "register again", Epoch(8)}));
}

TEST_F(HttpTransportTest, AnErrorWithoutAProblemDocumentIsNoAnswer) {
  SetHandler(Respond(502, "<html>Bad Gateway</html>"));
  const absl::Status status = SyncFailure();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("HTTP 502"));
}

TEST_F(HttpTransportTest, ARedirectIsNotFollowed) {
  SetHandler([](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("http://127.0.0.1:1/elsewhere");
  });
  EXPECT_THAT(std::string(SyncFailure().message()), HasSubstr("HTTP 302"));
}

TEST_F(HttpTransportTest, ABodyThatIsNotWhatItShouldBeIsNoAnswer) {
  for (const char* body :
       {"", "{", "[]", "null", "{\"epoch\":-1}", "\xff\xfe", "{\"epoch\":1e99}"}) {
    SetHandler(Respond(200, body));
    const absl::Status status = SyncFailure();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << body;
    EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be understood")) << body;
  }
}

TEST_F(HttpTransportTest, AnAnswerOfMoreThanAMebibyteIsNotReadToItsEnd) {
  SetHandler(Respond(200, std::string((1 << 20) + 1, ' ')));
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(HttpTransportTest, AnAnswerWithoutEndIsNotReadForEver) {
  SetHandler([](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("application/json",
                                          [](std::size_t, httplib::DataSink& sink) {
                                            const std::string spaces(4096, ' ');
                                            return sink.write(spaces.data(), spaces.size());
                                          });
  });
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(HttpTransportTest, AnAnswerThatTricklesOnIsGivenUpAfterTheTimeout) {
  SetHandler([](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider(
        "application/json",
        [](std::size_t, httplib::DataSink& sink) { return sink.write(" ", 1); });
  });
  EXPECT_EQ(SyncFailure(absl::Milliseconds(20)).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(HttpTransportTest, AfterAnAnswerThatWasBrokenOffTheNextIsUnderstood) {
  SetHandler(Respond(200, std::string((1 << 20) + 1, ' ')));
  EXPECT_FALSE(SyncFailure().ok());
  SetHandler(Respond(200, Encode(MakeSyncAnswer())));
  EXPECT_TRUE(SyncFailure().ok());
}

TEST_F(HttpTransportTest, AnAnswerThatDoesNotComeIsGivenUpAfterTheTimeout) {
  const auto gate = std::make_shared<Gate>();
  SetHandler([gate](const httplib::Request&, httplib::Response&) { gate->Pass(); });
  const absl::Status status = SyncFailure(absl::Milliseconds(20));
  gate->Open();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not answer"));
}

TEST_F(HttpTransportTest, AControllerThatIsNotThereIsNoAnswerAndIsNamed) {
  const std::string address = AddressOf(1);
  const auto transport = MakeHttpTransport({address}, absl::Seconds(10));
  const Answer answer = transport->Exchange(0, MakeSyncRequest(), kPatience);
  ASSERT_TRUE(std::holds_alternative<NoAnswer>(answer));
  const absl::Status why = std::get<NoAnswer>(answer).why;
  EXPECT_EQ(why.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(why.message()), StartsWith("controller " + address));
}

TEST_F(HttpTransportTest, AnInterruptEndsAHeldExchange) {
  const auto arrived = std::make_shared<Gate>();
  const auto leave = std::make_shared<Gate>();
  SetHandler([arrived, leave](const httplib::Request&, httplib::Response&) {
    arrived->Open();
    leave->Pass();
  });
  std::thread other([&] {
    arrived->Pass();
    transport_->Interrupt();
  });
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kCancelled);
  leave->Open();
  other.join();
  SetHandler(Respond(200, Encode(MakeSyncAnswer())));
  EXPECT_TRUE(SyncFailure().ok());
}

TEST_F(HttpTransportTest, AnInterruptThatComesTooEarlyEndsTheNextExchangeAndNoOther) {
  SetHandler(Respond(200, Encode(MakeSyncAnswer())));
  transport_->Interrupt();
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(SyncFailure().ok());
}

// Listens, and says the same words to whoever connects.
class RudeServer {
 public:
  explicit RudeServer(std::string words) : words_(std::move(words)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~RudeServer() {
    thread_.join();
    close(listener_);
  }

  int port() const { return port_; }

 private:
  void Serve() const {
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    char ignored[4096];
    static_cast<void>(recv(connection, ignored, sizeof(ignored), 0));
    static_cast<void>(send(connection, words_.data(), words_.size(), MSG_NOSIGNAL));
    shutdown(connection, SHUT_WR);
    while (recv(connection, ignored, sizeof(ignored), 0) > 0) {
    }
    close(connection);
  }

  const std::string words_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

TEST(HttpTransportRudeTest, WhatIsNotHttpIsNoAnswer) {
  for (const std::string& words :
       {std::string(), std::string("\r\n\r\n"), std::string("SSH-2.0-OpenSSH_9.2\r\n"),
        std::string(100'000, 'x'), std::string("HTTP/1.1 abc\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"),
        std::string(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b")}) {
    const RudeServer server(words);
    const auto transport =
        MakeHttpTransport({"http://127.0.0.1:" + std::to_string(server.port())}, absl::Seconds(10));
    const Answer answer = transport->Exchange(0, MakeSyncRequest(), absl::Seconds(10));
    EXPECT_TRUE(std::holds_alternative<NoAnswer>(answer)) << words.substr(0, 60);
  }
}

}  // namespace
}  // namespace plimsoll::internal
