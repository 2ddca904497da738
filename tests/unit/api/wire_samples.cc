#include "tests/unit/api/wire_samples.h"

namespace plimsoll {
namespace {

Window SampleWindow() {
  Window window;
  window.stamp = {Epoch(7), Seq(41802)};
  window.length = absl::Microseconds(1'000'250);
  window.admitted = 215;
  window.succeeded = 212;
  window.dropped = 1;
  window.ignored = 2;
  window.rejected = {9, 8, 0, 7, 6};
  window.in_flight_max = 38;
  window.in_flight = absl::Microseconds(31'400'001);
  window.at_limit = absl::Microseconds(210'100);
  window.latency.Add(28, 84);
  window.latency.Add(31, 2);
  window.latency.Add(LatencyHistogram::kBuckets - 1, 1);
  return window;
}

Grant SampleGrant() {
  Grant grant;
  grant.dependency = DependencyId("payments-api");
  grant.stamp = {Epoch(7), Seq(41811)};
  grant.anchor = SyncNumber(91);
  grant.steps = {34, 10, 3};
  grant.lease = absl::Seconds(10);
  grant.base_lease = absl::Minutes(15);
  grant.call_deadline = absl::Milliseconds(2500);
  grant.explanation = {61, 33, 5, 200, BindingConstraint::kQuota, Reason::kQuotaRebalanced, "7-3"};
  return grant;
}

BreakerSettings SampleBreaker() {
  BreakerSettings breaker;
  breaker.rules = {7, 0.4, 1.0 / 3, 30};
  breaker.slow_after = absl::Milliseconds(1500);
  breaker.window = absl::Seconds(20);
  breaker.hang_after = absl::Seconds(5);
  breaker.cool_off = absl::Seconds(3);
  breaker.cool_off_max = absl::Seconds(30);
  breaker.cool_off_growth = 1.5;
  breaker.cool_off_jitter = 0.1;
  breaker.probe_deadline = absl::Seconds(4);
  breaker.probes_to_close = 3;
  breaker.probe_failures_to_open = 2;
  return breaker;
}

std::vector<DependencySettings> SampleSettings() {
  return {{DependencyId("payments-api"), true, absl::Milliseconds(2500), absl::Seconds(1), true,
           SampleBreaker()},
          {DependencyId("orders-db"), false, absl::ZeroDuration(), absl::ZeroDuration()}};
}

}  // namespace

RegisterRequest SampleRegisterRequest() {
  RegisterRequest request;
  request.service = ServiceId("checkout");
  request.instance = InstanceId("checkout-0");
  request.unique_instance = true;
  request.zone = "eu-1a \"north\" \xc3\xa9";
  request.agent_version = "0.1.0";
  request.protocol = {1, 1};
  request.nonce = "b91c";
  request.dependencies = {DependencyId("payments-api"), DependencyId("orders-db")};
  return request;
}

RegisterAnswer SampleRegisterAnswer() {
  RegisterAnswer answer;
  answer.session = SessionId("7-42");
  answer.epoch = Epoch(7);
  answer.hold_max = absl::Seconds(1);
  answer.sync_min = absl::Milliseconds(50);
  answer.settings = SampleSettings();
  answer.grants = {SampleGrant()};
  return answer;
}

SyncRequest SampleSyncRequest() {
  SyncRequest request;
  request.session = SessionId("7-42");
  request.n = SyncNumber(91);
  request.epoch = Epoch(7);
  request.hold = absl::Milliseconds(900);
  request.leaving = true;
  DependencyReport report;
  report.dependency = DependencyId("payments-api");
  report.installed = {Epoch(6), Seq(41802)};
  report.in_force = {38, 10, 2};
  report.in_flight = 37;
  report.in_flight_max = 39;
  report.waiting = 4;
  report.windows = {SampleWindow(), SampleWindow()};
  report.windows[1].stamp.seq = Seq(41803);
  report.breaker.emplace();
  report.breaker->order = {Epoch(7), Seq(12)};
  report.breaker->command = BreakerCommand::kProbe;
  report.breaker->view = BreakerView::kProbing;
  report.breaker->evidence = {100, 20, 3, 2, 1};
  report.breaker->refused = 77;
  request.dependencies = {report, {}};
  request.dependencies[1].dependency = DependencyId("orders-db");
  return request;
}

SyncAnswer SampleSyncAnswer() {
  SyncAnswer answer;
  answer.epoch = Epoch(7);
  answer.superseded = true;
  answer.next_sync = absl::Milliseconds(120);
  answer.settings = SampleSettings();
  answer.grants = {SampleGrant(), SampleGrant()};
  answer.grants[1].dependency = DependencyId("orders-db");
  answer.breakers.emplace_back();
  answer.breakers[0].dependency = DependencyId("payments-api");
  answer.breakers[0].id = {Epoch(7), Seq(13)};
  answer.breakers[0].command = BreakerCommand::kOpen;
  answer.breakers[0].hold = absl::Seconds(12);
  return answer;
}

}  // namespace plimsoll
