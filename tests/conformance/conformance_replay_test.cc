// The program from outside: exit status and what it prints.

#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace plimsoll {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kTraces = std::string(PLIMSOLL_TRACES_DIR) + "/";

struct Outcome {
  int exit_status = -1;
  std::string output;
};

Outcome Replay(const std::string& files) {
  const std::string command = std::string(PLIMSOLL_REPLAY_PROGRAM) + " " + files + " 2>&1";
  Outcome outcome;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  for (std::size_t read = 0; (read = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.output.append(buffer.data(), read);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
  return outcome;
}

json Load(const std::string& name) {
  std::ifstream input(kTraces + name);
  return json::parse(input);
}

// Each test writes under a name of its own, because tests run side by side.
std::string Save(const std::string& name, const std::string& text) {
  std::string path = std::string(PLIMSOLL_SCRATCH_DIR) + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(ConformanceReplayTest, SaysThatATraceAgrees) {
  const Outcome outcome = Replay(kTraces + "aimd-steady.json");
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.output, kTraces + "aimd-steady.json: agrees (300 samples)\n");
}

TEST(ConformanceReplayTest, CountsTheSamplesOfKnownAnswers) {
  const Outcome outcome = Replay(kTraces + "known-answers.json");
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("agrees (19 samples)"));
}

TEST(ConformanceReplayTest, FindsASingleAlteredLimit) {
  json document = Load("gradient2-step-2x.json");
  const int right = document["limits"][123];
  document["limits"][123] = right + 1;
  const std::string path = Save("altered_limit.json", document.dump());
  const Outcome outcome = Replay(path);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.output, HasSubstr(path + ": differs: sample 123 ["));
  EXPECT_THAT(outcome.output, HasSubstr("expected limit " + std::to_string(right + 1) + ", got " +
                                        std::to_string(right)));
}

TEST(ConformanceReplayTest, FindsAnAlteredInitialLimit) {
  json document = Load("aimd-steady.json");
  document["initial_limit"] = 19;
  const Outcome outcome = Replay(Save("altered_initial.json", document.dump()));
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("before the first sample: expected limit 19, got 20"));
}

TEST(ConformanceReplayTest, FindsTheLastBitOfTheFinalState) {
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"gradient2-closed-loop", "estimatedLimit"}, {"gradient2-closed-loop", "longRtt"},
      {"vegas-closed-loop", "estimatedLimit"},     {"vegas-closed-loop", "rtt_noload"},
      {"vegas-closed-loop", "probeCount"},         {"gradient-closed-loop", "estimatedLimit"},
      {"gradient-closed-loop", "rttNoLoad"},       {"gradient-closed-loop", "resetRttCounter"},
      {"windowed-closed-loop", "estimatedLimit"}};
  for (const auto& [name, key] : keys) {
    json document = Load(name + ".json");
    document["final_state"][key] = std::nextafter(document["final_state"][key].get<double>(), 0);
    const Outcome outcome = Replay(Save("altered_" + name + "_" + key + ".json", document.dump()));
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_THAT(outcome.output, HasSubstr("final state, " + key + ": expected "));
  }
}

TEST(ConformanceReplayTest, GoesOnAfterADifferenceAndStillFails) {
  json document = Load("aimd-steady.json");
  document["limits"][0] = 1;
  const std::string altered = Save("altered_first.json", document.dump());
  const Outcome outcome = Replay(altered + " " + kTraces + "aimd-steady.json");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("aimd-steady.json: agrees"));
}

TEST(ConformanceReplayTest, DoesNotTakeAnUnsupportedAlgorithmForAgreement) {
  json document = Load("aimd-steady.json");
  document["algorithm"] = "other";
  const std::string path = Save("unsupported.json", document.dump());
  const Outcome outcome = Replay(kTraces + "aimd-steady.json " + path);
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_THAT(outcome.output, HasSubstr(path + ": the algorithm \"other\" is not supported"));
}

TEST(ConformanceReplayTest, RefusesWhatItCannotRead) {
  EXPECT_EQ(Replay("").exit_status, 2);
  EXPECT_EQ(Replay("/nowhere/a.json").exit_status, 2);
  EXPECT_EQ(Replay(PLIMSOLL_TRACES_DIR).exit_status, 2);
  EXPECT_EQ(Replay(Save("malformed.json", "{\"algorithm\": ")).exit_status, 2);
}

}  // namespace
}  // namespace plimsoll
