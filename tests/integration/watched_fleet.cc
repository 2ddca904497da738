#include "tests/integration/watched_fleet.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll {

std::string FixedPolicy(const std::string& dependency, absl::Duration base_lease) {
  return absl::StrCat("  - {name: ", dependency, ", algorithm: fixed, initial: ", kQuota,
                      ", scope: fleet, floor: 1, ceiling: ", kQuota, ", quota: {capacity: ", kQuota,
                      "}, call_deadline: 1s, outage: {base: ", kBase,
                      ", base_lease: ", absl::FormatDuration(base_lease), "}}\n");
}

absl::StatusOr<std::unique_ptr<Agent>> StartShop(std::size_t number,
                                                 const std::vector<std::string>& controllers) {
  AgentOptions options;
  options.controllers = controllers;
  options.service = "shop";
  options.instance = absl::StrCat("shop-", number);
  options.log = [](std::string_view) {};
  return Agent::Start(options);
}

WatchedFleet::WatchedFleet(std::vector<std::string> dependencies)
    : dependencies_(std::move(dependencies)) {}

WatchedFleet::~WatchedFleet() { StopWatching(); }

absl::Status WatchedFleet::Join(const std::vector<std::string>& controllers) {
  absl::StatusOr<std::unique_ptr<Agent>> agent = StartShop(agents_.size(), controllers);
  if (!agent.ok()) return agent.status();
  std::vector<const Bulkhead*> bulkheads;
  for (const std::string& name : dependencies_) bulkheads.push_back(&(*agent)->bulkhead(name));
  agents_.push_back(*std::move(agent));
  const std::lock_guard lock(mutex_);
  bulkheads_.push_back(std::move(bulkheads));
  return absl::OkStatus();
}

int WatchedFleet::limit(std::size_t instance) const {
  const std::lock_guard lock(mutex_);
  return instance < bulkheads_.size() ? bulkheads_[instance].front()->limit() : 0;
}

int WatchedFleet::Sum() const {
  const std::lock_guard lock(mutex_);
  int most = 0;
  for (std::size_t i = 0; i < dependencies_.size(); ++i) {
    int sum = 0;
    for (const auto& bulkheads : bulkheads_) sum += bulkheads[i]->limit();
    most = std::max(most, sum);
  }
  return most;
}

int WatchedFleet::Least() const {
  const std::lock_guard lock(mutex_);
  int least = kQuota;
  for (const auto& bulkheads : bulkheads_) {
    for (const Bulkhead* bulkhead : bulkheads) least = std::min<int>(least, bulkhead->limit());
  }
  return least;
}

void WatchedFleet::Watch() {
  watching_ = true;
  watcher_ = std::thread([this] {
    while (watching_) {
      largest_sum_ = std::max<int>(largest_sum_, Sum());
      least_ = std::min<int>(least_, Least());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
}

void WatchedFleet::StopWatching() {
  watching_ = false;
  if (watcher_.joinable()) watcher_.join();
}

}  // namespace plimsoll
