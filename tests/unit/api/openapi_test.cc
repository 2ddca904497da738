// The description of the API and the routes of the operator plane say the same.
#include "api/http/src/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_replace.h"
#include "api/http/src/operator_plane.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAreArray;

// "GET /v1/limits", with the names of its query parameters.
using OperationTable = std::map<std::string, std::set<std::string>>;

class NoController final : public ControllerView {
 public:
  void GetSnapshot(std::function<void(std::shared_ptr<const Snapshot>)> /*then*/) override {}
  void FindEvents(EventLog::Filter /*filter*/, int /*limit*/,
                  std::function<void(std::vector<LogEvent>)> /*then*/) override {}
  void GetEvent(std::string /*id*/,
                std::function<void(std::optional<LogEvent>)> /*then*/) override {}
  void Try(DependencyId /*dependency*/, SessionId /*session*/, std::vector<TrialWindow> /*windows*/,
           std::function<void(absl::StatusOr<std::vector<TrialDecision>>)> /*then*/) override {}
  void ReadAudit(int /*limit*/,
                 std::function<void(absl::StatusOr<std::vector<std::string>>)> /*then*/) override {}
  std::string Metrics(std::shared_ptr<const Snapshot> /*snapshot*/) override { return ""; }
  bool shutting_down() const override { return false; }
};

class NoChanges final : public Operations, public ChangeHost {
 public:
  ChangePlan Plan(const ChangeRequest& /*request*/, absl::Time /*now*/) override { return {}; }
  std::optional<ChangePlan> Expire(absl::Time /*now*/) override { return std::nullopt; }
  void Settle(const absl::Status& /*written*/) override {}
  std::optional<DependencyFacts> Find(const DependencyId& /*name*/) const override {
    return std::nullopt;
  }
  ConfigFacts config() const override { return {}; }
  std::vector<ChangeFault> Validate(const std::string& /*text*/) const override { return {}; }
  Question ReadQuestion(const std::string& /*body*/,
                        std::vector<ChangeFault>& /*faults*/) const override {
    return {};
  }
  void Commit(WriteBatch /*batch*/, std::function<void(absl::Status)> /*done*/) override {}
  void Tell(std::vector<Event> /*events*/, std::function<void()> /*done*/) override {}
};

OperationTable Served() {
  NoController controller;
  NoChanges changes;
  Console console;
  console.page = "<html>";
  const OperatorPlane plane(controller, HostCheck("127.0.0.1", {}), {"", "", "", "", "{}"},
                            RealClock(), {}, console, &changes, {{&changes, &changes}});
  OperationTable operations;
  plane.router().Visit([&operations](const Route& route) {
    // The description has no word for several segments, nor for any parameter.
    const std::string pattern = absl::StrReplaceAll(route.pattern, {{"*}", "}"}});
    std::set<std::string>& names = operations[std::string(route.method) + " " + pattern];
    names = {route.parameters.begin(), route.parameters.end()};
    names.erase(kAnyParameter);
  });
  return operations;
}

const Json& Resolve(const Json& document, const Json& value) {
  if (!value.contains("$ref")) return value;
  return document.at(Json::json_pointer(value["$ref"].get<std::string>().substr(1)));
}

void AddParameters(const Json& document, const Json& holder, std::set<std::string>& names) {
  if (!holder.contains("parameters")) return;
  for (const Json& parameter : holder["parameters"]) {
    const Json& resolved = Resolve(document, parameter);
    if (resolved["in"] == "query") names.insert(resolved["name"].get<std::string>());
  }
}

OperationTable Described() {
  const Json document = Json::parse(OpenapiJson());
  OperationTable operations;
  for (const auto& [path, item] : document["paths"].items()) {
    for (const char* method : {"get", "put", "patch", "post", "delete"}) {
      if (!item.contains(method)) continue;
      std::string key(method);
      for (char& c : key) c = static_cast<char>(c - 'a' + 'A');
      std::set<std::string>& names = operations[key + " " + path];
      AddParameters(document, item, names);
      AddParameters(document, item[method], names);
    }
  }
  return operations;
}

TEST(OpenapiTest, EveryRouteIsDescribedWithItsParameters) {
  const OperationTable described = Described();
  for (const auto& [operation, parameters] : Served()) {
    ASSERT_TRUE(described.contains(operation)) << operation << " is missing in api/openapi.yaml";
    EXPECT_THAT(described.at(operation), ElementsAreArray(parameters)) << operation;
  }
}

TEST(OpenapiTest, WhatIsDescribedIsServed) {
  const OperationTable served = Served();
  for (const auto& [operation, parameters] : Described()) {
    EXPECT_TRUE(served.contains(operation)) << operation << " is described and not served";
  }
}

TEST(OpenapiTest, EveryReferenceLeadsSomewhere) {
  const Json document = Json::parse(OpenapiJson());
  const std::function<void(const Json&)> check = [&](const Json& value) {
    if (value.is_object() && value.contains("$ref")) {
      const std::string reference = value["$ref"];
      EXPECT_TRUE(document.contains(Json::json_pointer(reference.substr(1)))) << reference;
    }
    if (value.is_structured()) {
      for (const Json& part : value) check(part);
    }
  };
  check(document);
}

TEST(OpenapiTest, NumbersAreNumbersAndQuotedTextIsText) {
  const Json document = Json::parse(OpenapiJson());
  EXPECT_EQ(document["openapi"], "3.1.0");
  EXPECT_EQ(document["info"]["version"], "v1");
  EXPECT_EQ(document["components"]["schemas"]["Seconds"]["type"], Json({"number", "null"}));
  EXPECT_EQ(document["components"]["schemas"]["Problem"]["properties"]["status"]["minimum"], 300);
}

}  // namespace
}  // namespace plimsoll::internal
