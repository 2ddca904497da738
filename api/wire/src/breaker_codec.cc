#include "api/wire/src/breaker_codec.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "api/wire/src/grant_codec.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {
namespace {

constexpr std::size_t kWordBytesMax = 32;
// Whatever makes sense is well inside. What does not is for the agent to refuse, without refusing
// the grants that came with it.
constexpr double kRealMax = 1e9;

// In the order of the enumerations.
constexpr std::array<std::string_view, kBreakerViews> kViews = {"CLOSED", "OPEN", "HALF_OPEN",
                                                                "PROBING"};
constexpr std::array<std::string_view, kBreakerCommands> kCommands = {"CLOSE", "OPEN", "PROBE"};

template <typename Enum, std::size_t N>
std::optional<Enum> ReadWord(const JsonValue& value, const std::array<std::string_view, N>& words,
                             Faults& faults) {
  const std::string word = ReadText(value, 1, kWordBytesMax, faults);
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}
template <typename Enum, std::size_t N>
Enum ReadWordStrictly(const JsonValue& value, const std::array<std::string_view, N>& words,
                      Faults& faults) {
  const std::optional<Enum> word = ReadWord<Enum>(value, words, faults);
  if (!word.has_value()) faults.Add(value, kBadFormat, "is none of the words that stand here");
  return word.value_or(Enum());
}
template <typename Enum, std::size_t N>
std::string_view WordOf(Enum value, const std::array<std::string_view, N>& words) {
  return words[static_cast<std::size_t>(value)];
}

constexpr Field<BreakerReport> kReportFields[] = {
    {"order_epoch", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.order.epoch.value = ReadNumber(value, faults);
     }},
    {"order_seq", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.order.seq.value = ReadNumber(value, faults);
     }},
    {"command", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.command = ReadWordStrictly<BreakerCommand>(value, kCommands, faults);
     }},
    {"view", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.view = ReadWordStrictly<BreakerView>(value, kViews, faults);
     }},
    {"succeeded", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.evidence.succeeded = ReadCount(value, faults);
     }},
    {"failed", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.evidence.failed = ReadCount(value, faults);
     }},
    {"slow", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.evidence.slow = ReadCount(value, faults);
     }},
    {"hanging", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.evidence.hanging = ReadCount(value, faults);
     }},
    {"failures_in_a_row", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.evidence.failures_in_a_row = ReadCount(value, faults);
     }},
    {"refused", true,
     [](const JsonValue& value, Faults& faults, BreakerReport& into) {
       into.refused = ReadCount(value, faults);
     }},
};

constexpr Field<BreakerSettings> kBreakerSettingsFields[] = {
    {"consecutive_failures", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.rules.consecutive_failures = ReadCount(value, faults);
     }},
    {"failure_rate", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.rules.failure_rate = ReadReal(value, 0, kRealMax, faults);
     }},
    {"slow_rate", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.rules.slow_rate = ReadReal(value, 0, kRealMax, faults);
     }},
    {"calls_min", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.rules.calls_min = ReadCount(value, faults);
     }},
    {"slow_after_ms", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.slow_after = ReadTimer(value, absl::ZeroDuration(), kTimerMax, faults);
     }},
    {"window_ms", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.window = ReadTimer(value, absl::ZeroDuration(), kTimerMax, faults);
     }},
    {"hang_after_ms", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.hang_after = ReadTimer(value, absl::ZeroDuration(), kTimerMax, faults);
     }},
    {"cool_off_ms", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.cool_off = ReadTimer(value, absl::ZeroDuration(), kTimerMax, faults);
     }},
    {"cool_off_max_ms", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.cool_off_max = ReadTimer(value, absl::ZeroDuration(), kTimerMax, faults);
     }},
    {"cool_off_growth", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.cool_off_growth = ReadReal(value, 0, kRealMax, faults);
     }},
    {"cool_off_jitter", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.cool_off_jitter = ReadReal(value, 0, kRealMax, faults);
     }},
    {"probe_deadline_ms", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.probe_deadline = ReadTimer(value, absl::ZeroDuration(), kTimerMax, faults);
     }},
    {"probes_to_close", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.probes_to_close = static_cast<int>(ReadInteger(value, 0, kCallsMax, faults));
     }},
    {"probe_failures_to_open", true,
     [](const JsonValue& value, Faults& faults, BreakerSettings& into) {
       into.probe_failures_to_open = static_cast<int>(ReadInteger(value, 0, kCallsMax, faults));
     }},
};

