#include "tests/conformance/trace.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace plimsoll {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json AimdTrace() {
  return json::parse(R"({
    "algorithm": "aimd", "variant": "default",
    "settings": {"initialLimit": 20, "minLimit": 10, "maxLimit": 200, "backoffRatio": 0.9,
                 "timeout_ns": 5000000000},
    "initial_limit": 20, "samples": [[0, 1000000, 10, 0], [1, 2, 3, 1]], "limits": [21, 18],
    "final_state": {}})");
}

json Gradient2Trace() {
  return json::parse(R"({
    "algorithm": "gradient2",
    "settings": {"initialLimit": 20, "minLimit": 10, "maxConcurrency": 200, "smoothing": 0.25,
                 "queueSize": "sqrt:4", "longWindow": 50, "warmupWindow": 10, "rttTolerance": 2},
    "initial_limit": 20, "samples": [[0, 1000000, 10, 0]], "limits": [21],
    "final_state": {"estimatedLimit": 21.5, "longRtt": 1000000.0}})");
}

std::string ErrorOf(const json& document) {
  const auto file = ParseTraceFile("a.json", document.dump());
  EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(file.status().message());
}

TEST(ParseTraceFileTest, ReadsATraceOfAimd) {
  const auto file = ParseTraceFile("a.json", AimdTrace().dump());
  ASSERT_TRUE(file.ok()) << file.status();
  const Trace& trace = file->traces.at(0);
  EXPECT_EQ(trace.name, "a.json");
  EXPECT_EQ(trace.config.kind, AlgorithmKind::kAimd);
  EXPECT_EQ(trace.config.initial, 20);
  EXPECT_EQ(trace.config.floor, 10);
  EXPECT_EQ(trace.config.ceiling, 200);
  EXPECT_EQ(trace.config.aimd.backoff, 0.9);
  EXPECT_EQ(trace.config.aimd.latency_threshold, absl::Seconds(5));
  EXPECT_TRUE(trace.config.reference_exact);
  EXPECT_EQ(trace.limits, (std::vector<Calls>{21, 18}));
  EXPECT_EQ(trace.samples.at(1).start_ns, 1);
  EXPECT_EQ(trace.samples.at(1).rtt_ns, 2);
  EXPECT_EQ(trace.samples.at(1).in_flight, 3);
  EXPECT_TRUE(trace.samples.at(1).dropped);
}

TEST(ParseTraceFileTest, ReadsATraceOfGradient2) {
  const auto file = ParseTraceFile("a.json", Gradient2Trace().dump());
  ASSERT_TRUE(file.ok()) << file.status();
  const Trace& trace = file->traces.at(0);
  EXPECT_EQ(trace.config.ceiling, 200);
  EXPECT_EQ(trace.config.gradient2.smoothing, 0.25);
  EXPECT_EQ(trace.config.gradient2.queue_size, 4);
  EXPECT_TRUE(trace.config.gradient2.queue_by_square_root);
  EXPECT_EQ(trace.config.gradient2.long_window, 50);
  EXPECT_EQ(trace.config.gradient2.warmup_window, 10);
  EXPECT_EQ(trace.config.gradient2.rtt_tolerance, 2);
  EXPECT_EQ(trace.final_state,
            (std::map<std::string, double>{{"estimatedLimit", 21.5}, {"longRtt", 1e6}}));
}

json VegasSettings() {
  return json::parse(R"({"initialLimit": 20, "maxConcurrency": 100, "smoothing": 0.5,
    "alpha": "fixed:3", "beta": "6*log10", "threshold": "log10", "increase": "limit+log10",
    "decrease": "limit/2", "probeMultiplier": 30, "pin_probeJitter": 0.75})");
}

TEST(ParseTraceFileTest, ReadsATraceOfVegas) {
  json document = AimdTrace();
  document["algorithm"] = "vegas";
  document["settings"] = VegasSettings();
  document["final_state"] = {{"estimatedLimit", 20}, {"rtt_noload", 7}, {"probeCount", 2}};
  const auto file = ParseTraceFile("a.json", document.dump());
  ASSERT_TRUE(file.ok()) << file.status();
  const AlgorithmConfig& config = file->traces.at(0).config;
  EXPECT_EQ(config.kind, AlgorithmKind::kVegas);
  EXPECT_EQ(config.floor, 1);
  EXPECT_EQ(config.ceiling, 100);
  EXPECT_EQ(config.vegas.smoothing, 0.5);
  EXPECT_EQ(config.vegas.alpha, (LogRule{false, 3}));
  EXPECT_EQ(config.vegas.beta, (LogRule{true, 6}));
  EXPECT_EQ(config.vegas.threshold, (LogRule{true, 1}));
  EXPECT_EQ(config.vegas.decrease, VegasStep::kHalve);
  EXPECT_EQ(config.vegas.probe_multiplier, 30);
  EXPECT_EQ(config.vegas.pin_probe_jitter, 0.75);
}

