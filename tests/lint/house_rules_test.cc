#include "tests/lint/house_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace plimsoll::lint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HouseRulesTest : public ::testing::Test {
 protected:
  HouseRulesTest() {
    std::filesystem::remove_all(root_);
    for (const char* const folder :
         {"algorithms", "algorithms/core", "agent", "agent/examples", "controller",
          "controller/store", "controller/config", "controller/main", "controller/simulation",
          "api/http", "api/wire", "api/cli", "tests"}) {
      Write(std::string(folder) + "/README.md", "What it is.\n");
    }
  }
  ~HouseRulesTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  // What is reported, as "path:line: rule".
  std::vector<std::string> Check() const {
    std::vector<std::string> lines;
    for (const Violation& violation : CheckTree(root_)) {
      lines.push_back(violation.path + ":" + std::to_string(violation.line) + ": " +
                      violation.rule);
    }
    return lines;
  }

  const std::filesystem::path root_ =
      ::testing::TempDir() + "house_rules_" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(HouseRulesTest, ATidyTreeHasNoViolations) {
  Write("algorithms/src/law.cc", "#include <cmath>\n#include \"plimsoll/core/types.h\"\n");
  Write("controller/src/core.h", "#pragma once\n#include \"plimsoll/algorithms/algorithm.h\"\n");
  Write("tests/unit/x_test.cc", "#include <gtest/gtest.h>\n#include \"agent/src/session.h\"\n");
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(HouseRulesTest, EveryBadIncludeIsFoundWhereItStands) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"algorithms/src/a.cc", "\"plimsoll/controller/core.h\""},
      {"algorithms/src/a.cc", "\"plimsoll/core/clock.h\""},
      {"algorithms/src/a.cc", "<atomic>"},
      {"algorithms/core/src/a.cc", "\"plimsoll/algorithms/algorithm.h\""},
      {"agent/src/a.cc", "\"plimsoll/controller/policy.h\""},
      {"agent/src/a.cc", "<httplib.h>"},
      {"agent/include/plimsoll/agent/a.h", "\"plimsoll/core/types.h\""},
      {"agent/examples/a.cc", "\"plimsoll/controller/core.h\""},
      {"api/wire/src/a.cc", "\"plimsoll/controller/core.h\""},
      {"api/http/src/a.cc", "\"plimsoll/store/sqlite_store.h\""},
      {"api/http/src/a.cc", "\"controller/src/ledger.h\""},
      {"api/cli/a.cc", "\"plimsoll/http/server.h\""},
      {"controller/src/a.cc", "<thread>"},
      {"controller/src/a.cc", "<sys/socket.h>"},
      {"controller/src/a.cc", "<nlohmann/json.hpp>"},
      {"controller/src/a.cc", "\"plimsoll/store/memory_store.h\""},
      {"controller/store/src/a.cc", "\"plimsoll/http/server.h\""},
      {"controller/store/src/memory_store.cc", "<sqlite3.h>"},
      {"controller/simulation/src/a.cc", "\"plimsoll/http/server.h\""},
      {"controller/simulation/src/a.cc", "\"plimsoll/store/etcd_client.h\""},
      {"api/cli/a.cc", "\"controller/main/config.h\""},
      {"controller/config/a.cc", "\"plimsoll/http/server.h\""},
      {"controller/main/a.cc", "\"plimsoll/agent/agent.h\""},
      {"controller/main/config.cc", "<yaml-cpp/yaml.h>"},
      {"controller/main/a.cc", "<boost/asio.hpp>"},
      {"controller/main/a.cc", "<prometheus/registry.h>"},
      {"api/http/src/a.cc", "\"tests/support/golden.h\""},
      {"api/http/src/a.cc", "<gtest/gtest.h>"},
  };
  for (const auto& [path, header] : cases) {
    Write(path, "#pragma once\n#include " + header + "\n");
    const std::vector<std::string> found = Check();
    ASSERT_FALSE(found.empty()) << path << " may include " << header;
    EXPECT_THAT(found[0], HasSubstr(path + ":2: ")) << header;
    std::filesystem::remove(root_ / path);
  }
}

