#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "agent/src/transport.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/wire/codec.h"
#include "tests/unit/agent/tiny_http_server.h"

namespace plimsoll::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr std::size_t kTooLarge = (1 << 20) + 1;

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

std::string Response(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// A controller of which the test writes the answers.
class HttpTransportTest : public ::testing::Test {
 protected:
  // The connection is closed first, so that the server can end.
  ~HttpTransportTest() override { transport_.reset(); }

  void Say(const std::string& words) {
    server_.SetHandler([words](const HttpMessage&, const HttpSender& send) { send(words); });
  }
  // Chunk after chunk, until the peer has had enough.
  void SayWithoutEnd(const std::string& chunk) {
    server_.SetHandler([chunk](const HttpMessage&, const HttpSender& send) {
      send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      while (send(chunk)) {
      }
    });
  }
  // How a sync failed; OK if it did not.
  absl::Status SyncFailure(absl::Duration timeout = kPatience) {
    const Answer answer = transport_->Exchange(0, MakeSyncRequest(), timeout);
    const auto* none = std::get_if<NoAnswer>(&answer);
    return none == nullptr ? absl::OkStatus() : none->why;
  }

  TinyHttpServer server_;
  std::unique_ptr<Transport> transport_ = MakeHttpTransport({server_.address()}, absl::Seconds(10));
};

TEST_F(HttpTransportTest, TheLeaderOfARefusalIsFoundAmongTheAddresses) {
  transport_ = MakeHttpTransport({server_.address(), "http://[::1]:7481", "http://10.0.0.7:7481"},
                                 absl::Seconds(10));
  const auto refuse = [this](const std::string& leader) {
    Problem problem;
    problem.status = 421;
    problem.code = "NOT_LEADER";
    problem.leader = leader;
    Say(Response("421 Misdirected Request", Encode(problem)));
    const Answer answer = transport_->Exchange(0, MakeSyncRequest(), kPatience);
    EXPECT_EQ(std::get<Refusal>(answer).code, RefusalCode::kNotLeader);
    return transport_->leader();
  };
  EXPECT_EQ(refuse("http://10.0.0.7:7481"), 2u);
  EXPECT_EQ(refuse("http://[::1]:7481"), 1u);
  EXPECT_EQ(refuse("http://10.0.0.8:7481"), std::nullopt) << "no other is believed";
  EXPECT_EQ(refuse("https://10.0.0.7:7481"), std::nullopt);
  EXPECT_EQ(refuse("nonsense"), std::nullopt);
}

TEST_F(HttpTransportTest, EachShardHasRoutesOfItsOwn) {
  transport_ = MakeHttpTransport({server_.address()}, absl::Seconds(10), {}, 3);
  Say(Response("201 Created", Encode(MakeAnswer())));
  transport_->Exchange(0, MakeRegisterRequest(), kPatience);
  Say(Response("200 OK", Encode(MakeSyncAnswer())));
  transport_->Exchange(0, MakeSyncRequest(), kPatience);
  EXPECT_EQ(server_.Messages().at(0).first_line(), "POST /v1/agent/shards/3/sessions HTTP/1.1");
  EXPECT_EQ(server_.Messages().at(1).first_line(),
            "POST /v1/agent/shards/3/sessions/7-42/sync HTTP/1.1");
}

TEST_F(HttpTransportTest, ARefusalTellsHowManyShardsThereAre) {
  Problem problem;
  problem.status = 400;
  problem.code = "AGENT_TOO_OLD";
  problem.shards = 6;
  Say(Response("400 Bad Request", Encode(problem)));
  transport_->Exchange(0, MakeRegisterRequest(), kPatience);
  EXPECT_EQ(transport_->shards(), 6);
  problem.shards = 0;
  Say(Response("400 Bad Request", Encode(problem)));
  transport_->Exchange(0, MakeRegisterRequest(), kPatience);
  EXPECT_EQ(transport_->shards(), std::nullopt);
}

TEST_F(HttpTransportTest, ARegistrationIsPostedAsTheContractSays) {
  Say(Response("201 Created", Encode(MakeAnswer())));
  const Answer answer = transport_->Exchange(0, MakeRegisterRequest(), kPatience);
  ASSERT_TRUE(std::holds_alternative<RegisterAnswer>(answer));
  EXPECT_EQ(std::get<RegisterAnswer>(answer), MakeAnswer());
  const HttpMessage seen = server_.Messages().at(0);
  EXPECT_EQ(seen.first_line(), "POST /v1/agent/sessions HTTP/1.1");
  EXPECT_THAT(seen.head, HasSubstr("Content-Type: application/json"));
  EXPECT_EQ(seen.body, Encode(MakeRegisterRequest()));
}

TEST_F(HttpTransportTest, ASyncIsPostedToItsSession) {
  Say(Response("200 OK", Encode(MakeSyncAnswer())));
  const Answer answer = transport_->Exchange(0, MakeSyncRequest(), kPatience);
  ASSERT_TRUE(std::holds_alternative<SyncAnswer>(answer));
  EXPECT_EQ(std::get<SyncAnswer>(answer), MakeSyncAnswer());
  const HttpMessage seen = server_.Messages().at(0);
  EXPECT_EQ(seen.first_line(), "POST /v1/agent/sessions/7-42/sync HTTP/1.1");
  EXPECT_EQ(seen.body, Encode(MakeSyncRequest()));
}

TEST_F(HttpTransportTest, AReleaseDeletesItsSession) {
  Say("HTTP/1.1 204 No Content\r\n\r\n");
  const Answer answer = transport_->Exchange(0, ReleaseRequest{SessionId("7-42")}, kPatience);
  EXPECT_TRUE(std::holds_alternative<ReleaseAnswer>(answer));
  EXPECT_EQ(server_.Messages().at(0).first_line(), "DELETE /v1/agent/sessions/7-42 HTTP/1.1");
}

TEST_F(HttpTransportTest, OneConnectionServesManyMessages) {
  Say(Response("200 OK", Encode(MakeSyncAnswer())));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(SyncFailure().ok());
  EXPECT_EQ(server_.Messages().at(2).connection, 0);
}

TEST_F(HttpTransportTest, AProblemDocumentIsARefusal) {
  Problem problem;
  problem.status = 404;
  problem.code = "SESSION_UNKNOWN";
  problem.detail = "register again";
  problem.epoch = Epoch(8);
  Say(Response("404 Not Found", Encode(problem)));
  const Answer answer = transport_->Exchange(0, MakeSyncRequest(), kPatience);
  ASSERT_TRUE(std::holds_alternative<Refusal>(answer));
  EXPECT_EQ(std::get<Refusal>(answer),
            (Refusal{RefusalCode::kSessionUnknown, "register again", Epoch(8)}));
}

TEST_F(HttpTransportTest, AnErrorWithoutAProblemDocumentIsNoAnswer) {
  Say(Response("502 Bad Gateway", "<html>Bad Gateway</html>"));
  const absl::Status status = SyncFailure();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("HTTP 502"));
}

