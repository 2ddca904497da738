// The gateway's JSON, and endpoints that fail.
#include "plimsoll/store/etcd_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Json = nlohmann::json;

std::string Base64(const std::string& bytes) { return absl::Base64Escape(bytes); }

// An endpoint that answers what it is told to.
class Endpoint {
 public:
  struct Asked {
    std::string path;
    Json body;
    std::string authorization;
  };

  Endpoint() {
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      const MutexLock lock(mutex_);
      asked_.push_back({request.path, Json::parse(request.body, nullptr, false),
                        request.get_header_value("Authorization")});
      const auto [status, body] = answers_.size() > 1 ? answers_.front() : answers_.back();
      if (answers_.size() > 1) answers_.erase(answers_.begin());
      response.status = status;
      response.set_content(body, "application/json");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Endpoint() {
    server_.stop();
    thread_.join();
  }

  // In this order; the last for ever.
  void Answer(std::vector<std::pair<int, std::string>> answers) {
    const MutexLock lock(mutex_);
    answers_ = std::move(answers);
  }
  std::vector<Asked> asked() const {
    const MutexLock lock(mutex_);
    return asked_;
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  mutable Mutex mutex_;
  std::vector<std::pair<int, std::string>> answers_ ABSL_GUARDED_BY(mutex_) = {{200, "{}"}};
  std::vector<Asked> asked_ ABSL_GUARDED_BY(mutex_);
};

constexpr char kDone[] = R"({"header":{"revision":"9007199254740993"},"succeeded":true})";
// Nobody listens there.
constexpr char kDead[] = "http://127.0.0.1:1";

std::unique_ptr<Etcd> Client(std::vector<std::string> endpoints,
                             absl::Duration call = absl::Seconds(5)) {
  return MakeEtcdClient({.endpoints = std::move(endpoints)}, call, RealClock());
}

TEST(EtcdClientTest, ATransactionIsBase64AndLargeNumbersAreTexts) {
  Endpoint endpoint;
  endpoint.Answer({{200, kDone}});
  const auto result =
      Client({endpoint.url()})
          ->Txn({.compare = {{"k", EtcdCompare::Target::kCreateRevision, 9007199254740993, ""},
                             {"v", EtcdCompare::Target::kValue, 0, "7"}},
                 .success = {EtcdPut{"a", std::string("\0\xff", 2), 42}, EtcdDelete{"b", "c"}},
                 .failure = {EtcdRange{.key = "k", .limit = 1, .descending = true}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->succeeded);
  EXPECT_EQ(result->revision, 9007199254740993);
  const Json body = endpoint.asked().at(0).body;
  EXPECT_EQ(endpoint.asked().at(0).path, "/v3/kv/txn");
  EXPECT_EQ(body["compare"][0]["key"], Base64("k"));
  EXPECT_EQ(body["compare"][0]["target"], "CREATE");
  EXPECT_EQ(body["compare"][0]["create_revision"], "9007199254740993");
  EXPECT_EQ(body["compare"][1]["value"], Base64("7"));
  EXPECT_EQ(body["success"][0]["request_put"]["value"], Base64(std::string("\0\xff", 2)));
  EXPECT_EQ(body["success"][0]["request_put"]["lease"], "42");
  EXPECT_EQ(body["success"][1]["request_delete_range"]["range_end"], Base64("c"));
  EXPECT_EQ(body["failure"][0]["request_range"]["sort_order"], "DESCEND");
}

TEST(EtcdClientTest, AFailedGuardTellsWhatIsThere) {
  Endpoint endpoint;
  endpoint.Answer(
      {{200, absl::StrCat(R"({"header":{"revision":"8"},"responses":[{"response_range":{"header":)",
                          R"({"revision":"8"}}},{"response_range":{"kvs":[{"key":")", Base64("k"),
                          R"(","create_revision":"5","mod_revision":"6","value":")", Base64("x"),
                          R"(","lease":"9"}],"count":"2","more":true}}]})")}});
  const auto result = Client({endpoint.url()})->Txn({});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->succeeded);
  ASSERT_THAT(result->ranges, SizeIs(2));
  EXPECT_THAT(result->ranges[0].kvs, SizeIs(0));
  EXPECT_EQ(result->ranges[1].kvs.at(0), (EtcdKeyValue{"k", "x", 5, 6, 9}));
  EXPECT_TRUE(result->ranges[1].more);
}

TEST(EtcdClientTest, TheNextEndpointIsAskedAndStaysTheOneThatAnswers) {
  Endpoint sick;
  Endpoint well;
  sick.Answer({{503, R"({"error":"etcdserver: no leader","code":14})"}});
  well.Answer({{200, kDone}});
  const std::unique_ptr<Etcd> client = Client({kDead, sick.url(), well.url()});
  EXPECT_TRUE(client->Txn({}).ok());
  EXPECT_TRUE(client->Txn({}).ok());
  EXPECT_THAT(sick.asked(), SizeIs(1));
  EXPECT_THAT(well.asked(), SizeIs(2));
}

TEST(EtcdClientTest, IfNobodyAnswersItSaysWhereAndWhatToDo) {
  const absl::Status status = Client({kDead, "http://127.0.0.1:2"})->Txn({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(kDead), HasSubstr("http://127.0.0.1:2"), HasSubstr("/v3/kv/txn"),
                    HasSubstr("state.etcd.endpoints")));
}

