#include "api/wire/src/window_codec.h"

#include <algorithm>
#include <optional>
#include <string>

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kZero = absl::ZeroDuration();
// The finest that the wire can tell.
constexpr absl::Duration kLengthMin = absl::Microseconds(1);
constexpr absl::Duration kLengthMax = absl::Hours(24);
// Call-seconds: the most calls there are, for a quarter of an hour. Exact in a double.
constexpr absl::Duration kInFlightMax = absl::Milliseconds(1'000'000'000'000);

void ReadRejected(const JsonValue& value, Faults& faults, Window& into) {
  if (!CheckObject(value, faults)) return;
  std::uint32_t seen = 0;
  for (const JsonValue& member : value) {
    const std::optional<RejectReason> reason = RejectReasonFromString(member.key());
    if (!reason) {
      faults.Add(member, kUnknownKey, "no such reason of a rejection");
      continue;
    }
    const auto index = static_cast<std::size_t>(*reason);
    if ((seen & (1U << index)) != 0) faults.Add(member, kDuplicateKey, "must not appear twice");
    seen |= 1U << index;
    into.rejected[index] = ReadCount(member, faults);
  }
}

// [bucket, count, bucket, count, …]
void ReadLatency(const JsonValue& value, Faults& faults, Window& into) {
  constexpr auto kBuckets = static_cast<std::int64_t>(LatencyHistogram::kBuckets);
  if (!CheckArray(value, 2 * LatencyHistogram::kBuckets, faults)) return;
  if (value.size() % 2 != 0) {
    faults.Add(value, kBadFormat, "must be pairs of bucket and count");
    return;
  }
  std::int64_t previous = -1;
  for (JsonIterator it = value.begin(); it != value.end(); ++it) {
    const JsonValue& at = *it;
    const std::int64_t bucket = ReadInteger(at, 0, kBuckets - 1, faults);
    if (at.integer() >= 0 && at.type() == JsonType::kInteger && at.integer() <= previous) {
      faults.Add(at, kConflict, "buckets must ascend");
    }
    previous = std::max(previous, bucket);
    ++it;
    const std::int64_t count = ReadInteger(*it, 1, kCountMax, faults);
    into.latency.Add(static_cast<std::size_t>(bucket), static_cast<std::uint32_t>(count));
  }
}

constexpr Field<Window> kWindowFields[] = {
    {"epoch", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.stamp.epoch.value = ReadNumber(value, faults);
     }},
    {"seq", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.stamp.seq.value = ReadNumber(value, faults);
     }},
    {"length_ms", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.length = ReadMeasured(value, kLengthMin, kLengthMax, faults);
     }},
    {"admitted", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.admitted = ReadCount(value, faults);
     }},
    {"succeeded", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.succeeded = ReadCount(value, faults);
     }},
    {"dropped", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.dropped = ReadCount(value, faults);
     }},
    {"ignored", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.ignored = ReadCount(value, faults);
     }},
    {"rejected", false, &ReadRejected},
    {"in_flight_max", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.in_flight_max = ReadCalls(value, faults);
     }},
    {"in_flight_ms", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.in_flight = ReadMeasured(value, kZero, kInFlightMax, faults);
     }},
    {"at_limit_ms", true,
     [](const JsonValue& value, Faults& faults, Window& into) {
       into.at_limit = ReadMeasured(value, kZero, kLengthMax, faults);
     }},
    {"latency", false, &ReadLatency},
};

// What the other side would refuse must not be written: the whole sync would be lost.
std::int64_t Count(std::int64_t count) { return std::clamp<std::int64_t>(count, 0, kCountMax); }

void WriteRejected(const Window& window, JsonWriter& writer) {
  writer.BeginObject();
  for (std::size_t i = 0; i < kRejectReasons; ++i) {
    if (window.rejected[i] == 0) continue;
    std::string reason(ToString(static_cast<RejectReason>(i)));
    std::transform(reason.begin(), reason.end(), reason.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    writer.Key(reason).Integer(Count(window.rejected[i]));
  }
  writer.EndObject();
}

void WriteLatency(const LatencyHistogram& latency, JsonWriter& writer) {
  writer.BeginArray();
  for (std::size_t bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
    const std::uint32_t count = latency.count(bucket);
    if (count == 0) continue;
    writer.Integer(static_cast<std::int64_t>(bucket));
    writer.Integer(Count(count));
  }
  writer.EndArray();
}

}  // namespace

void ReadWindow(const JsonValue& value, Faults& faults, Window& into) {
  ReadObject(value, kWindowFields, UnknownKeys::kRefuse, faults, into);
}

void WriteWindow(const Window& window, JsonWriter& writer) {
  writer.BeginObject();
  writer.Key("epoch").Integer(window.stamp.epoch.value);
  writer.Key("seq").Integer(window.stamp.seq.value);
  writer.Key("length_ms").Measured(std::max(window.length, kLengthMin));
  writer.Key("admitted").Integer(Count(window.admitted));
  writer.Key("succeeded").Integer(Count(window.succeeded));
  writer.Key("dropped").Integer(Count(window.dropped));
  writer.Key("ignored").Integer(Count(window.ignored));
  writer.Key("rejected");
  WriteRejected(window, writer);
  writer.Key("in_flight_max").Integer(window.in_flight_max);
  writer.Key("in_flight_ms").Measured(window.in_flight);
  writer.Key("at_limit_ms").Measured(window.at_limit);
  writer.Key("latency");
  WriteLatency(window.latency, writer);
  writer.EndObject();
}

}  // namespace plimsoll::internal