TEST_F(HttpTransportTest, ARedirectIsNotFollowed) {
  Say("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(std::string(SyncFailure().message()), HasSubstr("HTTP 302"));
}

TEST_F(HttpTransportTest, ABodyThatIsNotWhatItShouldBeIsNoAnswer) {
  for (const char* body :
       {"", "{", "[]", "null", "{\"epoch\":-1}", "\xff\xfe", "{\"epoch\":1e99}"}) {
    Say(Response("200 OK", body));
    const absl::Status status = SyncFailure();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << body;
    EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be understood")) << body;
  }
}

TEST_F(HttpTransportTest, AnAnswerOfMoreThanAMebibyteIsNotReadToItsEnd) {
  Say(Response("200 OK", std::string(kTooLarge, ' ')));
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(HttpTransportTest, AnAnswerWithoutEndIsNotReadForEver) {
  SayWithoutEnd("1000\r\n" + std::string(0x1000, ' ') + "\r\n");
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(HttpTransportTest, AHeaderWithoutEndIsNotReadForEver) {
  const std::string line = "X: " + std::string(1000, 'x') + "\r\n";
  server_.SetHandler([line](const HttpMessage&, const HttpSender& send) {
    send("HTTP/1.1 200 OK\r\n");
    while (send(line)) {
    }
  });
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(HttpTransportTest, ALongLineInTheHeaderIsRefusedBeforeItIsParsed) {
  for (const std::string start :
       {"HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: "}) {
    Say(start + std::string(1'000'000, 'x') + "\r\n\r\n{}");
    EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kDataLoss) << start;
  }
}

TEST_F(HttpTransportTest, ALineAsLongAsIsAllowedIsParsed) {
  const std::string text(1000, 'x');
  Say("HTTP/1.1 200 " + text + "\r\nX: " + text + "\r\nContent-Length: 11\r\n\r\n{\"epoch\":7}");
  EXPECT_THAT(std::string(SyncFailure().message()), HasSubstr("cannot be understood"));
}

TEST_F(HttpTransportTest, AnAnswerThatTricklesOnIsGivenUpAfterTheTimeout) {
  SayWithoutEnd("1\r\n \r\n");
  EXPECT_EQ(SyncFailure(absl::Milliseconds(20)).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(HttpTransportTest, AfterAnAnswerThatWasBrokenOffTheNextIsUnderstood) {
  Say(Response("200 OK", std::string(kTooLarge, ' ')));
  EXPECT_FALSE(SyncFailure().ok());
  Say(Response("200 OK", Encode(MakeSyncAnswer())));
  EXPECT_TRUE(SyncFailure().ok());
}

TEST_F(HttpTransportTest, AnAnswerThatDoesNotComeIsGivenUpAfterTheTimeout) {
  server_.SetHandler([](const HttpMessage&, const HttpSender&) {});
  const absl::Status status = SyncFailure(absl::Milliseconds(20));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("took too long"));
}

TEST_F(HttpTransportTest, AControllerThatIsNotThereIsNoAnswerAndIsNamed) {
  const std::string address = "http://127.0.0.1:1";
  const auto transport = MakeHttpTransport({server_.address(), address}, absl::Seconds(10));
  const Answer answer = transport->Exchange(1, MakeSyncRequest(), kPatience);
  ASSERT_TRUE(std::holds_alternative<NoAnswer>(answer));
  const absl::Status why = std::get<NoAnswer>(answer).why;
  EXPECT_EQ(why.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(why.message()), StartsWith("controller " + address));
}

TEST_F(HttpTransportTest, AnInterruptEndsAHeldExchange) {
  Gate arrived;
  server_.SetHandler([&](const HttpMessage&, const HttpSender&) { arrived.Open(); });
  std::thread other([&] {
    arrived.Pass();
    transport_->Interrupt();
  });
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kCancelled);
  other.join();
  Say(Response("200 OK", Encode(MakeSyncAnswer())));
  EXPECT_TRUE(SyncFailure().ok());
}

TEST_F(HttpTransportTest, AnInterruptThatComesTooEarlyEndsTheNextExchangeAndNoOther) {
  Say(Response("200 OK", Encode(MakeSyncAnswer())));
  transport_->Interrupt();
  EXPECT_EQ(SyncFailure().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(SyncFailure().ok());
}

TEST_F(HttpTransportTest, WhatIsNotHttpIsNoAnswer) {
  for (const std::string& words :
       {std::string("\r\n\r\n"), std::string("SSH-2.0-OpenSSH_9.2\r\n"),
        std::string(100'000, 'x') + "\n", std::string("HTTP/1.1 abc\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n"
                    "\x1f\x8b")}) {
    Say(words);
    EXPECT_FALSE(SyncFailure(absl::Seconds(1)).ok()) << words.substr(0, 60);
  }
}

}  // namespace
}  // namespace plimsoll::internal
