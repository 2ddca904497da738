#include "controller/operations/policy_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/config/map_reader.h"
#include "controller/config/policy_reader.h"
#include "controller/operations/json_text.h"
#include "controller/operations/override_text.h"
#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

constexpr char kLeastDocument[] = "{}";

absl::Time ReadTime(MapReader& map, const std::string& key) {
  std::string text;
  map.Text(key, text);
  absl::Time time;
  std::string error;
  absl::ParseTime(absl::RFC3339_full, text, &time, &error);
  return time;
}

// A number of calls in a sample.
void ReadCalls(MapReader& map, const std::string& key, std::int64_t max, std::int64_t& target,
               Faults& faults) {
  std::int32_t value = 0;
  map.Whole(key, value);
  if (value < 0 || value > max) {
    faults.Add(map.Pointer(key), absl::StrCat("must be between 0 and ", max),
               FaultCode::kOutOfRange);
  }
  target = value;
}

// Required, and in seconds, as all that is measured.
void ReadMeasured(MapReader& map, const std::string& key, absl::Duration& target, Faults& faults) {
  constexpr double kSecondsMax = 3600;
  double seconds = absl::ToDoubleSeconds(target);
  map.Number(key, seconds);
  if (!(seconds > 0 && seconds <= kSecondsMax)) {
    faults.Add(map.Pointer(key),
               absl::StrCat("must be a number of seconds above 0, at most ", kSecondsMax),
               map.Find(key) == nullptr ? FaultCode::kRequired : FaultCode::kOutOfRange);
  } else {
    target = absl::Seconds(seconds);
  }
}

TrialWindow ReadSample(MapReader map, Faults& faults) {
  TrialWindow sample;
  std::int64_t in_flight_max = 0;
  ReadMeasured(map, "length_seconds", sample.length, faults);
  ReadMeasured(map, "latency_seconds", sample.latency, faults);
  ReadCalls(map, "in_flight_max", kCallsMax, in_flight_max, faults);
  ReadCalls(map, "succeeded", kTrialCallsMax, sample.succeeded, faults);
  ReadCalls(map, "dropped", kTrialCallsMax, sample.dropped, faults);
  ReadCalls(map, "rejected", kTrialCallsMax, sample.rejected, faults);
  sample.in_flight_max = static_cast<Calls>(in_flight_max);
  map.Finish();
  return sample;
}

}  // namespace

const Policy* PolicyBook::State::Find(const DependencyId& name) const {
  if (const auto found = file.find(name); found != file.end()) return &found->second;
  const auto found = made.find(name);
  return found == made.end() ? nullptr : &found->second.policy;
}

const TemplateSet::value_type* PolicyBook::State::FindTemplate(const DependencyId& name) const {
  return Find(name) == nullptr ? plimsoll::FindTemplate(templates, name) : nullptr;
}

bool PolicyBook::State::Knows(const DependencyId& name) const {
  return Find(name) != nullptr || FindTemplate(name) != nullptr;
}

std::optional<Policy> PolicyBook::State::PolicyOf(const DependencyId& name) const {
  if (const Policy* own = Find(name)) return *own;
  const TemplateSet::value_type* const made_from = FindTemplate(name);
  if (made_from == nullptr) return std::nullopt;
  return MadeFrom(made_from->second, name);
}

PolicyBook::PolicyBook(PolicyBookOptions options, const std::vector<Document>& documents,
                       absl::Time now)
    : options_(std::move(options)) {
  for (const Document& document : documents) Load(document, now);
  const std::int64_t revision = NextRevision(now);
  state_.file = options_.file_policies;
  state_.observe_all = options_.observe_all;
  for (const auto& [name, policy] : state_.file) {
    state_.file_times[name] = {revision, now, now};
    if (!state_.made.contains(name)) continue;
    notices_.push_back(absl::StrCat("the file claims ", name.value,
                                    ", which was made over REST: the file's policy holds, and the "
                                    "other comes back when the file lets go of the name"));
  }
  state_.templates = options_.file_templates;
  for (const auto& [pattern, policy] : state_.templates) {
    state_.template_times[pattern] = {revision, now, now};
  }
  std::erase_if(state_.overrides, [this](const auto& entry) {
    const bool orphaned = !state_.Knows(entry.first);
    if (orphaned) unsettled_.insert(OverrideKey(entry.first));
    return orphaned;
  });
  config_.last_load_time = now;
  config_.hash = options_.hash;
}

