// Five calls may be in flight, and calls of the class best_effort may fill three of these places.
// A fourth one is refused while there is room for a critical one. Nothing here depends on time.
#include <plimsoll/agent/local_bulkhead.h>

#include <string>
#include <string_view>
#include <vector>

#include "agent/examples/demonstrations/report.h"

namespace plimsoll::demonstrations {
namespace {

constexpr int kLimit = 5;
constexpr double kShare = 0.6;  // of the limit: three
enum Class { kCritical, kBestEffort };

struct Step {
  Class priority;
  std::string_view answer;  // what it must be
};
constexpr Step kSteps[] = {
    {kBestEffort, "admitted"}, {kBestEffort, "admitted"}, {kBestEffort, "admitted"},
    {kBestEffort, "limit"},    {kCritical, "admitted"},   {kCritical, "admitted"},
    {kCritical, "limit"},
};

LocalBulkheadOptions Options() {
  LocalBulkheadOptions options;
  options.dependency = "search";
  options.algorithm = "fixed";
  options.initial = kLimit;
  options.bulkhead.classes = {{"critical", 1.0}, {"best_effort", kShare}};
  return options;
}

absl::StatusOr<Report> Run() {
  const LocalBulkheadOptions options = Options();
  const auto local = MakeLocalBulkhead(options);
  if (!local.ok()) return local.status();
  Bulkhead& search = (*local)->bulkhead();
  Report report("priority: 5 calls may be in flight, and best effort may fill 3 of these places",
                {"call", "class", "in flight before", "answer", "in flight after"});
  std::vector<Permit> held;
  bool as_claimed = true;
  int number = 0;
  for (const Step& step : kSteps) {
    const int before = search.in_flight();
    Admission permit = search.TryAcquire({.priority = step.priority});
    const std::string answer(permit ? "admitted" : ToString(permit.rejection()));
    if (permit) held.push_back(*std::move(permit));
    as_claimed = as_claimed && answer == step.answer;
    report.AddRow({++number, options.bulkhead.classes[step.priority].name, before, answer,
                   search.in_flight()});
  }
  report.Claim("the fourth call of best effort is refused where a critical one is admitted",
               as_claimed);
  for (Permit& permit : held) permit.Succeed();
  return report;
}

}  // namespace
}  // namespace plimsoll::demonstrations

int main(int argc, char** argv) {
  return plimsoll::demonstrations::RunDemonstration(argc, argv, plimsoll::demonstrations::Run);
}
