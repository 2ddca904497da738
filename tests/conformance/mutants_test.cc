// The traces are worth something only if they tell a wrong law from the right one. Which of floor
// and ceiling wins when they cross is the one thing they cannot tell, because they never cross
// there; tests/unit/algorithms looks at that.

#include "tests/conformance/mutants.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plimsoll/core/random.h"
#include "tests/conformance/made_runs.h"
#include "tests/conformance/replay.h"
#include "tests/conformance/trace.h"

namespace plimsoll {
namespace {

// The recorded traces of one law, known answers left out.
std::vector<Trace> TracesOf(const std::string& algorithm, std::size_t count) {
  std::vector<Trace> traces;
  const std::string prefix = algorithm + "-";
  for (const auto& entry : std::filesystem::directory_iterator(PLIMSOLL_TRACES_DIR)) {
    if (entry.path().filename().string().rfind(prefix, 0) != 0) continue;
    const auto file = ReadTraceFile(entry.path().string());
    EXPECT_TRUE(file.ok()) << file.status();
    if (file.ok()) traces.push_back(file->traces.front());
  }
  EXPECT_EQ(traces.size(), count) << prefix;
  return traces;
}

template <typename Fault>
bool Differs(const Trace& trace, Fault fault) {
  return FirstDifference(trace, *MakeMutant(trace.config, fault)).has_value();
}
bool Differs(const Trace& trace, WindowedFault fault) {
  const auto law = MakeAlgorithm(trace.config);
  EXPECT_TRUE(law.ok()) << law.status();
  return FirstDifference(trace, **law, MakeMutant(*trace.windowed, fault)).has_value();
}

std::vector<Trace> MadeRunsOf(const std::string& algorithm) {
  constexpr int kRuns = 40;
  Random random(3);
  std::vector<Trace> traces;
  for (int i = 0; i < kRuns; ++i) {
    const auto file = ParseTraceFile("made", MakeRun(random, algorithm).dump());
    EXPECT_TRUE(file.ok()) << file.status();
    if (file.ok()) traces.push_back(file->traces.front());
  }
  return traces;
}

template <typename Fault>
int CountDiffering(const std::vector<Trace>& traces, Fault fault) {
  return static_cast<int>(std::count_if(
      traces.begin(), traces.end(), [fault](const Trace& trace) { return Differs(trace, fault); }));
}

template <typename Fault>
void ExpectTracesFindEveryFault(const std::string& algorithm, std::size_t count) {
  const std::vector<Trace> recorded = TracesOf(algorithm, count);
  const std::vector<Trace> made = MadeRunsOf(algorithm);
  for (int i = 0; i < static_cast<int>(Fault::kEnd); ++i) {
    const auto fault = static_cast<Fault>(i);
    const int of_recorded = CountDiffering(recorded, fault);
    const int of_made = CountDiffering(made, fault);
    std::printf("%-18s found by %2d of %zu recorded and %2d of %zu made traces\n",
                std::string(ToString(fault)).c_str(), of_recorded, recorded.size(), of_made,
                made.size());
    EXPECT_EQ(of_recorded + of_made > 0, fault != Fault::kNone) << ToString(fault);
  }
}

TEST(MutantsTest, OfAimdAreFoundOutByTheTraces) {
  ExpectTracesFindEveryFault<AimdFault>("aimd", 20);
}

TEST(MutantsTest, OfVegasAreFoundOutByTheTraces) {
  ExpectTracesFindEveryFault<VegasFault>("vegas", 20);
}

TEST(MutantsTest, OfGradientAreFoundOutByTheTraces) {
  ExpectTracesFindEveryFault<GradientFault>("gradient", 20);
}

TEST(MutantsTest, OfGradient2AreFoundOutByTheTraces) {
  ExpectTracesFindEveryFault<Gradient2Fault>("gradient2", 20);
}

TEST(MutantsTest, OfTheWindowsAreFoundOutByTheTraces) {
  ExpectTracesFindEveryFault<WindowedFault>("windowed", 23);
}

}  // namespace
}  // namespace plimsoll
