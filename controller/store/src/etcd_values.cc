#include "controller/store/src/etcd_values.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::internal {
namespace {

using EtcdJson = nlohmann::json;

std::string Escape(const std::string& name) {
  std::string escaped;
  for (const char c : name) {
    if (c == '/' || c == '%') {
      absl::StrAppend(&escaped, "%", absl::Hex(static_cast<unsigned char>(c)));
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

// A hold may be too long by a hair, never too short.
std::int64_t ToMicros(absl::Duration duration) {
  return absl::ToInt64Microseconds(absl::Ceil(duration, absl::Microseconds(1)));
}

std::string Dump(const EtcdJson& json) {
  return json.dump(-1, ' ', false, EtcdJson::error_handler_t::replace);
}

// Takes the members of an object one by one; what is missing, of another type or left over spoils
// the whole.
class StrictObject {
 public:
  explicit StrictObject(const std::string& text) : json_(EtcdJson::parse(text, nullptr, false)) {
    if (!json_.is_object()) fault_ = "is no JSON object";
  }

  std::string Text(const char* name) {
    const EtcdJson* value = Take(name);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    Spoil(name);
    return "";
  }
  bool Flag(const char* name) {
    const EtcdJson* value = Take(name);
    if (value != nullptr && value->is_boolean()) return value->get<bool>();
    Spoil(name);
    return false;
  }
  std::int64_t Whole(const char* name,
                     std::int64_t max = std::numeric_limits<std::int64_t>::max()) {
    const EtcdJson* value = Take(name);
    if (value != nullptr && value->is_number_integer()) {
      const bool fits = !value->is_number_unsigned() ||
                        value->get<std::uint64_t>() <= static_cast<std::uint64_t>(max);
      const auto whole = value->get<std::int64_t>();
      if (fits && whole >= 0 && whole <= max) return whole;
    }
    Spoil(name);
    return 0;
  }
  absl::Duration Micros(const char* name) {
    const std::int64_t micros = Whole(name);
    return micros == std::numeric_limits<std::int64_t>::max() ? absl::InfiniteDuration()
                                                              : absl::Microseconds(micros);
  }

  absl::Status Finish() {
    if (fault_.empty() && json_.size() != taken_) fault_ = "has members that are not known";
    return fault_.empty() ? absl::OkStatus() : absl::DataLossError(fault_);
  }

 private:
  const EtcdJson* Take(const char* name) {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    if (found == json_.end()) return nullptr;
    ++taken_;
    return &*found;
  }
  void Spoil(const char* name) {
    if (fault_.empty()) fault_ = absl::StrCat("has no valid member '", name, "'");
  }

  const EtcdJson json_;
  std::size_t taken_ = 0;
  std::string fault_;
};

template <typename T>
absl::StatusOr<T> Finished(StrictObject& object, T value) {
  if (absl::Status whole = object.Finish(); !whole.ok()) return whole;
  return value;
}

}  // namespace

std::string EtcdKeys::Of(const BoundKey& key) const {
  return absl::StrCat(Bounds(), Escape(key.dependency.value), "/", Escape(key.session.value));
}

std::string EtcdKeys::Of(const DocumentKey& key) const {
  return absl::StrCat(Documents(), Escape(key.kind), "/", Escape(key.name));
}

std::string EtcdKeys::Audit(std::int64_t number) const {
  return absl::StrCat(Audits(), absl::StrFormat("%020d", number));
}

std::optional<std::int64_t> EtcdKeys::AuditNumber(const std::string& key) const {
  std::int64_t number = 0;
  const std::string start = Audits();
  if (!key.starts_with(start)) return std::nullopt;
  if (!absl::SimpleAtoi(key.substr(start.size()), &number)) return std::nullopt;
  return number;
}

// Names end with '/', or a byte that is not the last one there is.
std::string EtcdKeys::EndOf(std::string start) {
  start.back() = static_cast<char>(start.back() + 1);
  return start;
}

std::string EncodeBound(const Bound& bound) {
  return Dump({{"dependency", bound.key.dependency.value},
               {"session", bound.key.session.value},
               {"service", bound.service.value},
               {"instance", bound.instance.value},
               {"unique", bound.unique_instance},
               {"limit", bound.steps.limit},
               {"base", bound.steps.base},
               {"reserve", bound.steps.reserve},
               {"lease_us", ToMicros(bound.lease)},
               {"base_lease_us", ToMicros(bound.base_lease)},
               {"call_deadline_us", ToMicros(bound.call_deadline)}});
}

absl::StatusOr<Bound> DecodeBound(const std::string& value) {
  constexpr std::int64_t kCallsMax = std::numeric_limits<Calls>::max();
  StrictObject object(value);
  Bound bound;
  bound.key.dependency = DependencyId(object.Text("dependency"));
  bound.key.session = SessionId(object.Text("session"));
  bound.service = ServiceId(object.Text("service"));
  bound.instance = InstanceId(object.Text("instance"));
  bound.unique_instance = object.Flag("unique");
  bound.steps.limit = static_cast<Calls>(object.Whole("limit", kCallsMax));
  bound.steps.base = static_cast<Calls>(object.Whole("base", kCallsMax));
  bound.steps.reserve = static_cast<Calls>(object.Whole("reserve", kCallsMax));
  bound.lease = object.Micros("lease_us");
  bound.base_lease = object.Micros("base_lease_us");
  bound.call_deadline = object.Micros("call_deadline_us");
  return Finished(object, std::move(bound));
}

std::string EncodeMeta(const EtcdMeta& meta) {
  return Dump({{"epoch", meta.epoch},
               {"lost", meta.lost},
               {"longest_hold_us", ToMicros(meta.longest_hold)}});
}

absl::StatusOr<EtcdMeta> DecodeMeta(const std::string& value) {
  StrictObject object(value);
  EtcdMeta meta;
  meta.epoch = object.Whole("epoch");
  meta.lost = object.Text("lost");
  meta.longest_hold = object.Micros("longest_hold_us");
  return Finished(object, std::move(meta));
}

std::string EncodeLeader(const Leader& leader) {
  return Dump({{"id", leader.id}, {"agents", leader.agents}, {"api", leader.api}});
}

absl::StatusOr<Leader> DecodeLeader(const std::string& value) {
  StrictObject object(value);
  Leader leader;
  leader.id = object.Text("id");
  leader.agents = object.Text("agents");
  leader.api = object.Text("api");
  return Finished(object, std::move(leader));
}

std::string EncodeDocument(const Document& document) {
  return Dump({{"kind", document.key.kind}, {"name", document.key.name}, {"body", document.body}});
}

absl::StatusOr<Document> DecodeDocument(const std::string& value) {
  StrictObject object(value);
  Document document;
  document.key.kind = object.Text("kind");
  document.key.name = object.Text("name");
  document.body = object.Text("body");
  return Finished(object, std::move(document));
}

}  // namespace plimsoll::internal
