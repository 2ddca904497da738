// The demonstrations that offer load, as a user runs them, and whether those who judge their
// results find what is wrong with one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/examples/demo/child_process.h"
#include "agent/examples/demonstrations/cascade_report.h"
#include "agent/examples/demonstrations/overload_report.h"
#include "agent/examples/demonstrations/run_options.h"

namespace plimsoll::demonstrations {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<demo::ChildProcess> RunToEnd(const std::string& program,
                                             const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {std::string(PLIMSOLL_BIN_DIR) + "/" + program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  auto process = demo::ChildProcess::Start(command);
  EXPECT_TRUE(process.ok()) << process.status();
  EXPECT_TRUE((*process)->WaitFor(absl::Minutes(1)));
  return *std::move(process);
}

// What it printed with --json, having ended well.
json ResultOf(const std::string& program, const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const auto process = RunToEnd(program, arguments);
  const std::vector<std::string> lines = process->TakeLines();
  EXPECT_EQ(process->exit_code(), 0) << ::testing::PrintToString(lines);
  EXPECT_EQ(lines.size(), 1U) << "one JSON object on one line";
  return lines.empty() ? json() : json::parse(lines[0]);
}

double SumOf(const json& row, const std::vector<std::string>& keys) {
  double sum = 0;
  for (const std::string& key : keys) sum += row[key].get<double>();
  return sum;
}

TEST(CascadeTest, PoolsOfTheirOwnAndABreakerKeepTheHealthyDependencyUp) {
  // Of this seed, series of five failures come early and often.
  const json result = ResultOf("plimsoll-cascade", {"--seconds", "7", "--seed", "29"});
  SCOPED_TRACE(result.dump());
  EXPECT_TRUE(result["holds"]);
  const json& rows = result["rows"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_LE(rows[0]["percent_ok"].get<int>(), 60);
  EXPECT_GE(rows[0]["p99_ms"].get<double>(), 2000);
  EXPECT_GE(rows[2]["percent_ok"].get<int>(), 98);
  EXPECT_LE(rows[2]["p99_ms"].get<double>(), 250);
  EXPECT_GE(rows[3]["openings"].get<int>(), 1);
  EXPECT_EQ(rows[0]["offered"], rows[2]["offered"]) << "the arrivals are not the same";
  EXPECT_NEAR(rows[3]["offered"].get<double>(), 4 * 200, 160);
  for (const json& row : rows) {
    const double offered = row["offered"].get<double>();
    const double ok = row["percent_ok"].get<double>() / 100 * offered;
    const double others = SumOf(row, {"failed", "deadline", "queue_full", "breaker_open"});
    EXPECT_NEAR(ok + others, offered, 1 + offered / 200) << "each call has one end";
  }
}

TEST(OverloadTest, ABulkheadKeepsTheTargetAndLeavesNothingToRecoverFrom) {
  const json result = ResultOf("plimsoll-overload", {"--seconds", "6"});
  SCOPED_TRACE(result.dump());
  EXPECT_TRUE(result["holds"]);
  const json& rows = result["rows"];
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_LE(rows[1]["bulkhead_p99_ms"].get<double>(), 2 * 200);
  EXPECT_GE(rows[1]["unbounded_p99_ms"].get<double>(), 500);
  EXPECT_GT(rows[1]["bulkhead_in_time"].get<int>(), rows[1]["unbounded_in_time"].get<int>());
  EXPECT_GT(rows[1]["refused"].get<int>(), 0);
  EXPECT_NEAR(SumOf(rows[0], {"offered"}) + SumOf(rows[1], {"offered"}), 2 * 600, 200);
  EXPECT_LE(rows[5]["bulkhead_p99_ms"].get<double>(), 2 * 200);
  EXPECT_NEAR(SumOf(rows[4], {"offered"}) + SumOf(rows[5], {"offered"}), 2 * 280, 100);
}

TEST(LoadDemonstrationsTest, ArgumentsThatAreNotUnderstoodAreAUsageError) {
  for (const char* program : {"plimsoll-cascade", "plimsoll-overload"}) {
    EXPECT_EQ(RunToEnd(program, {"--sconds", "7"})->exit_code(), 2) << program;
    EXPECT_EQ(RunToEnd(program, {"--seconds", "1"})->exit_code(), 2) << program;
    EXPECT_EQ(RunToEnd(program, {"--help"})->exit_code(), 0) << program;
  }
}

TEST(RunOptionsTest, HasDefaultsAndNamesWhatItDoesNotUnderstand) {
  const auto defaults = ParseRunOptions({}, 6);
  ASSERT_TRUE(defaults.ok());
  EXPECT_EQ(defaults->seconds, 20);
  const auto chosen = ParseRunOptions({"--seed", "7", "--json", "--seconds", "8"}, 6);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->seed, 7U);
  EXPECT_EQ(chosen->seconds, 8);
  EXPECT_TRUE(chosen->json);
  EXPECT_THAT(ParseRunOptions({"--seed", "x"}, 6).status().message(), HasSubstr("'--seed'"));
  EXPECT_THAT(ParseRunOptions({"--seed"}, 6).status().message(), HasSubstr("'--seed'"));
  EXPECT_THAT(ParseRunOptions({"--seconds", "nan"}, 6).status().message(), HasSubstr("between 6"));
}

// The claims of a report that do not hold.
std::vector<std::string> Faults(const Report& report) {
  std::vector<std::string> faults;
  const json result = json::parse(report.Json());
  for (const json& claim : result["claims"]) {
    if (!claim["holds"]) faults.push_back(claim["claim"]);
  }
  return faults;
}

CallTally TallyOf(int offered, int succeeded, absl::Duration latency) {
  CallTally tally;
  tally.offered = offered;
  tally.succeeded = succeeded;
  for (int i = 0; i < succeeded; ++i) tally.latency.Record(latency);
  return tally;
}

CascadeResult AsClaimed() {
  CascadeResult result;
  result.shared.a = TallyOf(1000, 200, absl::Seconds(3));
  result.split.a = TallyOf(1000, 1000, absl::Milliseconds(5));
  result.split.b.refused[static_cast<std::size_t>(Rejection::kBreakerOpen)] = 1;
  result.split.breaker_openings = 1;
  return result;
}

TEST(CascadeFaultsTest, NamesWhatDidNotComeTrue) {
  EXPECT_THAT(Faults(CascadeReport(AsClaimed())), IsEmpty());
  const struct {
    std::string fault;
    std::function<void(CascadeResult&)> spoil;
  } cases[] = {
      {"suffers from B", [](auto& r) { r.shared.a = TallyOf(1000, 900, absl::Seconds(3)); }},
      {"near the time-out", [](auto& r) { r.shared.a = TallyOf(1000, 200, absl::Seconds(1)); }},
      {"does not notice", [](auto& r) { r.split.a = TallyOf(1000, 900, absl::Milliseconds(5)); }},
      {"is its own", [](auto& r) { r.split.a = TallyOf(1000, 1000, absl::Seconds(1)); }},
      {"breaker of B opens", [](auto& r) { r.split.breaker_openings = 0; }},
      {"breaker of B opens", [](auto& r) { r.split.b = {}; }},
  };
  for (const auto& each : cases) {
    CascadeResult result = AsClaimed();
    each.spoil(result);
    EXPECT_THAT(Faults(CascadeReport(result)), ElementsAre(HasSubstr(each.fault)));
  }
}

OverloadSpan Second(int offered, int in_time, absl::Duration latency) {
  OverloadSpan span;
  span.offered = offered;
  span.in_time = in_time;
  span.answered = 100;
  for (int i = 0; i < 100; ++i) span.latency.Record(latency);
  return span;
}

constexpr absl::Duration kGood = absl::Milliseconds(100);
constexpr absl::Duration kBad = absl::Seconds(3);

OverloadResult OverloadAsClaimed() {
  return {2,
          400,
          {Second(600, 0, kBad), Second(600, 0, kBad), Second(280, 0, kBad)},
          {Second(600, 390, kGood), Second(600, 390, kGood), Second(280, 280, kGood)}};
}

TEST(OverloadFaultsTest, NamesWhatDidNotComeTrue) {
  EXPECT_THAT(Faults(OverloadReport(OverloadAsClaimed())), IsEmpty());
  const struct {
    std::string fault;
    std::function<void(OverloadResult&)> spoil;
  } cases[] = {
      {"unbounded, the p99",
       [](auto& r) { r.without[0] = r.without[1] = Second(600, 0, 1.5 * kGood); }},
      {"can do", [](auto& r) { r.with[0] = r.with[1] = Second(600, 100, kGood); }},
      {"in time are", [](auto& r) { r.without[0] = Second(600, 900, kBad); }},
      {"takes longer", [](auto& r) { r.without[2] = Second(280, 0, kGood); }},
      {"not in the way", [](auto& r) { r.with[2].refused = 100; }},
  };
  for (const auto& each : cases) {
    OverloadResult result = OverloadAsClaimed();
    each.spoil(result);
    EXPECT_THAT(Faults(OverloadReport(result)), ElementsAre(HasSubstr(each.fault)));
  }
  OverloadResult slow = OverloadAsClaimed();
  slow.with = slow.without;
  EXPECT_THAT(Faults(OverloadReport(slow)), ::testing::Contains(HasSubstr("keeps the p99")));
  EXPECT_THAT(Faults(OverloadReport(slow)), ::testing::Contains(HasSubstr("good again")));
}

TEST(SecondsToRecoverTest, CountsFromTheFallOfTheLoadToTheLastBadSecond) {
  const OverloadSpan good = Second(1, 1, kGood);
  const OverloadSpan bad = Second(1, 0, kBad);
  EXPECT_EQ(SecondsToRecover({good, good, good}, 1), 0U);
  EXPECT_EQ(SecondsToRecover({bad, bad, good}, 1), 1U);
  EXPECT_EQ(SecondsToRecover({bad, good, bad, good}, 1), 2U);
  EXPECT_EQ(SecondsToRecover({bad, good, bad}, 1), std::nullopt);
  EXPECT_EQ(SecondsToRecover({bad, good, OverloadSpan()}, 1), std::nullopt) << "no answers";
}

}  // namespace
}  // namespace plimsoll::demonstrations