TEST(EtcdClientTest, ACallEndsInTimeWhenAnEndpointIsSilent) {
  httplib::Server silent;
  const int port = silent.bind_to_any_port("127.0.0.1");  // and never accepts
  const Instant begin = RealClock().Now();
  const std::unique_ptr<Etcd> client =
      Client({absl::StrCat("http://127.0.0.1:", port)}, absl::Milliseconds(200));
  EXPECT_EQ(client->Txn({}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_LT(RealClock().Now() - begin, absl::Seconds(2));
}

TEST(EtcdClientTest, ARefusalMeansThatNothingWasDone) {
  Endpoint endpoint;
  endpoint.Answer({{400, R"({"error":"mvcc: required revision has been compacted","code":11})"}});
  EXPECT_EQ(Client({endpoint.url()})->Range({.key = "k"}).status().code(),
            absl::StatusCode::kOutOfRange);
  endpoint.Answer({{429, R"({"error":"etcdserver: mvcc: database space exceeded","code":8})"}});
  EXPECT_EQ(Client({endpoint.url()})->Txn({}).status().code(),
            absl::StatusCode::kResourceExhausted);
  endpoint.Answer({{404, R"({"error":"etcdserver: requested lease not found","code":5})"}});
  EXPECT_EQ(Client({endpoint.url()})->Txn({}).status().code(), absl::StatusCode::kNotFound);
}

TEST(EtcdClientTest, ARefusalAfterASilenceMeansThatNothingIsKnown) {
  Endpoint silent;
  Endpoint full;
  silent.Answer({{504, R"({"error":"etcdserver: request timed out","code":14})"}});
  full.Answer({{429, R"({"error":"database space exceeded","code":8})"}});
  EXPECT_EQ(Client({silent.url(), full.url()})->Txn({}).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(EtcdClientTest, WhatIsNotEtcdIsSaidToBe) {
  Endpoint endpoint;
  for (const char* body : {"<html>", "{}", "[]", R"({"header":{"revision":"x"}})"}) {
    endpoint.Answer({{200, body}});
    EXPECT_THAT(std::string(Client({endpoint.url()})->Txn({}).status().message()),
                HasSubstr("not etcd's"))
        << body;
  }
}

TEST(EtcdClientTest, ALeaseIsGrantedKeptAliveAndFoundToHaveEnded) {
  Endpoint endpoint;
  endpoint.Answer({{200, R"({"ID":"77","TTL":"5"})"},
                   {200, R"({"result":{"ID":"77","TTL":"5"}})"},
                   {200, R"({"result":{"ID":"77"}})"}});
  const std::unique_ptr<Etcd> client = Client({endpoint.url()});
  EXPECT_EQ(*client->Grant(absl::Seconds(5)), 77);
  EXPECT_EQ(*client->KeepAlive(77), absl::Seconds(5));
  EXPECT_EQ(client->KeepAlive(77).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(endpoint.asked().at(0).body["TTL"], "5");
  EXPECT_EQ(endpoint.asked().at(1).body["ID"], "77");
}

TEST(EtcdClientTest, AUserIsLetInAndAgainWhenTheTokenHasEnded) {
  Endpoint endpoint;
  endpoint.Answer({{200, R"({"token":"first"})"},
                   {200, kDone},
                   {401, R"({"error":"etcdserver: invalid auth token","code":16})"},
                   {200, R"({"token":"second"})"},
                   {200, kDone}});
  const std::unique_ptr<Etcd> client = MakeEtcdClient(
      {.endpoints = {endpoint.url()}, .user = "u", .password = "p"}, absl::Seconds(5), RealClock());
  EXPECT_TRUE(client->Txn({}).ok());
  EXPECT_TRUE(client->Txn({}).ok());
  const std::vector<Endpoint::Asked> asked = endpoint.asked();
  ASSERT_THAT(asked, SizeIs(5));
  EXPECT_EQ(asked[0].body, (Json{{"name", "u"}, {"password", "p"}}));
  EXPECT_EQ(asked[1].authorization, "first");
  EXPECT_EQ(asked[4].authorization, "second");
}

TEST(EtcdClientTest, WhoIsNotLetInIsToldWhatToLookAt) {
  Endpoint endpoint;
  endpoint.Answer(
      {{400, R"({"error":"authentication failed, invalid user or password","code":3})"}});
  const absl::Status status =
      MakeEtcdClient({.endpoints = {endpoint.url()}, .user = "u", .password = "p"},
                     absl::Seconds(5), RealClock())
          ->Txn({})
          .status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("state.etcd.password_file"));
}

TEST(EtcdClientTest, AccessIsChecked) {
  EXPECT_TRUE(Validate(EtcdAccess{.endpoints = {"https://a.example:2379"}}).ok());
  EXPECT_THAT(std::string(Validate(EtcdAccess{}).message()), HasSubstr("endpoints is empty"));
  for (const char* bad : {"127.0.0.1:2379", "http://", "http://a:1/x", "ftp://a:1"}) {
    EXPECT_FALSE(Validate(EtcdAccess{.endpoints = {bad}}).ok()) << bad;
  }
  EXPECT_FALSE(Validate(EtcdAccess{.endpoints = {kDead}, .cert_file = "x"}).ok());
  EXPECT_FALSE(Validate(EtcdAccess{.endpoints = {kDead}, .user = "x"}).ok());
}

}  // namespace
}  // namespace plimsoll