void PolicyBook::Load(const Document& document, absl::Time now) {
  const DependencyId name(document.key.name);
  if (document.key.kind == "dependency") {
    std::optional<Made> made = ParseMade(name, document.body);
    if (!made.has_value()) {
      notices_.push_back(absl::StrCat("the dependency ", name.value,
                                      ", made over REST, does not fit the configuration any more "
                                      "and is not in force: put it anew"));
      return;
    }
    last_revision_ = std::max(last_revision_, made->times.revision);
    state_.made.emplace(name, *std::move(made));
  } else if (document.key.kind == "override") {
    const std::optional<OverrideFacts> facts = ParseOverride(document.body);
    if (!facts.has_value() || facts->expire_time <= now) {
      unsettled_.insert(document.key);  // to be erased
      return;
    }
    last_revision_ = std::max(last_revision_, facts->revision);
    state_.overrides.emplace(name, *facts);
  }
}

std::optional<PolicyBook::Made> PolicyBook::ParseMade(const DependencyId& name,
                                                      const std::string& document) const {
  Faults faults;
  const std::optional<YamlNode> root = ParseYaml(document, {kLeastDocument, ""}, faults);
  if (!root.has_value()) return std::nullopt;
  MapReader map(*root, "", faults);
  Made made;
  const YamlNode* const settings = map.Find("settings");
  std::string revision;
  map.Text("revision", revision);
  made.times.create_time = ReadTime(map, "create_time");
  made.times.update_time = ReadTime(map, "update_time");
  map.Finish();
  if (settings == nullptr || !absl::SimpleAtoi(revision, &made.times.revision)) return std::nullopt;
  made.settings = *settings;
  made.policy = options_.defaults;
  made.policy.name = name;
  made.policy =
      ReadDependency(MapReader(made.settings, "", faults), made.policy, options_.lease, faults);
  if (!faults.empty()) return std::nullopt;
  return made;
}

// Later than all before, those of reigns before included.
std::int64_t PolicyBook::NextRevision(absl::Time now) {
  last_revision_ = std::max(last_revision_ + 1, absl::ToUnixMillis(now));
  return last_revision_;
}

PolicyEvent PolicyBook::EventOf(const State& state) {
  PolicyEvent event;
  event.policies = state.file;
  event.templates = state.templates;
  event.observe_all = state.observe_all;
  for (const auto& [name, made] : state.made) event.policies.emplace(name, made.policy);
  for (const auto& [name, facts] : state.overrides) event.overrides[name] = facts.pin;
  return event;
}

PolicyEvent PolicyBook::InForce() const {
  PolicyEvent event = EventOf(state_);
  for (const auto& [name, facts] : state_.overrides) {
    event.notes[name] = absl::StrCat("Set by ", facts.set_by, " until ",
                                     TimeText(facts.expire_time), ": ", facts.reason);
  }
  return event;
}

std::optional<std::string> PolicyBook::BodyOf(const State& state, const DocumentKey& key) {
  const DependencyId name(key.name);
  if (key.kind == "override") {
    const auto found = state.overrides.find(name);
    if (found == state.overrides.end()) return std::nullopt;
    return ToJson(found->second);
  }
  const auto found = state.made.find(name);
  if (found == state.made.end()) return std::nullopt;
  const Made& made = found->second;
  return absl::StrCat("{\"settings\":", ToJson(made.settings), ",\"revision\":\"",
                      made.times.revision,
                      "\",\"create_time\":", JsonString(TimeText(made.times.create_time)),
                      ",\"update_time\":", JsonString(TimeText(made.times.update_time)), "}");
}

void PolicyBook::Write(const State& state, const DocumentKey& key, WriteBatch& batch) {
  if (std::optional<std::string> body = BodyOf(state, key)) {
    batch.put_documents.push_back({key, *std::move(body)});
  } else {
    batch.erase_documents.push_back(key);
  }
}

