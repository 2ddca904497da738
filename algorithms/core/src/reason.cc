#include "plimsoll/core/reason.h"

#include <algorithm>

namespace plimsoll {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, kReasons> kReasonNames = {"LATENCY_ROSE",
                                                                 "LATENCY_FELL",
                                                                 "THROUGHPUT_GREW",
                                                                 "THROUGHPUT_FLAT",
                                                                 "ERRORS",
                                                                 "TIMEOUTS",
                                                                 "UNDERUSED",
                                                                 "PROBE",
                                                                 "FLOOR",
                                                                 "CEILING",
                                                                 "QUOTA_REBALANCED",
                                                                 "QUOTA_CHANGED",
                                                                 "OVERRIDE_SET",
                                                                 "OVERRIDE_CLEARED",
                                                                 "CONFIG_RELOADED",
                                                                 "RESET",
                                                                 "FALLBACK_ENTERED",
                                                                 "FALLBACK_LEFT",
                                                                 "INITIAL"};
constexpr std::array<std::string_view, kBindingConstraints> kConstraintNames = {
    "ALGORITHM", "QUOTA", "FLOOR", "CEILING", "OVERRIDE", "FALLBACK"};
constexpr std::array<std::string_view, kRejectReasons> kRejectNames = {
    "LIMIT", "QUEUE_FULL", "DEADLINE", "BREAKER_OPEN", "DRAINING", "TENANT"};
constexpr std::array<std::string_view, kWindowOutcomes> kOutcomeNames = {"USED", "TOO_FEW_SAMPLES",
                                                                         "NOT_SATURATED", "STALE"};

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool SameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Upper(x) == Upper(y); });
}

template <typename Enum, std::size_t N>
std::optional<Enum> Find(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (SameWord(names[i], name)) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view ToString(Reason reason) { return kReasonNames[static_cast<std::size_t>(reason)]; }
std::string_view ToString(BindingConstraint constraint) {
  return kConstraintNames[static_cast<std::size_t>(constraint)];
}
std::string_view ToString(RejectReason reason) {
  return kRejectNames[static_cast<std::size_t>(reason)];
}
std::string_view ToString(WindowOutcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

std::optional<Reason> ReasonFromString(std::string_view name) {
  return Find<Reason>(kReasonNames, name);
}
std::optional<BindingConstraint> BindingConstraintFromString(std::string_view name) {
  return Find<BindingConstraint>(kConstraintNames, name);
}
std::optional<RejectReason> RejectReasonFromString(std::string_view name) {
  return Find<RejectReason>(kRejectNames, name);
}

}  // namespace plimsoll
