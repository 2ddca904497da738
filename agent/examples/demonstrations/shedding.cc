// A server with room for 4 calls of 50 ms, and 40 clients that call at once, over HTTP. Without a
// limit all wait for their turn, the last for ten rounds. With one, those for whom there is room
// have their answer after 50 ms, and the others know at once that they have to come back later.
#include <plimsoll/agent/local_bulkhead.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "agent/examples/demonstrations/call_server.h"
#include "agent/examples/demonstrations/callers.h"
#include "agent/examples/demonstrations/report.h"

namespace plimsoll::demonstrations {
namespace {

constexpr int kRoom = 4;
constexpr int kClients = 40;
constexpr absl::Duration kWork = absl::Milliseconds(50);
constexpr int kOk = 200;
constexpr int kUnavailable = 503;
// Machines are busy: a time may be so many times of what it would be.
constexpr int kGenerous = 3;

// Latencies in ascending order.
struct Lane {
  std::vector<absl::Duration> admitted;
  std::vector<absl::Duration> refused;
  bool told_when = true;  // every refusal had a Retry-After
};

absl::StatusOr<Lane> Serve(Bulkhead* bulkhead) {
  const auto server = CallServer::Start(kRoom, kWork, bulkhead);
  if (!server.ok()) return server.status();
  Lane lane;
  for (const Answer& answer : CallAtOnce((*server)->port(), kClients)) {
    if (answer.status == kOk) lane.admitted.push_back(answer.latency);
    if (answer.status != kUnavailable) continue;
    lane.refused.push_back(answer.latency);
    lane.told_when = lane.told_when && answer.retry_after;
  }
  std::sort(lane.admitted.begin(), lane.admitted.end());
  std::sort(lane.refused.begin(), lane.refused.end());
  return lane;
}

absl::StatusOr<Lane> ServeWithLimit() {
  LocalBulkheadOptions options;
  options.dependency = "server";
  options.algorithm = "fixed";
  options.initial = kRoom;
  const auto local = MakeLocalBulkhead(options);
  if (!local.ok()) return local.status();
  return Serve(&(*local)->bulkhead());
}

absl::Duration Slowest(const std::vector<absl::Duration>& latencies) {
  return latencies.empty() ? absl::ZeroDuration() : latencies.back();
}

absl::Duration Median(const std::vector<absl::Duration>& latencies) {
  return latencies.empty() ? absl::ZeroDuration() : latencies[latencies.size() / 2];
}

std::vector<Cell> RowOf(const std::string& name, const Lane& lane) {
  std::vector<Cell> row = {name, static_cast<int>(lane.admitted.size()),
                           static_cast<int>(lane.refused.size()), Slowest(lane.admitted)};
  if (lane.refused.empty()) return row;
  row.insert(row.end(), {Median(lane.refused), Slowest(lane.refused)});
  return row;
}

void Judge(const Lane& without, const Lane& with, Report& report) {
  const absl::Duration queue = kWork * (kClients / kRoom);
  report.Claim(
      absl::StrFormat("without a limit all are answered, the last after about %d rounds",
                      kClients / kRoom),
      without.admitted.size() == kClients && Slowest(without.admitted) > queue / kGenerous);
  report.Claim("with it everybody has an answer, and most of them are refusals",
               with.admitted.size() + with.refused.size() == kClients &&
                   with.admitted.size() >= kRoom && with.refused.size() > kClients / 2);
  report.Claim("the admitted take about as long as the work does",
               Slowest(with.admitted) < kGenerous * kWork);
  report.Claim("the refused know it before a call could have ended, and when to come back",
               !with.refused.empty() && with.told_when && Median(with.refused) < kWork &&
                   Slowest(with.refused) < kGenerous * kWork);
}

absl::StatusOr<Report> Run() {
  const absl::StatusOr<Lane> without = Serve(nullptr);
  if (!without.ok()) return without.status();
  const absl::StatusOr<Lane> with = ServeWithLimit();
  if (!with.ok()) return with.status();
  Report report(
      "shedding: a server with room for 4 calls of 50 ms, 40 clients at once",
      {"server", "admitted", "refused", "slowest admitted", "median refusal", "slowest refusal"});
  report.AddRow(RowOf("without a limit", *without));
  report.AddRow(RowOf("with Plimsoll", *with));
  Judge(*without, *with, report);
  return report;
}

}  // namespace
}  // namespace plimsoll::demonstrations

int main(int argc, char** argv) {
  return plimsoll::demonstrations::RunDemonstration(argc, argv, plimsoll::demonstrations::Run);
}