TEST_F(HouseRulesTest, EveryBadCallIsFoundWhereItStands) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"agent/src/session.cc", "auto t = absl::Now();"},
      {"agent/src/limiter.cc", "auto t = std::chrono::steady_clock::now();"},
      {"controller/src/a.cc", "clock_gettime(1, &t);"},
      {"controller/src/a.cc", "std::random_device device;"},
      {"agent/src/a.cc", "std::mutex mutex;"},
      {"agent/src/a.cc", "absl::Mutex mutex;"},
      {"agent/src/a.cc", "std::condition_variable changed;"},
      {"agent/src/limiter.cc", "std::thread worker;"},
      {"controller/store/src/a.cc", "std::thread writer;"},
      {"api/http/src/a.cc", "std::this_thread::sleep_for(1s);"},
      {"tests/unit/a_test.cc", "absl::SleepFor(absl::Seconds(1));"},
      {"tests/unit/a_test.cc", "GTEST_SKIP();"},
      {"api/http/src/a.cc", "void F() ABSL_NO_THREAD_SAFETY_ANALYSIS;"},
  };
  for (const auto& [path, code] : cases) {
    Write(path, "\n" + code + "\n");
    EXPECT_THAT(Check(), ElementsAre(HasSubstr(path + ":2: "))) << code;
    std::filesystem::remove(root_ / path);
  }
}

TEST_F(HouseRulesTest, WhatIsConfinedIsAllowedWhereItBelongs) {
  Write("agent/src/http_transport.cc", "#include <httplib.h>\n");
  Write("agent/src/sync_loop.cc", "std::thread thread;\n");
  Write("agent/examples/a.cc", "std::this_thread::sleep_for(x);\n");
  Write("api/http/src/server.cc", "#include <boost/asio.hpp>\nstd::thread thread;\n");
  Write("controller/store/src/sqlite_store.cc", "#include <sqlite3.h>\n");
  Write("controller/config/yaml_tree.cc", "#include <yaml-cpp/yaml.h>\n");
  Write("tests/integration/a_test.cc", "std::this_thread::sleep_for(x);\n");
  Write("algorithms/core/src/clock.cc", "clock_gettime(id, &value);\n");
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(HouseRulesTest, CommentsStringsAndLongerWordsAreNoCalls) {
  Write("agent/src/a.cc",
        "// not a std::mutex\n"
        "const char* a = \"std::mutex\";\n"
        "/* std::mutex\n std::mutex */ int b;\n"
        "my_std::mutexes c;\n");
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(HouseRulesTest, AHeaderWithoutPragmaOnceIsFound) {
  Write("agent/src/a.h", "int a;\n");
  EXPECT_THAT(Check(), ElementsAre("agent/src/a.h:0: a header needs #pragma once"));
}

TEST_F(HouseRulesTest, AFileWithoutALastLineBreakIsFound) {
  Write("agent/src/a.cc", "int a;\nint b;");
  EXPECT_THAT(Check(), ElementsAre("agent/src/a.cc:2: the file must end with a line break"));
}

TEST_F(HouseRulesTest, ALineBeyondAHundredColumnsIsFoundAndBytesAreNotColumns) {
  std::string umlauts;
  for (int i = 0; i < 95; ++i) umlauts += "\u00fc";
  Write("agent/src/a.cc", "// " + umlauts + "\n// " + std::string(98, 'x') + "\n");
  EXPECT_THAT(Check(), ElementsAre("agent/src/a.cc:2: longer than 100 columns"));
}

TEST_F(HouseRulesTest, LeftoversAndPathsOfAMachineAreFoundInEveryText) {
  const std::string leftover = std::string("TO") + "DO";
  const std::string path = std::string("/wo") + "rk/main";
  Write("agent/src/a.cc", "// " + leftover + ": later\n");
  Write("agent/README.md", "See " + path + ".\n");
  Write("agent/CMakeLists.txt", "# " + std::string("FIX") + "ME\n");
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("agent/CMakeLists.txt:1"),
                                   HasSubstr("agent/README.md:1"), HasSubstr("agent/src/a.cc:1")));
}

TEST_F(HouseRulesTest, AFolderOfCodeWithoutReadmeIsFound) {
  std::filesystem::remove(root_ / "agent/README.md");
  Write("agent/src/deep/a.cc", "int a;\n");
  EXPECT_THAT(Check(), ElementsAre("agent:0: a folder with code needs a README.md"));
}

TEST_F(HouseRulesTest, WhatIsBuiltAndReferenceDataAreNotLookedAt) {
  const std::string leftover = std::string("// TO") + "DO\n";
  Write("build/dev/a.cc", leftover);
  Write("tests/conformance/netflix/a.json", leftover);
  EXPECT_THAT(Check(), IsEmpty());
}

}  // namespace
}  // namespace plimsoll::lint