TEST(ParseTraceFileTest, RefusesRulesAndStepsThatDoNotExist) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"alpha", "3"}, {"beta", "log2"}, {"increase", "limit*2"}, {"decrease", ""}}) {
    json document = AimdTrace();
    document["algorithm"] = "vegas";
    document["settings"] = VegasSettings();
    document["settings"][key] = value;
    EXPECT_THAT(ErrorOf(document), HasSubstr("\"" + key + "\" must be ")) << value;
  }
}

TEST(ParseTraceFileTest, ReadsATraceOfGradient) {
  json document = AimdTrace();
  document["algorithm"] = "gradient";
  document["settings"] = json::parse(R"({"initialLimit": 50, "minLimit": 2, "maxConcurrency": 90,
    "smoothing": 0.3, "queueSize": "fixed:5", "rttTolerance": 1.5, "backoffRatio": 0.8,
    "probeInterval": 100, "pin_probeCountdown": 120})");
  const auto file = ParseTraceFile("a.json", document.dump());
  ASSERT_TRUE(file.ok()) << file.status();
  const AlgorithmConfig& config = file->traces.at(0).config;
  EXPECT_EQ(config.floor, 2);
  EXPECT_EQ(config.ceiling, 90);
  EXPECT_EQ(config.gradient.smoothing, 0.3);
  EXPECT_EQ(config.gradient.queue_size, 5);
  EXPECT_FALSE(config.gradient.queue_by_square_root);
  EXPECT_EQ(config.gradient.rtt_tolerance, 1.5);
  EXPECT_EQ(config.gradient.backoff, 0.8);
  EXPECT_EQ(config.gradient.probe_interval, 100);
  EXPECT_EQ(config.gradient.pin_probe_countdown, 120);
}

json WindowedTrace() {
  json document = AimdTrace();
  document["algorithm"] = "windowed";
  json delegate = document["settings"];
  delegate["algorithm"] = "aimd";
  document["settings"] = {
      {"minWindowTime_ns", 100000000}, {"maxWindowTime_ns", 500000000}, {"windowSize", 12},
      {"minRttThreshold_ns", 7},       {"sampleWindow", "average"},     {"delegate", delegate}};
  return document;
}

TEST(ParseTraceFileTest, ReadsATraceOfWindows) {
  json document = WindowedTrace();
  document["settings"]["sampleWindow"] = "percentile:0.9:50";
  const auto file = ParseTraceFile("a.json", document.dump());
  ASSERT_TRUE(file.ok()) << file.status();
  const Trace& trace = file->traces.at(0);
  EXPECT_EQ(trace.config.kind, AlgorithmKind::kAimd);
  ASSERT_TRUE(trace.windowed);
  EXPECT_TRUE(trace.windowed->reference_exact);
  EXPECT_EQ(trace.windowed->window_min, absl::Milliseconds(100));
  EXPECT_EQ(trace.windowed->window_max, absl::Milliseconds(500));
  EXPECT_EQ(trace.windowed->samples_min, 12);
  EXPECT_EQ(trace.windowed->latency_min, absl::Nanoseconds(7));
  EXPECT_EQ(trace.windowed->percentile, 0.9);
  EXPECT_EQ(trace.windowed->percentile_calls, 50);
}

TEST(ParseTraceFileTest, RefusesWindowsThatDoNotExist) {
  for (const char* window : {"", "mean", "percentile", "percentile:", "percentile:0.9",
                             "percentile:0.9:", "percentile:x:5", "percentile:0.9:5.5"}) {
    json document = WindowedTrace();
    document["settings"]["sampleWindow"] = window;
    EXPECT_THAT(ErrorOf(document), HasSubstr("\"sampleWindow\" must be average")) << window;
  }
  json document = WindowedTrace();
  document["settings"]["delegate"]["algorithm"] = "windowed";
  EXPECT_EQ(ErrorOf(document), "a.json: the delegate \"windowed\" is not supported");
}

TEST(ParseTraceFileTest, TakesWholeNumbersThatAreWrittenWithAFraction) {
  json document = AimdTrace();
  document["settings"]["maxLimit"] = 200.0;
  EXPECT_TRUE(ParseTraceFile("a.json", document.dump()).ok());
}

TEST(ParseTraceFileTest, ReadsCasesAndCountsThoseOfOtherLaws) {
  json known = AimdTrace();
  known["case"] = "Known.case";
  known["settings"]["algorithm"] = "aimd";
  const json other = {{"case", "x"}, {"settings", {{"algorithm", "other"}}}};
  const json document = {{"cases", {known, other, other}}, {"log10root", json::object()}};
  const auto file = ParseTraceFile("known.json", document.dump());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->traces.size(), 1U);
  EXPECT_EQ(file->traces.at(0).name, "known.json: Known.case");
  EXPECT_EQ(file->skipped, (std::map<std::string, int>{{"other", 2}}));
}

