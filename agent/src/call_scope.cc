#include "plimsoll/agent/call_scope.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

namespace plimsoll {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kDigitsMax = 9;  // fits an int

std::optional<int> ParseNumber(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > kDigitsMax || !std::ranges::all_of(text, digit)) return {};
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

CallBudget CallBudget::Current() { return {Deadline::Current(), RetryScope::Left()}; }

CallBudget CallBudget::CutTo(const CallBudget& limits) const {
  return {std::min(deadline, limits.deadline), std::min(retries, limits.retries)};
}

std::string TimeLeftText(Deadline deadline) {
  if (deadline.never()) return "";
  const auto left = std::chrono::floor<milliseconds>(deadline.left());
  return std::to_string(std::max(left, milliseconds(0)).count());
}

std::string RetriesLeftText(int retries) {
  return retries >= RetryScope::kUnlimited ? "" : std::to_string(std::max(retries, 0));
}

CallBudget ParseCallBudget(std::string_view time_left_ms, std::string_view retries_left) {
  CallBudget budget;
  if (const auto ms = ParseNumber(time_left_ms)) budget.deadline = Deadline::In(milliseconds(*ms));
  budget.retries = ParseNumber(retries_left).value_or(RetryScope::kUnlimited);
  return budget;
}

int ParseRetriesUsed(std::string_view retries_used) {
  return ParseNumber(retries_used).value_or(0);
}

CallScope::CallScope(const CallBudget& budget)
    : deadline_(budget.deadline), retries_(budget.retries), given_(RetryScope::Left()) {}

}  // namespace plimsoll
