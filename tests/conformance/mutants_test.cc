// The traces are worth something only if they tell a wrong law from the right one. Which of floor
// and ceiling wins when they cross is the one thing they cannot tell, because they never cross
// there; tests/unit/algorithms looks at that.

#include "tests/conformance/mutants.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/replay.h"
#include "tests/conformance/trace.h"

namespace plimsoll {
namespace {

// The traces of one law, known answers left out: the traces alone must suffice.
std::vector<Trace> TracesOf(AlgorithmKind kind) {
  std::vector<Trace> traces;
  const std::string prefix = std::string(ToString(kind)) + "-";
  for (const auto& entry : std::filesystem::directory_iterator(PLIMSOLL_TRACES_DIR)) {
    if (entry.path().filename().string().rfind(prefix, 0) != 0) continue;
    const auto file = ReadTraceFile(entry.path().string());
    EXPECT_TRUE(file.ok()) << file.status();
    if (file.ok()) traces.push_back(file->traces.front());
  }
  EXPECT_EQ(traces.size(), 20U) << prefix;
  return traces;
}

template <typename Fault>
int TracesThatDiffer(const std::vector<Trace>& traces, Fault fault) {
  int differ = 0;
  for (const Trace& trace : traces) {
    if (FirstDifference(trace, *MakeMutant(trace.config, fault))) ++differ;
  }
  return differ;
}

template <typename Fault>
void ExpectTracesFindEveryFault(AlgorithmKind kind) {
  const std::vector<Trace> traces = TracesOf(kind);
  EXPECT_EQ(TracesThatDiffer(traces, Fault::kNone), 0);
  for (int i = 1; i < static_cast<int>(Fault::kEnd); ++i) {
    const auto fault = static_cast<Fault>(i);
    const int differ = TracesThatDiffer(traces, fault);
    std::printf("%-18s found by %2d of %zu traces\n", std::string(ToString(fault)).c_str(), differ,
                traces.size());
    EXPECT_GT(differ, 0) << ToString(fault);
  }
}

TEST(MutantsTest, OfAimdAreFoundOutByTheTraces) {
  ExpectTracesFindEveryFault<AimdFault>(AlgorithmKind::kAimd);
}

TEST(MutantsTest, OfGradient2AreFoundOutByTheTraces) {
  ExpectTracesFindEveryFault<Gradient2Fault>(AlgorithmKind::kGradient2);
}

}  // namespace
}  // namespace plimsoll
