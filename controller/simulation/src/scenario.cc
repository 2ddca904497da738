#include "plimsoll/simulation/scenario.h"

namespace plimsoll {
namespace {

// No faults at all; clocks are wrong and demand changes, as always, but not so often.
Scenario Calm() {
  Scenario scenario;
  scenario.name = "calm";
  scenario.demand_every = absl::Seconds(10);
  return scenario;
}

// What a bad day in production looks like.
Scenario Mild() {
  Scenario scenario;
  scenario.name = "mild";
  scenario.network = {.loss = 0.01, .duplicate = 0.01, .late = 0.005};
  scenario.disk.failure = 0.01;
  scenario.fault_every = absl::Seconds(20);
  scenario.controller_up = {absl::Seconds(40), absl::Seconds(80)};
  return scenario;
}

// What no day looks like: a fault every few seconds.
Scenario Harsh() {
  Scenario scenario;
  scenario.name = "harsh";
  scenario.network = {.loss = 0.05, .duplicate = 0.03, .late = 0.04};
  scenario.disk = {.commit = {absl::Milliseconds(1), absl::Milliseconds(80)}, .failure = 0.05};
  scenario.fault_every = absl::Milliseconds(2500);
  scenario.controller_up = {absl::Seconds(8), absl::Seconds(25)};
  return scenario;
}

// Instances come and go all the time, and many messages of the dead arrive late.
Scenario Churn() {
  Scenario scenario = Harsh();
  scenario.name = "churn";
  scenario.network.late = 0.15;
  scenario.fault_every = absl::Milliseconds(600);
  scenario.agent_down = {absl::Milliseconds(50), absl::Milliseconds(800)};
  scenario.controller_up = {absl::Seconds(40), absl::Seconds(80)};
  return scenario;
}

// The clocks conspire: what the controller believes to have ended has just not ended.
Scenario Extreme() {
  Scenario scenario = Harsh();
  scenario.name = "extreme";
  scenario.extreme_clocks = true;
  return scenario;
}

Scenario From(Scenario scenario, const char* name) {
  scenario.name = name;
  return scenario;
}

// Callers who are refused go away: demand has to be inferred.
Scenario Open() {
  Scenario scenario = From(Calm(), "open");
  scenario.callers = Callers::kGoAway;
  scenario.calls_full_length = 0;
  return scenario;
}

Scenario Anonymous() {
  Scenario scenario = From(Harsh(), "anonymous");
  scenario.unique_instances = false;
  return scenario;
}

Scenario Reserve() {
  Scenario scenario = From(Harsh(), "reserve");
  scenario.reserve = 1;
  return scenario;
}

// The operator changes the quota between 20 and 50.
Scenario Quota() {
  Scenario scenario = From(Harsh(), "quota");
  scenario.quota_every = {absl::Seconds(10), absl::Seconds(40)};
  return scenario;
}

// An operator who cannot leave anything alone.
Scenario Operator() {
  Scenario scenario = From(Harsh(), "operator");
  scenario.operator_every = {absl::Seconds(1), absl::Seconds(8)};
  return scenario;
}

// The policy is made when somebody asks for the dependency, and goes with the last one that uses
// it: all come and go together. What the crashed held outlasts some of the gaps. Some controllers
// find their store lost, and learn for 10 s.
Scenario Template() {
  Scenario scenario = From(Quota(), "template");
  scenario.from_template = true;
  scenario.plan = FleetPlan::kWaves;
  scenario.base_lease = absl::Seconds(6);
  scenario.fault_every = absl::Seconds(6);
  scenario.controller_up = {absl::Seconds(12), absl::Seconds(40)};
  scenario.store_lost = 0.3;
  return scenario;
}

// The quota is cut under controllers that hardly live: successors inherit from before the cut.
Scenario Cuts() {
  Scenario scenario = From(Quota(), "cuts");
  scenario.base_lease = absl::Seconds(6);
  scenario.quota_every = {absl::Seconds(15), absl::Seconds(25)};
  scenario.controller_up = {absl::Seconds(2), absl::Seconds(5)};
  scenario.controller_down = {absl::Milliseconds(50), absl::Milliseconds(500)};
  return scenario;
}

// Every controller finds its store lost. No base, so that learning takes 8 s and not 17.
Scenario Lost() {
  Scenario scenario = From(Harsh(), "lost");
  scenario.base = 0;
  scenario.base_lease = scenario.lease;
  scenario.network.late = 0.2;
  scenario.network.late_by = {absl::Milliseconds(200), absl::Milliseconds(4500)};
  scenario.demand_every = absl::Milliseconds(300);
  scenario.fault_every = absl::Seconds(8);
  scenario.controller_up = {absl::Seconds(10), absl::Seconds(30)};
  scenario.store_lost = 1;
  return scenario;
}

// Three controllers on a replicated store.
Scenario Replicated(Scenario scenario, const char* name) {
  scenario.name = name;
  scenario.controllers = 3;
  scenario.failover_every = {absl::Seconds(8), absl::Seconds(25)};
  return scenario;
}

Scenario Failover() { return Replicated(Harsh(), "failover"); }

Scenario Hot() {
  Scenario scenario = Replicated(Harsh(), "hot");
  scenario.network.late = 0.15;
  scenario.fault_every = absl::Seconds(1);
  scenario.failover_every = {absl::Milliseconds(1500), absl::Seconds(6)};
  return scenario;
}

Scenario Split() {
  Scenario scenario = Replicated(Harsh(), "split");
  scenario.split = true;
  scenario.network.late = 0.08;
  scenario.failover_every = {absl::Seconds(12), absl::Seconds(22)};
  scenario.demand_every = absl::Milliseconds(400);
  scenario.fault_every = absl::Seconds(4);
  return scenario;
}

// Controllers that share an etcd, and everything that can happen between them and it.
Scenario Elected(const char* name, int controllers) {
  Scenario scenario = From(Harsh(), name);
  scenario.controllers = controllers;
  EtcdDay day;
  day.network = {.loss = 0.02,
                 .duplicate = 0.05,
                 .late = 0.02,
                 .late_by = {absl::Milliseconds(200), absl::Seconds(8)}};
  day.fault_every = absl::Seconds(5);
  day.compact_every = absl::Seconds(2);
  day.page_max = 3;
  day.ops_max = 12;
  using enum EtcdFault;
  day.faults = {kPause, kCrash, kStop, kCutOff, kIsolate, kElection, kOutage, kSlow, kRevoke};
  scenario.etcd = day;
  return scenario;
}

Scenario EtcdTwo() { return Elected("etcd-two", 2); }
Scenario EtcdThree() { return Elected("etcd-three", 3); }

// Controllers are cut off from etcd, alone or with the member next to them, and half of the agents
// see only them.
Scenario EtcdSplit() {
  Scenario scenario = Elected("etcd-split", 3);
  scenario.network.late = 0.08;
  scenario.demand_every = absl::Milliseconds(400);
  scenario.fault_every = absl::Seconds(4);
  using enum EtcdFault;
  scenario.etcd->fault_every = absl::Seconds(8);
  scenario.etcd->faults = {kCutOff, kIsolate, kIsolate, kPause};
  return scenario;
}

// An etcd of which one hardly ever knows what it did: slow, lossy, compacted all the time, and with
// room for few operations.
Scenario EtcdSlow() {
  Scenario scenario = Elected("etcd-slow", 3);
  EtcdDay& day = *scenario.etcd;
  day.network = {.loss = 0.05,
                 .duplicate = 0.1,
                 .late = 0.06,
                 .late_by = {absl::Milliseconds(200), absl::Seconds(8)}};
  day.work = {absl::Milliseconds(5), absl::Milliseconds(80)};
  day.compact_every = absl::Seconds(1);
  day.ops_max = 6;
  using enum EtcdFault;
  day.faults = {kSlow, kSlow, kElection, kPause, kCrash, kRevoke};
  scenario.demand_every = absl::Milliseconds(400);
  return scenario;
}

// The leader stops, and goes on when another leads, while half of the agents see only it. A
// confirmation is under way most of the time, and is answered meanwhile.
Scenario EtcdPaused() {
  Scenario scenario = Elected("etcd-paused", 2);
  scenario.hold_max = absl::Milliseconds(100);
  EtcdDay& day = *scenario.etcd;
  day.work = {absl::Milliseconds(10), absl::Milliseconds(60)};
  day.fault_every = absl::Seconds(8);
  day.faults = {EtcdFault::kPause};
  day.pause = {absl::Seconds(3), absl::Seconds(10)};
  return scenario;
}

// Reigns of a few seconds, of one controller and the same again, under which writes of those before
// arrive.
Scenario EtcdHot() {
  Scenario scenario = Elected("etcd-hot", 2);
  EtcdDay& day = *scenario.etcd;
  day.network.late = 0.15;
  day.fault_every = absl::Milliseconds(2500);
  using enum EtcdFault;
  day.faults = {kRevoke, kRevoke, kStop, kElection};
  return scenario;
}

// Instances come and go by plan, and the product's own join reserve is there for them.
Scenario Planned(Scenario scenario, const char* name, FleetPlan plan, int agents, int at_start) {
  scenario.name = name;
  scenario.plan = plan;
  scenario.agents = agents;
  scenario.agents_at_start = at_start;
  scenario.join_reserve.reset();
  return scenario;
}

Scenario Deploy() { return Planned(Mild(), "deploy", FleetPlan::kRolling, 10, 8); }
Scenario Scale() { return Planned(Mild(), "scale", FleetPlan::kScale, 40, 4); }
Scenario Jobs() { return Planned(Calm(), "jobs", FleetPlan::kJobs, 48, 8); }

Scenario CrashLoop() {
  Scenario scenario = From(Calm(), "crashloop");
  scenario.plan = FleetPlan::kCrashLoop;
  return scenario;
}

}  // namespace

std::vector<Scenario> Scenarios() {
  return {Calm(),       Mild(),   Harsh(),    Churn(),     Extreme(),   Open(),     Anonymous(),
          Reserve(),    Quota(),  Operator(), Template(),  Cuts(),      Lost(),     Failover(),
          Hot(),        Split(),  EtcdTwo(),  EtcdThree(), EtcdSplit(), EtcdSlow(), EtcdHot(),
          EtcdPaused(), Deploy(), Scale(),    Jobs(),      CrashLoop()};
}

std::optional<Scenario> FindScenario(std::string_view name) {
  for (Scenario& scenario : Scenarios()) {
    if (scenario.name == name) return scenario;
  }
  return std::nullopt;
}

}  // namespace plimsoll