TEST(ParseTraceFileTest, RefusesCasesOfOtherLawsOnly) {
  const json document = {{"cases", {{{"settings", {{"algorithm", "other"}}}}}}};
  EXPECT_EQ(ErrorOf(document), "a.json: none of \"cases\" is of a law that is here");
}

TEST(ParseTraceFileTest, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "{\"algorithm\": \"aimd\",}", "nonsense", "\xff\xfe"}) {
    const auto file = ParseTraceFile("a.json", text);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(file.status().message()), HasSubstr("a.json: ")) << text;
  }
}

TEST(ParseTraceFileTest, RefusesDifferentNumbersOfSamplesAndLimits) {
  json document = AimdTrace();
  document["limits"].push_back(19);
  EXPECT_EQ(ErrorOf(document), "a.json: there are 2 samples, but 3 limits");
}

TEST(ParseTraceFileTest, NamesWhatIsWrongWithATrace) {
  struct Case {
    std::function<void(json&)> change;
    std::string message;
  };
  const std::string not_an_algorithm =
      "the algorithm \"other\" is not supported; aimd, vegas, gradient, gradient2 and windowed are";
  const std::vector<Case> cases = {
      {[](json& t) { t = json::array(); }, "the document must be an object"},
      {[](json& t) { t.erase("algorithm"); }, "\"algorithm\" is missing"},
      {[](json& t) { t["algorithm"] = 1; }, "\"algorithm\" must be a string"},
      {[](json& t) { t["algorithm"] = "other"; }, not_an_algorithm},
      {[](json& t) { t["settings"] = 1; }, "\"settings\" must be an object"},
      {[](json& t) { t["settings"]["algorithm"] = "gradient2"; },
       "\"settings\" are of another algorithm than \"aimd\""},
      {[](json& t) { t["settings"].erase("maxLimit"); }, "\"maxLimit\" is missing"},
      {[](json& t) { t["settings"]["jitter"] = 1; }, "\"settings\" has an unknown key \"jitter\""},
      {[](json& t) { t["settings"]["maxLimit"] = "9"; },
       "\"maxLimit\" must be a whole number of 32 bits"},
      {[](json& t) { t["settings"]["maxLimit"] = 1e10; },
       "\"maxLimit\" must be a whole number of 32 bits"},
      {[](json& t) { t["settings"]["maxLimit"] = 10000000000; },
       "\"maxLimit\" must be a whole number of 32 bits"},
      {[](json& t) { t["settings"]["timeout_ns"] = 18446744073709551615U; },
       "\"timeout_ns\" must be a whole number of 64 bits"},
      {[](json& t) { t["settings"]["backoffRatio"] = "0.9"; }, "\"backoffRatio\" must be a number"},
      {[](json& t) { t["settings"]["backoffRatio"] = 1.5; },
       "\"settings\" are not valid: aimd.backoff = 1.5: must be at least 0.5 and below 1"},
      {[](json& t) { t["initial_limit"] = 20.5; },
       "\"initial_limit\" must be a whole number of 32 bits"},
      {[](json& t) { t["samples"] = json::object(); }, "\"samples\" must be an array"},
      {[](json& t) { t["samples"] = t["limits"] = json::array(); }, "there are no samples"},
      {[](json& t) {
         t["samples"][1] = {1, 2, 3};
       },
       "sample 1 must be [start_ns, rtt_ns, inflight, dropped]"},
      {[](json& t) { t["samples"][1][1] = 0.5; },
       "rtt_ns of sample 1 must be a whole number of 64 bits"},
      {[](json& t) { t["samples"][1][3] = true; },
       "dropped of sample 1 must be a whole number of 32 bits"},
      {[](json& t) { t["samples"][1][3] = 2; }, "dropped of sample 1 must be 0 or 1"},
      {[](json& t) { t["limits"][0] = nullptr; }, "limit 0 must be a whole number of 32 bits"},
      {[](json& t) { t.erase("final_state"); }, "\"final_state\" is missing"},
      {[](json& t) { t["final_state"]["x"] = 1; }, "\"final_state\" has an unknown key \"x\""},
  };
  for (const Case& test : cases) {
    json document = AimdTrace();
    test.change(document);
    EXPECT_EQ(ErrorOf(document), "a.json: " + test.message);
  }
}

TEST(ParseTraceFileTest, RefusesQueueSizesThatDoNotExist) {
  for (const char* queue :
       {"", "4", "fixed", "fixed:", "fixed:4x", "root:4", "sqrt:4.5", "fixed:99999999999"}) {
    json document = Gradient2Trace();
    document["settings"]["queueSize"] = queue;
    EXPECT_EQ(ErrorOf(document), std::string("a.json: \"queueSize\" must be fixed:N or sqrt:N, "
                                             "not \"") +
                                     queue + "\"");
  }
}

TEST(ReadTraceFileTest, NamesAFileThatCannotBeRead) {
  const auto file = ReadTraceFile("/nowhere/a.json");
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(file.status().message(), "/nowhere/a.json: cannot be read, or is empty");
}

}  // namespace
}  // namespace plimsoll
