#include "controller/store/src/etcd_json.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

using GatewayJson = nlohmann::json;

std::string Bytes(const std::string& bytes) { return absl::Base64Escape(bytes); }

GatewayJson RangeJson(const EtcdRange& range) {
  GatewayJson json = {{"key", Bytes(range.key)}};
  if (!range.end.empty()) json["range_end"] = Bytes(range.end);
  if (range.limit != 0) json["limit"] = absl::StrCat(range.limit);
  if (range.revision != 0) json["revision"] = absl::StrCat(range.revision);
  if (range.descending) {
    json["sort_order"] = "DESCEND";
    json["sort_target"] = "KEY";
  }
  if (range.keys_only) json["keys_only"] = true;
  return json;
}

GatewayJson OpJson(const EtcdOp& op) {
  if (const auto* put = std::get_if<EtcdPut>(&op)) {
    GatewayJson json = {{"key", Bytes(put->key)}, {"value", Bytes(put->value)}};
    if (put->lease != 0) json["lease"] = absl::StrCat(put->lease);
    return {{"request_put", json}};
  }
  if (const auto* erase = std::get_if<EtcdDelete>(&op)) {
    GatewayJson json = {{"key", Bytes(erase->key)}};
    if (!erase->end.empty()) json["range_end"] = Bytes(erase->end);
    return {{"request_delete_range", json}};
  }
  return {{"request_range", RangeJson(std::get<EtcdRange>(op))}};
}

GatewayJson CompareJson(const EtcdCompare& compare) {
  GatewayJson json = {{"key", Bytes(compare.key)}, {"result", "EQUAL"}};
  switch (compare.target) {
    case EtcdCompare::Target::kCreateRevision:
      json["target"] = "CREATE";
      json["create_revision"] = absl::StrCat(compare.revision);
      break;
    case EtcdCompare::Target::kModRevision:
      json["target"] = "MOD";
      json["mod_revision"] = absl::StrCat(compare.revision);
      break;
    case EtcdCompare::Target::kValue:
      json["target"] = "VALUE";
      json["value"] = Bytes(compare.value);
      break;
  }
  return json;
}

// Reads what is there; remembers what cannot be read.
class Answer {
 public:
  explicit Answer(const std::string& body) : json_(GatewayJson::parse(body, nullptr, false)) {
    if (!json_.is_object()) whole_ = false;
  }

  const GatewayJson& root() const { return json_; }
  bool whole() const { return whole_; }

  // Zero if it is missing.
  std::int64_t Whole(const GatewayJson& object, const char* name) {
    const GatewayJson* member = Find(object, name);
    if (member == nullptr) return 0;
    std::int64_t number = 0;
    if (member->is_number_integer()) return member->get<std::int64_t>();
    if (!member->is_string() || !absl::SimpleAtoi(member->get<std::string>(), &number)) {
      whole_ = false;
    }
    return number;
  }
  std::string Text(const GatewayJson& object, const char* name) {
    const GatewayJson* member = Find(object, name);
    if (member == nullptr) return "";
    if (!member->is_string()) whole_ = false;
    return member->is_string() ? member->get<std::string>() : "";
  }
  std::string Decoded(const GatewayJson& object, const char* name) {
    std::string bytes;
    if (!absl::Base64Unescape(Text(object, name), &bytes)) whole_ = false;
    return bytes;
  }
  bool Flag(const GatewayJson& object, const char* name) {
    const GatewayJson* member = Find(object, name);
    if (member != nullptr && !member->is_boolean()) whole_ = false;
    return member != nullptr && member->is_boolean() && member->get<bool>();
  }
  // None if it is missing.
  const GatewayJson& Child(const GatewayJson& object, const char* name) {
    static const auto& none = *new GatewayJson();
    const GatewayJson* member = Find(object, name);
    return member == nullptr ? none : *member;
  }

 private:
  const GatewayJson* Find(const GatewayJson& object, const char* name) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  const GatewayJson json_;
  bool whole_ = true;
};

EtcdRangeResult ReadRange(Answer& answer, const GatewayJson& json) {
  EtcdRangeResult result;
  result.revision = answer.Whole(answer.Child(json, "header"), "revision");
  result.more = answer.Flag(json, "more");
  for (const GatewayJson& item : answer.Child(json, "kvs")) {
    EtcdKeyValue kv;
    kv.key = answer.Decoded(item, "key");
    kv.value = answer.Decoded(item, "value");
    kv.create_revision = answer.Whole(item, "create_revision");
    kv.mod_revision = answer.Whole(item, "mod_revision");
    kv.lease = answer.Whole(item, "lease");
    result.kvs.push_back(std::move(kv));
  }
  return result;
}