std::optional<ChangePlan> PolicyBook::Expire(absl::Time now) {
  PLIMSOLL_CHECK(!pending_.has_value(), "plans are settled one after the other");
  Pending pending{state_, config_, true, {unsettled_.begin(), unsettled_.end()}, {}, {}};
  ChangePlan plan;
  PolicyEvent event;
  std::vector<DependencyId> ended;
  for (const auto& [name, facts] : state_.overrides) {
    if (facts.expire_time > now) continue;
    ended.push_back(name);
    pending.keys.push_back(OverrideKey(name));
    event.notes[name] = absl::StrCat("It was set by ", facts.set_by, " and has expired.");
    plan.batch.audit.push_back(ToJson(
        AuditRecord{now, "plimsoll", "", "EXPIRE_OVERRIDE", name.value, ToJson(facts), "", "OK"}));
  }
  if (pending.keys.empty()) return std::nullopt;
  for (const DependencyId& name : ended) pending.next.overrides.erase(name);
  for (const DocumentKey& key : pending.keys) Write(pending.next, key, plan.batch);
  plan.regardless = true;
  if (!ended.empty()) {
    PolicyEvent all = EventOf(pending.next);
    all.notes = std::move(event.notes);
    plan.events.emplace_back(std::move(all));
  }
  pending_ = std::move(pending);
  return plan;
}

void PolicyBook::Settle(const absl::Status& written) {
  if (!pending_.has_value()) return;
  Pending pending = *std::exchange(pending_, std::nullopt);
  for (const DocumentKey& key : pending.keys) {
    written.ok() ? void(unsettled_.erase(key)) : void(unsettled_.insert(key));
  }
  if (!written.ok() && !pending.regardless) {
    if (!pending.audit.has_value() || options_.on_audit == nullptr) return;
    pending.audit->result = "STORE_UNAVAILABLE";
    options_.on_audit(*pending.audit);
    return;
  }
  state_ = std::move(pending.next);
  config_ = std::move(pending.config);
  if (pending.accept) pending.accept();
  if (pending.audit.has_value() && options_.on_audit) options_.on_audit(*pending.audit);
}

std::optional<DependencyFacts> PolicyBook::Find(const DependencyId& name) const {
  const TemplateSet::value_type* const made_from = state_.FindTemplate(name);
  if (made_from == nullptr && state_.Find(name) == nullptr) return std::nullopt;
  DependencyFacts facts;
  if (made_from != nullptr) facts.made_from = made_from->first;
  const auto from_file = state_.file_times.find(name);
  facts.from_file = made_from != nullptr || from_file != state_.file_times.end();
  const Times& times = made_from != nullptr ? state_.template_times.at(made_from->first)
                       : facts.from_file    ? from_file->second
                                            : state_.made.at(name).times;
  facts.revision = times.revision;
  facts.create_time = times.create_time;
  facts.update_time = times.update_time;
  const auto pinned = state_.overrides.find(name);
  if (pinned != state_.overrides.end()) facts.override_facts = pinned->second;
  return facts;
}

std::vector<ChangeFault> PolicyBook::Validate(const std::string& text) const {
  return options_.check ? options_.check(text) : std::vector<ChangeFault>{};
}

Operations::Question PolicyBook::ReadQuestion(const std::string& body,
                                              std::vector<ChangeFault>& told) const {
  Faults faults;
  Question question;
  std::optional<YamlNode> root = ParseYaml(body, {R"({"instance_id": "…"})", ""}, faults);
  if (root.has_value()) {
    DropNulls(*root);
    MapReader map(*root, "", faults);
    map.Text("instance_id", question.instance);
    map.Text("service", question.service);
    const std::vector<YamlNode>& samples = map.List("samples");
    if (samples.size() > kTrialWindowsMax) {
      faults.Add("/samples", absl::StrCat("at most ", kTrialWindowsMax, " are looked at"),
                 FaultCode::kOutOfRange);
    } else {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        question.samples.push_back(
            ReadSample(MapReader(samples[i], absl::StrCat("/samples/", i), faults), faults));
      }
    }
    map.Finish();
    if (question.instance.empty()) {
      faults.Add("/instance_id", "say which instance: GET /v1/instances lists them",
                 FaultCode::kRequired);
    }
  }
  for (const Fault& fault : faults.Sorted()) {
    told.push_back({fault.pointer, std::string(ToString(fault.code)), fault.message});
  }
  return question;
}

}  // namespace plimsoll
