#include <cmath>

#include "controller/simulation/src/load_meter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/load_test_scenarios.h"

// Whether the modelled dependency does what queueing theory says, seen through whole runs.

namespace plimsoll {
namespace {

constexpr double kTolerance = 0.03;
constexpr Calls kNoLimit = 10'000;

double Seconds(absl::Duration time) { return absl::ToDoubleSeconds(time); }

void ExpectAbout(double value, double expected) {
  EXPECT_NEAR(value, expected, kTolerance * expected);
}

// The probability that all of c servers are busy and nobody may wait, at `offered` busy servers.
double ErlangB(int servers, double offered) {
  double blocked = 1;
  for (int i = 1; i <= servers; ++i) blocked = offered * blocked / (i + offered * blocked);
  return blocked;
}

// The mean time of a call if all may wait.
double ErlangCMean(int servers, double service, double load) {
  const double blocked = ErlangB(servers, servers * load);
  const double waits = blocked / (1 - load * (1 - blocked));
  return service + waits * service / (servers * (1 - load));
}

LoadScenario Long(double load) {
  LoadScenario scenario = SmallScenario(load);
  scenario.station.service = absl::Milliseconds(1);
  scenario.length = absl::Seconds(60);
  return scenario;
}

TEST(LoadStationTest, QueuesAsErlangSays) {
  const LoadRun run = RunOf(Long(0.7), StaticLaw(kNoLimit));
  ExpectAbout(Seconds(run.phases[0].latency_mean), ErlangCMean(4, 0.001, 0.7));
  ExpectAbout(run.phases[0].good, 0.7 * 4000);
}

TEST(LoadStationTest, RefusesAsErlangSaysIfNobodyMayWait) {
  const LoadRun run = RunOf(Long(1), StaticLaw(4));
  ExpectAbout(run.phases[0].rejected / run.phases[0].offered, ErlangB(4, 4));
  ExpectAbout(Seconds(run.phases[0].latency_mean), 0.001);
}

TEST(LoadStationTest, QueuesLessIfAllCallsAreEqual) {
  LoadScenario scenario = Long(0.7);
  scenario.station.servers = 1;
  scenario.station.service_time = ServiceTime::kFixed;
  const LoadRun run = RunOf(scenario, StaticLaw(kNoLimit));
  ExpectAbout(Seconds(run.phases[0].latency_mean), 0.001 * (1 + 0.7 / (2 * 0.3)));
}

TEST(LoadStationTest, SharingDoesNotCareHowLongCallsAre) {
  for (const ServiceTime kind : {ServiceTime::kFixed, ServiceTime::kExponential}) {
    LoadScenario scenario = Long(0.5);
    scenario.length = absl::Minutes(10);  // chance is to be well below the tolerance
    scenario.station.servers = 1;
    scenario.station.discipline = Discipline::kSharing;
    scenario.station.service_time = kind;
    const LoadRun run = RunOf(scenario, StaticLaw(kNoLimit));
    ExpectAbout(Seconds(run.phases[0].latency_mean), 0.001 / (1 - 0.5));
  }
}

TEST(LoadStationTest, SharingServesNobodyFasterThanOneServerCan) {
  LoadScenario scenario = Long(0.1);
  scenario.station.discipline = Discipline::kSharing;
  scenario.station.service_time = ServiceTime::kFixed;
  const LoadRun run = RunOf(scenario, StaticLaw(4));
  EXPECT_NEAR(Seconds(run.phases[0].latency_mean), 0.001, 2e-6);
}

TEST(LoadStationTest, KeepsLittlesLaw) {
  for (const Discipline discipline : {Discipline::kFifo, Discipline::kSharing}) {
    LoadScenario scenario = SmallScenario(2);
    scenario.station.discipline = discipline;
    scenario.station.delay = absl::Milliseconds(10);
    const LoadRun run = RunOf(scenario, StaticLaw(30));
    double in_flight = 0;
    for (const LoadSample& sample : run.samples) in_flight += sample.in_flight;
    ExpectAbout(run.phases[0].good * Seconds(run.phases[0].latency_mean),
                in_flight / static_cast<double>(run.samples.size()));
  }
}

TEST(LoadStationTest, DelaysCallsWithoutAQueue) {
  LoadScenario scenario = SmallScenario(0.2);
  scenario.station.delay = absl::Milliseconds(40);
  const LoadRun run = RunOf(scenario, StaticLaw(kNoLimit));
  ExpectAbout(Seconds(run.phases[0].latency_mean), 0.045);
  EXPECT_GE(run.phases[0].latency_p50, absl::Milliseconds(28));
}

TEST(LoadStationTest, RetrogradeWorkTakesLongerTheMoreCallsThereAre) {
  LoadScenario scenario = SmallScenario(2);
  scenario.station.retrograde = 0.1;
  // The next call starts when one has just ended: 13 are there.
  ExpectAbout(RunOf(scenario, StaticLaw(14)).phases[0].good, 800 / 1.9);
  scenario.station.discipline = Discipline::kSharing;
  ExpectAbout(RunOf(scenario, StaticLaw(14)).phases[0].good, 800 / 2.0);
}

TEST(LoadStationTest, ParetoCallsTakeWhatTheyShouldOnAverage) {
  LoadScenario scenario = Long(2);
  scenario.station.service_time = ServiceTime::kPareto;
  const LoadRun run = RunOf(scenario, StaticLaw(20));
  ExpectAbout(run.phases[0].good, 4000 / 0.995);
}

TEST(LoadStationTest, LongCallsTakeTheirShareOfTheServers) {
  LoadScenario scenario = SmallScenario(2);
  scenario.station.long_share = 0.1;
  scenario.station.long_service = absl::Milliseconds(55);
  const LoadRun run = RunOf(scenario, StaticLaw(20));
  ExpectAbout(run.phases[0].good, 400);
}

TEST(LoadStationTest, NothingEndsDuringAPause) {
  for (const Discipline discipline : {Discipline::kFifo, Discipline::kSharing}) {
    LoadScenario scenario = SmallScenario(2);
    scenario.station.discipline = discipline;
    scenario.pause_every = absl::Seconds(2);
    scenario.pause = absl::Seconds(1);
    const LoadRun run = RunOf(scenario, StaticLaw(10));
    const LoadSample& paused = run.samples[4];  // from 2.0 s to 2.5 s
    EXPECT_EQ(paused.completed, 0);
    EXPECT_EQ(paused.in_flight, 10);
    EXPECT_GT(run.samples[6].completed, 0);  // from 3.0 s to 3.5 s
  }
}

TEST(FineHistogramTest, TellsQuantilesToOnePercent) {
  internal::FineHistogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.Add(std::int64_t{1'000'000} * i);
  for (const double share : {0.01, 0.5, 0.99}) {
    EXPECT_NEAR(Seconds(histogram.Quantile(share)), share, 0.01 * share + 0.001);
  }
  EXPECT_EQ(histogram.Mean(), absl::Microseconds(500'500));
}

TEST(FineHistogramTest, IsEmptyAfterClear) {
  internal::FineHistogram histogram;
  histogram.Add(5);
  histogram.Clear();
  EXPECT_EQ(histogram.total(), 0);
  EXPECT_EQ(histogram.Quantile(0.5), absl::ZeroDuration());
}

}  // namespace
}  // namespace plimsoll
