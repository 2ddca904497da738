#include "absl/strings/str_cat.h"
#include "api/wire/src/breaker_codec.h"
#include "api/wire/src/grant_codec.h"
#include "api/wire/src/json_reader.h"
#include "api/wire/src/json_writer.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll {
namespace {

using internal::Faults;
using internal::Field;
using internal::JsonTree;
using internal::JsonValue;
using internal::JsonWriter;
using internal::UnknownKeys;

constexpr absl::Duration kZero = absl::ZeroDuration();
constexpr std::size_t kSessionBytesMax = 63;
// Seldom longer.
constexpr std::size_t kAnswerBytes = 128;
constexpr std::size_t kGrantBytes = 448;

constexpr Field<RegisterAnswer> kRegisterAnswerFields[] = {
    {"session", true,
     [](const JsonValue& value, Faults& faults, RegisterAnswer& into) {
       into.session.value = internal::ReadText(value, 1, kSessionBytesMax, faults);
     }},
    {"epoch", true,
     [](const JsonValue& value, Faults& faults, RegisterAnswer& into) {
       into.epoch.value = internal::ReadNumber(value, faults);
     }},
    {"hold_max_ms", true,
     [](const JsonValue& value, Faults& faults, RegisterAnswer& into) {
       into.hold_max = internal::ReadTimer(value, kZero, internal::kTimerMax, faults);
     }},
    {"sync_min_ms", true,
     [](const JsonValue& value, Faults& faults, RegisterAnswer& into) {
       into.sync_min = internal::ReadTimer(value, kZero, internal::kTimerMax, faults);
     }},
    {"settings", true,
     [](const JsonValue& value, Faults& faults, RegisterAnswer& into) {
       internal::ReadSettings(value, faults, into.settings);
     }},
    {"grants", true,
     [](const JsonValue& value, Faults& faults, RegisterAnswer& into) {
       internal::ReadGrants(value, faults, into.grants);
     }},
    {"protocol", false,
     [](const JsonValue& value, Faults& faults, RegisterAnswer& into) {
       into.protocol =
           static_cast<int>(internal::ReadInteger(value, 0, internal::kProtocolMax, faults));
     }},
};

constexpr Field<SyncAnswer> kSyncAnswerFields[] = {
    {"epoch", true,
     [](const JsonValue& value, Faults& faults, SyncAnswer& into) {
       into.epoch.value = internal::ReadNumber(value, faults);
     }},
    {"superseded", false,
     [](const JsonValue& value, Faults& faults, SyncAnswer& into) {
       into.superseded = internal::ReadBoolean(value, faults);
     }},
    {"next_sync_ms", true,
     [](const JsonValue& value, Faults& faults, SyncAnswer& into) {
       into.next_sync = internal::ReadTimer(value, kZero, internal::kTimerMax, faults);
     }},
    {"settings", true,
     [](const JsonValue& value, Faults& faults, SyncAnswer& into) {
       internal::ReadSettings(value, faults, into.settings);
     }},
    {"grants", true,
     [](const JsonValue& value, Faults& faults, SyncAnswer& into) {
       internal::ReadGrants(value, faults, into.grants);
     }},
    {"breakers", false,
     [](const JsonValue& value, Faults& faults, SyncAnswer& into) {
       internal::ReadBreakerOrders(value, faults, into.breakers);
     }},
    {"protocol", false,
     [](const JsonValue& value, Faults& faults, SyncAnswer& into) {
       into.protocol =
           static_cast<int>(internal::ReadInteger(value, 0, internal::kProtocolMax, faults));
     }},
};

template <typename Answer, std::size_t N>
absl::StatusOr<Answer> Decode(std::string_view body, const Field<Answer> (&fields)[N]) {
  FieldFaults fault_list;
  Faults faults(fault_list);
  JsonTree tree;
  Answer answer;
  if (internal::ParseDocument(body, tree, faults)) {
    internal::ReadObject(tree.root(), fields, UnknownKeys::kIgnore, faults, answer);
  }
  if (!faults.any()) return answer;
  return absl::DataLossError(absl::StrCat("the controller's answer is not understood: ",
                                          internal::FirstFault(fault_list)));
}

}  // namespace

absl::StatusOr<RegisterAnswer> DecodeRegisterAnswer(std::string_view body) {
  return Decode(body, kRegisterAnswerFields);
}

absl::StatusOr<SyncAnswer> DecodeSyncAnswer(std::string_view body) {
  return Decode(body, kSyncAnswerFields);
}

std::string Encode(const RegisterAnswer& answer) {
  JsonWriter writer;
  writer.BeginObject();
  writer.Key("session").String(answer.session.value);
  writer.Key("epoch").Integer(answer.epoch.value);
  writer.Key("hold_max_ms").Timer(answer.hold_max);
  writer.Key("sync_min_ms").Timer(answer.sync_min);
  writer.Key("settings");
  internal::WriteSettings(answer.settings, writer);
  writer.Key("grants");
  internal::WriteGrants(answer.grants, writer);
  writer.Key("protocol").Integer(answer.protocol);
  writer.EndObject();
  return writer.Take();
}

std::string Encode(const SyncAnswer& answer) {
  JsonWriter writer(kAnswerBytes + answer.grants.size() * kGrantBytes);
  writer.BeginObject();
  writer.Key("epoch").Integer(answer.epoch.value);
  writer.Key("superseded").Boolean(answer.superseded);
  writer.Key("next_sync_ms").Timer(answer.next_sync);
  writer.Key("settings");
  internal::WriteSettings(answer.settings, writer);
  writer.Key("grants");
  internal::WriteGrants(answer.grants, writer);
  if (!answer.breakers.empty()) {
    writer.Key("breakers");
    internal::WriteBreakerOrders(answer.breakers, writer);
  }
  if (answer.protocol != kProtocolVersionUnsaid) writer.Key("protocol").Integer(answer.protocol);
  writer.EndObject();
  return writer.Take();
}

}  // namespace plimsoll