constexpr Field<BreakerOrder> kOrderFields[] = {
    {"dependency", true,
     [](const JsonValue& value, Faults& faults, BreakerOrder& into) {
       into.dependency.value = ReadName(value, faults);
     }},
    {"epoch", true,
     [](const JsonValue& value, Faults& faults, BreakerOrder& into) {
       into.id.epoch.value = ReadNumber(value, faults);
     }},
    {"seq", true,
     [](const JsonValue& value, Faults& faults, BreakerOrder& into) {
       into.id.seq.value = ReadNumber(value, faults);
     }},
    // A command that only a newer controller knows is read as the harmless one.
    {"command", true,
     [](const JsonValue& value, Faults& faults, BreakerOrder& into) {
       into.command =
           ReadWord<BreakerCommand>(value, kCommands, faults).value_or(BreakerCommand::kClose);
     }},
    {"hold_ms", false,
     [](const JsonValue& value, Faults& faults, BreakerOrder& into) {
       into.hold = ReadTimer(value, absl::ZeroDuration(), kTimerMax, faults);
     }},
};

std::int64_t Bounded(std::int64_t count) { return std::clamp<std::int64_t>(count, 0, kCountMax); }

}  // namespace

void ReadBreakerReport(const JsonValue& value, Faults& faults, BreakerReport& into) {
  ReadObject(value, kReportFields, UnknownKeys::kRefuse, faults, into);
}

void WriteBreakerReport(const BreakerReport& report, JsonWriter& writer) {
  const BreakerEvidence& evidence = report.evidence;
  writer.BeginObject();
  writer.Key("order_epoch").Integer(report.order.epoch.value);
  writer.Key("order_seq").Integer(report.order.seq.value);
  writer.Key("command").String(WordOf(report.command, kCommands));
  writer.Key("view").String(WordOf(report.view, kViews));
  writer.Key("succeeded").Integer(Bounded(evidence.succeeded));
  writer.Key("failed").Integer(Bounded(evidence.failed));
  writer.Key("slow").Integer(Bounded(evidence.slow));
  writer.Key("hanging").Integer(Bounded(evidence.hanging));
  writer.Key("failures_in_a_row").Integer(Bounded(evidence.failures_in_a_row));
  writer.Key("refused").Integer(Bounded(report.refused));
  writer.EndObject();
}

void ReadBreakerSettings(const JsonValue& value, Faults& faults, BreakerSettings& into) {
  ReadObject(value, kBreakerSettingsFields, UnknownKeys::kIgnore, faults, into);
}

void WriteBreakerSettings(const BreakerSettings& settings, JsonWriter& writer) {
  writer.BeginObject();
  writer.Key("consecutive_failures").Integer(settings.rules.consecutive_failures);
  writer.Key("failure_rate").Real(settings.rules.failure_rate);
  writer.Key("slow_rate").Real(settings.rules.slow_rate);
  writer.Key("calls_min").Integer(settings.rules.calls_min);
  writer.Key("slow_after_ms").Timer(settings.slow_after);
  writer.Key("window_ms").Timer(settings.window);
  writer.Key("hang_after_ms").Timer(settings.hang_after);
  writer.Key("cool_off_ms").Timer(settings.cool_off);
  writer.Key("cool_off_max_ms").Timer(settings.cool_off_max);
  writer.Key("cool_off_growth").Real(settings.cool_off_growth);
  writer.Key("cool_off_jitter").Real(settings.cool_off_jitter);
  writer.Key("probe_deadline_ms").Timer(settings.probe_deadline);
  writer.Key("probes_to_close").Integer(settings.probes_to_close);
  writer.Key("probe_failures_to_open").Integer(settings.probe_failures_to_open);
  writer.EndObject();
}

void ReadBreakerOrders(const JsonValue& value, Faults& faults, std::vector<BreakerOrder>& into) {
  if (!CheckArray(value, kDependenciesPerMessageMax, faults)) return;
  for (const JsonValue& element : value) {
    ReadObject(element, kOrderFields, UnknownKeys::kIgnore, faults, into.emplace_back());
  }
}

void WriteBreakerOrders(const std::vector<BreakerOrder>& orders, JsonWriter& writer) {
  writer.BeginArray();
  for (const BreakerOrder& order : orders) {
    writer.BeginObject();
    writer.Key("dependency").String(order.dependency.value);
    writer.Key("epoch").Integer(order.id.epoch.value);
    writer.Key("seq").Integer(order.id.seq.value);
    writer.Key("command").String(WordOf(order.command, kCommands));
    writer.Key("hold_ms").Timer(std::clamp(order.hold, absl::ZeroDuration(), kTimerMax));
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace plimsoll::internal