absl::Status NotUnderstood() {
  return absl::InternalError("an answer that is not etcd's: is it its client port?");
}

}  // namespace

std::string ToEtcdJson(const EtcdTxn& txn) {
  GatewayJson json = GatewayJson::object();
  for (const EtcdCompare& compare : txn.compare) json["compare"].push_back(CompareJson(compare));
  for (const EtcdOp& op : txn.success) json["success"].push_back(OpJson(op));
  for (const EtcdOp& op : txn.failure) json["failure"].push_back(OpJson(op));
  return json.dump();
}

std::string ToEtcdJson(const EtcdRange& range) { return RangeJson(range).dump(); }

absl::StatusOr<EtcdTxnResult> ReadTxnResult(const std::string& body) {
  Answer answer(body);
  EtcdTxnResult result;
  const GatewayJson& header = answer.Child(answer.root(), "header");
  result.succeeded = answer.Flag(answer.root(), "succeeded");
  result.revision = answer.Whole(header, "revision");
  for (const GatewayJson& response : answer.Child(answer.root(), "responses")) {
    const GatewayJson& range = answer.Child(response, "response_range");
    if (range.is_object()) result.ranges.push_back(ReadRange(answer, range));
  }
  if (!answer.whole() || result.revision == 0) return NotUnderstood();
  return result;
}

absl::StatusOr<EtcdRangeResult> ReadRangeResult(const std::string& body) {
  Answer answer(body);
  EtcdRangeResult result = ReadRange(answer, answer.root());
  if (!answer.whole() || result.revision == 0) return NotUnderstood();
  return result;
}

std::string GrantJson(absl::Duration ttl) {
  return GatewayJson{{"TTL", absl::StrCat(absl::ToInt64Seconds(ttl))}}.dump();
}

std::string LeaseJson(std::int64_t lease) {
  return GatewayJson{{"ID", absl::StrCat(lease)}}.dump();
}

absl::StatusOr<std::int64_t> ReadGrant(const std::string& body) {
  Answer answer(body);
  const std::int64_t lease = answer.Whole(answer.root(), "ID");
  if (!answer.whole() || lease == 0) return NotUnderstood();
  return lease;
}

absl::StatusOr<absl::Duration> ReadKeepAlive(const std::string& body) {
  Answer answer(body);
  const GatewayJson& result = answer.Child(answer.root(), "result");
  const std::int64_t lease = answer.Whole(result, "ID");
  const std::int64_t seconds = answer.Whole(result, "TTL");
  if (!answer.whole() || lease == 0) return NotUnderstood();
  return absl::Seconds(seconds);
}

std::string AuthenticateJson(const std::string& user, const std::string& password) {
  return GatewayJson{{"name", user}, {"password", password}}.dump();
}

absl::StatusOr<std::string> ReadToken(const std::string& body) {
  Answer answer(body);
  std::string token = answer.Text(answer.root(), "token");
  if (!answer.whole() || token.empty()) return NotUnderstood();
  return token;
}

absl::Status ReadEtcdError(int http_status, const std::string& body) {
  Answer answer(body);
  const GatewayJson& root = answer.root();
  // The gateway puts errors of streams one deeper.
  const GatewayJson& inner = answer.Child(root, "error");
  const GatewayJson& place = inner.is_object() ? inner : root;
  std::int64_t code = answer.Whole(place, "code");
  if (code == 0) code = answer.Whole(place, "grpc_code");
  std::string message = answer.Text(place, "message");
  if (message.empty() && !inner.is_object()) message = answer.Text(root, "error");
  if (message.empty()) message = absl::StrCat("HTTP ", http_status);
  switch (code) {
    case 3:
      return absl::InvalidArgumentError(message);
    case 5:
      return absl::NotFoundError(message);
    case 7:
      return absl::PermissionDeniedError(message);
    case 8:
      return absl::ResourceExhaustedError(message);
    case 9:
      return absl::InternalError(message);
    case 11:
      return absl::OutOfRangeError(message);
    case 12:
      return absl::UnimplementedError(message);
    case 16:
      return absl::UnauthenticatedError(message);
    default:
      break;
  }
  const bool refused = code == 0 && http_status >= 400 && http_status < 500;
  return refused ? absl::UnimplementedError(message) : absl::UnavailableError(message);
}

}  // namespace plimsoll::internal
