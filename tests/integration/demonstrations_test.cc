// The demonstrations as a user runs them. Each is a row of the table Demonstrations(): its program,
// and what the figures of its own table must be, within bounds that a busy machine keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "agent/examples/demo/child_process.h"
#include "agent/examples/demonstrations/report.h"

namespace plimsoll::demonstrations {
namespace {

using ::testing::AllOf;
using ::testing::Eq;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Matcher;

// What a number of the program's table must be: row from 0, key as in its JSON.
struct Figure {
  int row;
  std::string key;
  Matcher<double> matcher;
};

struct Demonstration {
  std::string program;
  int rows;
  std::string heads;  // the first columns of the table as people see it
  std::vector<Figure> figures;

  friend void PrintTo(const Demonstration& demonstration, std::ostream* out) {
    *out << demonstration.program;
  }
};

const std::vector<Demonstration>& Demonstrations() {
  static const auto& demonstrations = *new std::vector<Demonstration>{
      {"plimsoll-shedding",
       2,
       "server           admitted  refused",
       {{0, "admitted", Eq(40)},
        {0, "refused", Eq(0)},
        {0, "slowest_admitted_ms", Ge(500 / 3.0)},
        {1, "admitted", AllOf(Ge(4), Le(20))},
        {1, "refused", AllOf(Ge(20), Le(36))},
        {1, "slowest_admitted_ms", Le(3 * 50)},
        {1, "median_refusal_ms", Le(50)},
        {1, "slowest_refusal_ms", Le(3 * 50)}}},
      {"plimsoll-bulkheads",
       4,
       "pools ",
       {{0, "fastest_healthy_ms", Ge(300 / 3.0)},
        {0, "hung_refused", Eq(0)},
        {1, "slowest_healthy_ms", Le(3 * 80)},
        {1, "hung_refused", Eq(2)},
        {2, "slowest_healthy_ms", Le(3 * 80)},
        {3, "slowest_healthy_ms", Le(3 * 40)}}},
      {"plimsoll-priority",
       7,
       "call        class  in flight before",
       {{2, "in_flight_after", Eq(3)},   // best effort
        {3, "in_flight_after", Eq(3)},   // best effort, refused
        {4, "in_flight_after", Eq(4)},   // critical
        {5, "in_flight_after", Eq(5)},   // critical
        {6, "in_flight_after", Eq(5)}}}  // critical, refused
  };
  return demonstrations;
}

class DemonstrationsTest : public ::testing::TestWithParam<Demonstration> {
 protected:
  // What the program prints; it must succeed within 30 s.
  static std::vector<std::string> LinesOf(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {std::string(PLIMSOLL_BIN_DIR) + "/" + GetParam().program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto process = demo::ChildProcess::Start(command);
    if (!process.ok()) {
      ADD_FAILURE() << process.status();
      return {};
    }
    EXPECT_TRUE((*process)->WaitFor(absl::Seconds(30)));
    std::vector<std::string> lines = (*process)->TakeLines();
    EXPECT_EQ((*process)->exit_code(), 0) << ::testing::PrintToString(lines);
    return lines;
  }
};

TEST_P(DemonstrationsTest, ShowsWhatItClaims) {
  const std::vector<std::string> lines = LinesOf({"--json"});
  ASSERT_EQ(lines.size(), 1U) << "one JSON object on one line";
  SCOPED_TRACE(lines[0]);
  const nlohmann::json result = nlohmann::json::parse(lines[0]);
  EXPECT_TRUE(result["holds"]);
  ASSERT_EQ(result["rows"].size(), GetParam().rows);
  for (const Figure& figure : GetParam().figures) {
    const nlohmann::json& row = result["rows"][static_cast<std::size_t>(figure.row)];
    ASSERT_TRUE(row.contains(figure.key)) << figure.key;
    EXPECT_THAT(row[figure.key].get<double>(), figure.matcher) << figure.row << ' ' << figure.key;
  }
}

TEST_P(DemonstrationsTest, PrintsItsTableFirst) {
  const std::vector<std::string> lines = LinesOf({});
  ASSERT_GT(lines.size(), 2 + static_cast<std::size_t>(GetParam().rows));
  EXPECT_LE(2 + GetParam().rows, 10) << "the table is in the first ten lines";
  EXPECT_THAT(lines[1], ::testing::StartsWith(GetParam().heads));
}

INSTANTIATE_TEST_SUITE_P(All, DemonstrationsTest, ::testing::ValuesIn(Demonstrations()),
                         [](const auto& demonstration) {
                           return demonstration.param.program.substr(
                               std::string("plimsoll-").size());
                         });

// A report of one claim, as a demonstration makes it.
Report ReportThat(bool holds) {
  Report report("title", {"lane", "calls", "slowest call", "none"});
  report.AddRow({std::string("a"), 7, absl::Microseconds(1500), std::monostate()});
  report.AddRow({std::string("b"), 12, absl::Milliseconds(20)});
  report.Claim("calls are fast", true);
  report.Claim("calls are few", holds);
  return report;
}

class DemonstrationReportTest : public ::testing::Test {
 protected:
  int Run(const std::vector<std::string>& arguments, const absl::StatusOr<Report>& report) {
    return RunDemonstration(
        arguments, [&] { return report; }, out_, errors_);
  }

  std::ostringstream out_;
  std::ostringstream errors_;
};

TEST_F(DemonstrationReportTest, ATableForPeople) {
  EXPECT_EQ(Run({}, ReportThat(true)), 0);
  EXPECT_EQ(out_.str(),
            "title\n"
            "lane  calls  slowest call  none\n"
            "a         7        1.5 ms     -\n"
            "b        12         20 ms     -\n"
            "\n"
            "holds: calls are fast\n"
            "holds: calls are few\n");
}

TEST_F(DemonstrationReportTest, AnObjectForPrograms) {
  EXPECT_EQ(Run({"--json"}, ReportThat(true)), 0);
  EXPECT_EQ(out_.str(), R"({"holds":true,"rows":[{"lane":"a","calls":7,"slowest_call_ms":1.5},)"
                        R"({"lane":"b","calls":12,"slowest_call_ms":20.0}],)"
                        R"("claims":[{"claim":"calls are fast","holds":true},)"
                        R"({"claim":"calls are few","holds":true}]})"
                        "\n");
}

TEST_F(DemonstrationReportTest, AClaimThatDoesNotHoldEndsWithOne) {
  EXPECT_EQ(Run({}, ReportThat(false)), 1);
  EXPECT_THAT(out_.str(), HasSubstr("DOES NOT HOLD: calls are few"));
  EXPECT_EQ(Run({}, Report("title", {"lane"})), 1) << "nothing was claimed";
}

TEST_F(DemonstrationReportTest, ARunThatFailsEndsWithOne) {
  EXPECT_EQ(Run({"--json"}, absl::UnavailableError("no port")), 1);
  EXPECT_EQ(errors_.str(), "no port\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(DemonstrationReportTest, OtherArgumentsEndWithTwo) {
  EXPECT_EQ(Run({"--jsn"}, ReportThat(true)), 2);
  EXPECT_THAT(errors_.str(), HasSubstr("unknown arguments \"--jsn\""));
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace plimsoll::demonstrations
