#include <set>

#include "absl/strings/str_cat.h"
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

constexpr std::size_t kTextBytesMax = 64;
constexpr int kUnsaid = -1;

void ReadDependencies(const JsonValue& value, Faults& faults, RegisterRequest& into) {
  if (!internal::CheckArray(value, kDependenciesPerMessageMax, faults)) return;
  std::set<std::string_view> seen;
  for (const JsonValue& element : value) {
    into.dependencies.emplace_back(internal::ReadName(element, faults));
    if (element.type() == internal::JsonType::kString && !seen.insert(element.text()).second) {
      faults.Add(element, internal::kConflict, "must not be named twice");
    }
  }
}

constexpr Field<RegisterRequest> kRegisterFields[] = {
    {"service", true,
     [](const JsonValue& value, Faults& faults, RegisterRequest& into) {
       into.service.value = internal::ReadName(value, faults);
     }},
    {"instance_id", true,
     [](const JsonValue& value, Faults& faults, RegisterRequest& into) {
       into.instance.value = internal::ReadName(value, faults);
     }},
    {"unique_instance", false,
     [](const JsonValue& value, Faults& faults, RegisterRequest& into) {
       into.unique_instance = internal::ReadBoolean(value, faults);
     }},
    {"zone", false,
     [](const JsonValue& value, Faults& faults, RegisterRequest& into) {
       into.zone = internal::ReadText(value, 0, kTextBytesMax, faults);
     }},
    {"agent_version", false,
     [](const JsonValue& value, Faults& faults, RegisterRequest& into) {
       into.agent_version = internal::ReadText(value, 0, kTextBytesMax, faults);
     }},
    {"protocol", true,
     [](const JsonValue& value, Faults& faults, RegisterRequest& into) {
       into.protocol.max =
           static_cast<int>(internal::ReadInteger(value, 0, internal::kProtocolMax, faults));
     }},
    {"protocol_min", false,
     [](const JsonValue& value, Faults& faults, RegisterRequest& into) {
       into.protocol.min =
           static_cast<int>(internal::ReadInteger(value, 0, internal::kProtocolMax, faults));
     }},
    {"nonce", true,
     [](const JsonValue& value, Faults& faults, RegisterRequest& into) {
       into.nonce = internal::ReadText(value, 1, kTextBytesMax, faults);
     }},
    {"dependencies", true, &ReadDependencies},
};

}  // namespace

std::string Encode(const RegisterRequest& request) {
  JsonWriter writer;
  writer.BeginObject();
  writer.Key("service").String(request.service.value);
  writer.Key("instance_id").String(request.instance.value);
  writer.Key("unique_instance").Boolean(request.unique_instance);
  writer.Key("zone").String(request.zone);
  writer.Key("agent_version").String(request.agent_version);
  writer.Key("protocol").Integer(request.protocol.max);
  if (request.protocol.min != request.protocol.max) {
    writer.Key("protocol_min").Integer(request.protocol.min);
  }
  writer.Key("nonce").String(request.nonce);
  writer.Key("dependencies").BeginArray();
  for (const DependencyId& dependency : request.dependencies) writer.String(dependency.value);
  writer.EndArray().EndObject();
  return writer.Take();
}

absl::StatusOr<RegisterRequest> DecodeRegisterRequest(std::string_view body,
                                                      FieldFaults& fault_list) {
  Faults faults(fault_list);
  JsonTree tree;
  RegisterRequest request;
  request.unique_instance = false;  // who does not promise it is not held to it
  request.protocol.min = kUnsaid;
  if (internal::ParseDocument(body, tree, faults)) {
    // A newer agent may say more than an older one could: it must mean nothing to a controller that
    // agrees on an older version. Of ourselves we know all keys, so that another one is an error.
    const bool newer = internal::PeekVersion(tree) > kProtocolVersion;
    internal::ReadObject(tree.root(), kRegisterFields,
                         newer ? UnknownKeys::kIgnore : UnknownKeys::kRefuse, faults, request);
    if (request.protocol.min == kUnsaid) request.protocol.min = request.protocol.max;
    if (request.protocol.min > request.protocol.max) {
      faults.Add("/protocol_min", internal::kConflict, "must not be above protocol");
    }
  }
  if (!faults.any()) return request;
  return absl::InvalidArgumentError(
      absl::StrCat("registration refused: ", internal::FirstFault(fault_list)));
}

}  // namespace plimsoll
