#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "api/wire/src/breaker_codec.h"
#include "api/wire/src/json_reader.h"
#include "api/wire/src/json_writer.h"
#include "api/wire/src/window_codec.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll {
namespace {

using internal::Faults;
using internal::Field;
using internal::JsonTree;
using internal::JsonValue;
using internal::JsonWriter;
using internal::UnknownKeys;

constexpr absl::Duration kHoldMax = absl::Hours(24);

void ReadWindows(const JsonValue& value, Faults& faults, DependencyReport& into) {
  if (!internal::CheckArray(value, kWindowsPerReportMax, faults)) return;
  for (const JsonValue& element : value) {
    internal::ReadWindow(element, faults, into.windows.emplace_back());
  }
}

constexpr Field<DependencyReport> kReportFields[] = {
    {"name", true,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.dependency.value = internal::ReadName(value, faults);
     }},
    {"installed_epoch", true,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.installed.epoch.value = internal::ReadNumber(value, faults);
     }},
    {"installed_seq", true,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.installed.seq.value = internal::ReadNumber(value, faults);
     }},
    {"enforced", true,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.in_force.limit = internal::ReadCalls(value, faults);
     }},
    {"base", true,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.in_force.base = internal::ReadCalls(value, faults);
     }},
    {"reserve", true,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.in_force.reserve = internal::ReadCalls(value, faults);
     }},
    {"in_flight", true,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.in_flight = internal::ReadCalls(value, faults);
     }},
    {"in_flight_max", true,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.in_flight_max = internal::ReadCalls(value, faults);
     }},
    {"waiting", false,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       into.waiting = internal::ReadCalls(value, faults);
     }},
    {"windows", false, &ReadWindows},
    {"breaker", false,
     [](const JsonValue& value, Faults& faults, DependencyReport& into) {
       internal::ReadBreakerReport(value, faults, into.breaker.emplace());
     }},
};

void ReadReports(const JsonValue& value, Faults& faults, SyncRequest& into) {
  if (!internal::CheckArray(value, kDependenciesPerMessageMax, faults)) return;
  // Not references into the vector, which grows.
  std::set<std::string> seen;
  for (const JsonValue& element : value) {
    DependencyReport report;
    internal::ReadObject(element, kReportFields, UnknownKeys::kRefuse, faults, report);
    if (!report.dependency.empty() && !seen.insert(report.dependency.value).second) {
      faults.Add(element.Pointer() + "/name", internal::kConflict, "must not be reported twice");
    }
    into.dependencies.push_back(std::move(report));
  }
}

constexpr Field<Identity> kIdentityFields[] = {
    {"service", true,
     [](const JsonValue& value, Faults& faults, Identity& into) {
       into.service.value = internal::ReadName(value, faults);
     }},
    {"instance", true,
     [](const JsonValue& value, Faults& faults, Identity& into) {
       into.instance.value = internal::ReadName(value, faults);
     }},
    {"unique_instance", true,
     [](const JsonValue& value, Faults& faults, Identity& into) {
       into.unique_instance = internal::ReadBoolean(value, faults);
     }},
};

constexpr Field<SyncRequest> kSyncFields[] = {
    {"n", true,
     [](const JsonValue& value, Faults& faults, SyncRequest& into) {
       into.n.value = internal::ReadInteger(value, 1, internal::kNumberMax, faults);
     }},
    {"epoch", true,
     [](const JsonValue& value, Faults& faults, SyncRequest& into) {
       into.epoch.value = internal::ReadNumber(value, faults);
     }},
    {"hold_ms", true,
     [](const JsonValue& value, Faults& faults, SyncRequest& into) {
       into.hold = internal::ReadTimer(value, absl::ZeroDuration(), kHoldMax, faults);
     }},
    {"leaving", false,
     [](const JsonValue& value, Faults& faults, SyncRequest& into) {
       into.leaving = internal::ReadBoolean(value, faults);
     }},
    {"identity", false,
     [](const JsonValue& value, Faults& faults, SyncRequest& into) {
       internal::ReadObject(value, kIdentityFields, UnknownKeys::kRefuse, faults,
                            into.identity.emplace());
     }},
    {"dependencies", true, &ReadReports},
    {"protocol", false,
     [](const JsonValue& value, Faults& faults, SyncRequest& into) {
       into.protocol =
           static_cast<int>(internal::ReadInteger(value, 0, internal::kProtocolMax, faults));
     }},
};

void WriteReport(const DependencyReport& report, JsonWriter& writer) {
  writer.BeginObject();
  writer.Key("name").String(report.dependency.value);
  writer.Key("installed_epoch").Integer(report.installed.epoch.value);
  writer.Key("installed_seq").Integer(report.installed.seq.value);
  writer.Key("enforced").Integer(report.in_force.limit);
  writer.Key("base").Integer(report.in_force.base);
  writer.Key("reserve").Integer(report.in_force.reserve);
  writer.Key("in_flight").Integer(report.in_flight);
  writer.Key("in_flight_max").Integer(report.in_flight_max);
  writer.Key("waiting").Integer(report.waiting);
  writer.Key("windows").BeginArray();
  for (const Window& window : report.windows) internal::WriteWindow(window, writer);
  writer.EndArray();
  if (report.breaker.has_value()) {
    writer.Key("breaker");
    internal::WriteBreakerReport(*report.breaker, writer);
  }
  writer.EndObject();
}

}  // namespace

std::string Encode(const SyncRequest& request) {
  JsonWriter writer;
  writer.BeginObject();
  writer.Key("n").Integer(request.n.value);
  writer.Key("epoch").Integer(request.epoch.value);
  writer.Key("hold_ms").Timer(request.hold);
  writer.Key("leaving").Boolean(request.leaving);
  if (request.identity.has_value()) {
    writer.Key("identity").BeginObject();
    writer.Key("service").String(request.identity->service.value);
    writer.Key("instance").String(request.identity->instance.value);
    writer.Key("unique_instance").Boolean(request.identity->unique_instance);
    writer.EndObject();
  }
  writer.Key("dependencies").BeginArray();
  for (const DependencyReport& report : request.dependencies) WriteReport(report, writer);
  writer.EndArray();
  if (request.protocol != kProtocolVersionUnsaid) writer.Key("protocol").Integer(request.protocol);
  writer.EndObject();
  return writer.Take();
}

absl::StatusOr<SyncRequest> DecodeSyncRequest(std::string_view body, SessionId session,
                                              FieldFaults& fault_list) {
  Faults faults(fault_list);
  JsonTree tree;
  SyncRequest request;
  request.session = std::move(session);
  if (internal::ParseDocument(body, tree, faults)) {
    const int version = internal::PeekVersion(tree);
    if (version > kProtocolVersion) {
      request.protocol = version;
      return request;
    }
    internal::ReadObject(tree.root(), kSyncFields, UnknownKeys::kRefuse, faults, request);
  }
  if (!faults.any()) return request;
  return absl::InvalidArgumentError(
      absl::StrCat("sync refused: ", internal::FirstFault(fault_list)));
}

}  // namespace plimsoll
