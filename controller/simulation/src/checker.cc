#include "controller/simulation/src/checker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::internal {

Checker::Checker(World& world, const StorePort& store, const Controllers& controllers,
                 std::vector<Instance>& instances, SimulationResult& result)
    : world_(world),
      store_(store),
      controllers_(controllers),
      instances_(instances),
      result_(result) {}

void Checker::Check() {
  if (!std::exchange(world_.raised, false)) return;
  CheckLimits();
  CheckInFlight();
  if (const ControllerHost* controller = Rightful()) CheckReservations(*controller);
}

const ControllerHost* Checker::Reigning() const {
  for (const auto& controller : controllers_) {
    const Core* core = controller->core();
    if (core != nullptr && core->epoch() == store_.epoch()) return controller.get();
  }
  return nullptr;
}

const ControllerHost* Checker::Rightful() const {
  const ControllerHost* const controller = Reigning();
  return controller == nullptr || controller->core()->learning() ? nullptr : controller;
}

void Checker::CheckLimits() {
  Calls sum = 0;
  for (const Instance& instance : instances_) {
    if (instance.alive()) sum += instance.process->InForce();
  }
  result_.limits_max = std::max(result_.limits_max, sum);
  if (sum > world_.AllowedCalls()) {
    Report(Invariant::kLimits, absl::StrCat("the limits in force sum to ", sum));
  }
}

void Checker::CheckInFlight() {
  const Calls sum = world_.provider.in_flight();
  result_.in_flight_max = std::max(result_.in_flight_max, sum);
  if (sum > world_.AllowedCalls()) {
    Report(Invariant::kInFlight, absl::StrCat(sum, " calls run at the provider"));
  }
}

void Checker::CheckReservations(const ControllerHost& controller) {
  const std::int64_t sum = controller.core()->Reserved(SimulatedDependency(), controller.now());
  result_.reserved_max = std::max(result_.reserved_max, sum);
  // A successor may inherit what was durable before a cut; nobody rises by it.
  if (sum > world_.scenario.quota) {
    Report(Invariant::kReservation, absl::StrCat("the reservations sum to ", sum));
  }
  for (const Instance& instance : instances_) {
    if (!instance.alive()) continue;
    CheckCovered(controller, instance.process->session(), instance.process->InForce(),
                 "limit in force");
  }
  for (const auto& [session, calls] : world_.provider.by_session()) {
    CheckCovered(controller, session, calls, "calls at the provider");
  }
}

void Checker::CheckCovered(const ControllerHost& controller, const SessionId& session, Calls calls,
                           const char* what) {
  if (calls == 0) return;
  const Calls reserved =
      controller.core()->Reserved(SimulatedDependency(), session, controller.now());
  if (calls <= reserved) return;
  Report(Invariant::kCovered, absl::StrFormat("session %s: %d reserved, but %s %d", session.value,
                                              reserved, what, calls));
}

void Checker::Report(Invariant invariant, const std::string& what) {
  ++result_.violations[static_cast<std::size_t>(invariant)];
  if (!result_.first_violation.empty()) return;
  const auto breach = [&] { return absl::StrFormat("%s broken: %s", ToString(invariant), what); };
  const double seconds = static_cast<double>(world_.queue.now().ns) * 1e-9;
  result_.first_violation = absl::StrFormat("after %.4f s %s", seconds, breach());
  world_.trace.Note(world_.queue.now(), {30}, breach);
  world_.trace.Close();
}

void Checker::Sample() {
  Calls demand = 0;
  Calls used = 0;
  for (Instance& instance : instances_) {
    NoteStarving(instance);
    if (!instance.alive()) continue;
    demand += instance.demand;
    used += std::min(instance.demand, instance.process->InForce());
  }
  usable_ += std::min(demand, world_.quota);
  used_ += used;
  result_.usable_share = usable_ > 0 ? used_ / usable_ : 1;
}

void Checker::NoteStarving(Instance& instance) {
  const bool starves = instance.alive() && instance.demand > 0 && instance.process->connected() &&
                       instance.process->InForce() == 0;
  if (!starves) {
    instance.starving_since.reset();
    return;
  }
  const Instant now = world_.queue.now();
  if (!instance.starving_since.has_value()) instance.starving_since = now;
  result_.starved_max = std::max(result_.starved_max, now - *instance.starving_since);
}

}  // namespace plimsoll::internal
