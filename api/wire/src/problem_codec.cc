#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "api/wire/src/json_reader.h"
#include "api/wire/src/json_writer.h"
#include "plimsoll/core/shard.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll {
namespace {

using internal::Faults;
using internal::Field;
using internal::JsonTree;
using internal::JsonValue;
using internal::JsonWriter;
using internal::UnknownKeys;

constexpr std::size_t kDetailBytesMax = 4096;
constexpr std::size_t kAddressBytesMax = 512;

constexpr std::array kRefusalCodes = {
    RefusalCode::kInvalidArgument, RefusalCode::kAgentTooOld,      RefusalCode::kControllerTooOld,
    RefusalCode::kSessionUnknown,  RefusalCode::kIdentityRequired, RefusalCode::kSessionSuperseded,
    RefusalCode::kStaleSync,       RefusalCode::kRateLimited,      RefusalCode::kNotLeader,
    RefusalCode::kNotReady};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// "SESSION_UNKNOWN" as "session-unknown".
std::string InLowerCase(std::string_view code, char separator) {
  std::string text(code);
  std::transform(text.begin(), text.end(), text.begin(), Lower);
  std::replace(text.begin(), text.end(), '_', separator);
  return text;
}

// "Session unknown".
std::string Title(std::string_view code) {
  std::string title = InLowerCase(code, ' ');
  if (!title.empty()) title.front() = code.front();
  return title;
}

void WriteUnlessEmpty(std::string_view key, const std::string& value, JsonWriter& writer) {
  if (!value.empty()) writer.Key(key).String(value);
}

std::optional<RefusalCode> RefusalCodeFromString(std::string_view name) {
  for (const RefusalCode code : kRefusalCodes) {
    if (ToString(code) == name) return code;
  }
  return std::nullopt;
}

struct ProblemHead {
  std::string code;
  std::string detail;
  Epoch epoch;
  std::string leader;
  std::int64_t shards = 0;
};

constexpr Field<ProblemHead> kProblemFields[] = {
    {"code", true,
     [](const JsonValue& value, Faults& faults, ProblemHead& into) {
       into.code = internal::ReadText(value, 1, kDetailBytesMax, faults);
     }},
    {"detail", false,
     [](const JsonValue& value, Faults& faults, ProblemHead& into) {
       into.detail = internal::ReadText(value, 0, kDetailBytesMax, faults);
     }},
    {"epoch", false,
     [](const JsonValue& value, Faults& faults, ProblemHead& into) {
       into.epoch.value = internal::ReadNumber(value, faults);
     }},
    {"leader", false,
     [](const JsonValue& value, Faults& faults, ProblemHead& into) {
       into.leader = internal::ReadText(value, 0, kAddressBytesMax, faults);
     }},
    {"shards", false,
     [](const JsonValue& value, Faults& faults, ProblemHead& into) {
       into.shards = internal::ReadNumber(value, faults);
     }},
};

ProblemHead ReadHead(std::string_view body, Faults& faults) {
  JsonTree tree;
  ProblemHead head;
  if (internal::ParseDocument(body, tree, faults)) {
    internal::ReadObject(tree.root(), kProblemFields, UnknownKeys::kIgnore, faults, head);
  }
  return head;
}

}  // namespace

std::string Encode(const Problem& problem) {
  JsonWriter writer;
  writer.BeginObject();
  writer.Key("type").String("urn:plimsoll:problem:" + InLowerCase(problem.code, '-'));
  writer.Key("title").String(Title(problem.code));
  writer.Key("status").Integer(problem.status);
  writer.Key("code").String(problem.code);
  writer.Key("detail").String(problem.detail);
  WriteUnlessEmpty("instance", problem.instance, writer);
  WriteUnlessEmpty("request_id", problem.request_id, writer);
  WriteUnlessEmpty("hint", problem.hint, writer);
  WriteUnlessEmpty("current_etag", problem.current_etag, writer);
  WriteUnlessEmpty("leader", problem.leader, writer);
  if (problem.shards != 0) writer.Key("shards").Integer(problem.shards);
  if (problem.epoch.value != 0) writer.Key("epoch").Integer(problem.epoch.value);
  if (!problem.errors.empty()) {
    writer.Key("errors").BeginArray();
    for (const FieldFault& fault : problem.errors) {
      writer.BeginObject();
      writer.Key("pointer").String(fault.pointer);
      writer.Key("code").String(fault.code);
      writer.Key("detail").String(fault.detail);
      WriteUnlessEmpty("file", fault.file, writer);
      if (fault.line > 0) writer.Key("line").Integer(fault.line);
      if (fault.column > 0) writer.Key("column").Integer(fault.column);
      writer.EndObject();
    }
    writer.EndArray();
  }
  writer.EndObject();
  return writer.Take();
}

absl::StatusOr<Refusal> DecodeRefusal(std::string_view body) {
  FieldFaults fault_list;
  Faults faults(fault_list);
  const ProblemHead head = ReadHead(body, faults);
  if (faults.any()) {
    return absl::DataLossError(
        absl::StrCat("the problem document is not understood: ", internal::FirstFault(fault_list)));
  }
  const std::optional<RefusalCode> code = RefusalCodeFromString(head.code);
  if (!code) {
    return absl::DataLossError(
        absl::StrCat("a problem this agent does not know: ", head.code, ": ", head.detail));
  }
  return Refusal{*code, head.detail, head.epoch};
}

std::string DecodeLeader(std::string_view body) {
  FieldFaults fault_list;
  Faults faults(fault_list);
  const ProblemHead head = ReadHead(body, faults);
  return faults.any() ? "" : head.leader;
}

std::optional<int> DecodeShards(std::string_view body) {
  FieldFaults fault_list;
  Faults faults(fault_list);
  const ProblemHead head = ReadHead(body, faults);
  if (faults.any() || head.shards < 1 || head.shards > kShardsMax) return std::nullopt;
  return static_cast<int>(head.shards);
}

int HttpStatus(RefusalCode code) {
  switch (code) {
    case RefusalCode::kInvalidArgument:
    case RefusalCode::kAgentTooOld:
    case RefusalCode::kControllerTooOld:
      return 400;
    case RefusalCode::kSessionUnknown:
      return 404;
    case RefusalCode::kIdentityRequired:
    case RefusalCode::kSessionSuperseded:
    case RefusalCode::kStaleSync:
      return 409;
    case RefusalCode::kRateLimited:
      return 429;
    case RefusalCode::kNotLeader:
      return 421;
    case RefusalCode::kNotReady:
      return 503;
  }
  return 500;
}

}  // namespace plimsoll
