// How what holds is changed, one request at a time.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "controller/config/map_reader.h"
#include "controller/config/policy_reader.h"
#include "controller/operations/json_text.h"
#include "controller/operations/override_text.h"
#include "controller/operations/policy_book.h"
#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

constexpr char kLeastBody[] = "{}";

// What the API shows beside settings, of a dependency and of its quota.
const std::vector<std::string>& ShownOfDependency() {
  static const auto& keys = *new std::vector<std::string>{
      "name", "status", "revision", "origin", "template", "create_time", "update_time", "override"};
  return keys;
}
const std::vector<std::string>& ShownOfQuota() {
  static const auto& keys =
      *new std::vector<std::string>{"dependency",  "granted", "reserved", "draining", "orphaned",
                                    "unallocated", "wanted",  "shares",   "revision"};
  return keys;
}

YamlNode Without(YamlNode map, const std::vector<std::string>& keys) {
  std::erase_if(map.members, [&keys](const YamlMember& member) {
    return std::find(keys.begin(), keys.end(), member.key) != keys.end();
  });
  return map;
}

const char* WordOf(ChangeVerb verb) {
  switch (verb) {
    case ChangeVerb::kPutDependency:
      return "PUT_DEPENDENCY";
    case ChangeVerb::kPatchDependency:
      return "PATCH_DEPENDENCY";
    case ChangeVerb::kDeleteDependency:
      return "DELETE_DEPENDENCY";
    case ChangeVerb::kPutQuota:
      return "PUT_QUOTA";
    case ChangeVerb::kPutOverride:
      return "PUT_OVERRIDE";
    case ChangeVerb::kDeleteOverride:
      return "DELETE_OVERRIDE";
    case ChangeVerb::kReset:
      return "RESET";
    case ChangeVerb::kEvict:
      return "EVICT_INSTANCE";
    case ChangeVerb::kReload:
      return "RELOAD_CONFIG";
  }
  return "PUT_DEPENDENCY";
}

// The revision of "dependencies.418" or "dependencies.418.77", in quotes or not; 0 if it is none.
std::int64_t RevisionOf(std::string tag) {
  absl::StripAsciiWhitespace(&tag);
  tag = std::string(absl::StripPrefix(tag, "W/"));
  std::erase(tag, '"');
  const std::vector<std::string> parts = absl::StrSplit(tag, '.');
  std::int64_t revision = 0;
  return parts.size() >= 2 && absl::SimpleAtoi(parts[1], &revision) ? revision : 0;
}

}  // namespace

void PolicyBook::Refuse(Draft& draft, int status, const std::string& code,
                        const std::string& detail) {
  draft.plan.status = status;
  draft.plan.code = code;
  draft.plan.detail = detail;
}

void PolicyBook::RefuseBody(Draft& draft, const Faults& faults) {
  Refuse(draft, 400, "INVALID_ARGUMENT", "the body is faulty: errors lists what and where");
  for (const Fault& fault : faults.Sorted()) {
    draft.plan.faults.push_back({fault.pointer, std::string(ToString(fault.code)), fault.message});
  }
  if (draft.plan.faults.size() == 1) draft.plan.detail = draft.plan.faults[0].detail;
}

ChangePlan PolicyBook::Plan(const ChangeRequest& request, absl::Time now) {
  PLIMSOLL_CHECK(!pending_.has_value(), "plans are settled one after the other");
  Draft draft{request, now, state_, {}, {}, DependencyId(request.name), {}, config_, {}};
  draft.audit = {now, request.who, request.request_id, WordOf(request.verb), request.name};
  draft.note = absl::StrCat("Asked for by ", request.who, ".");
  switch (request.verb) {
    case ChangeVerb::kPutDependency:
      PutDependency(draft);
      break;
    case ChangeVerb::kPatchDependency:
      PatchDependency(draft);
      break;
    case ChangeVerb::kDeleteDependency:
      DeleteDependency(draft);
      break;
    case ChangeVerb::kPutQuota:
      PutQuota(draft);
      break;
    case ChangeVerb::kPutOverride:
      PutOverride(draft);
      break;
    case ChangeVerb::kDeleteOverride:
      DeleteOverride(draft);
      break;
    case ChangeVerb::kReset:
      Reset(draft);
      break;
    case ChangeVerb::kEvict:
      Evict(draft);
      break;
    case ChangeVerb::kReload:
      Reload(draft);
      break;
  }
  Close(draft);
  return std::move(draft.plan);
}

// Everything that a request changes goes through here: documents, event, audit.
void PolicyBook::Close(Draft& draft) {
  ChangePlan& plan = draft.plan;
  const bool told = plan.regardless;  // a refused reload is a change of what is known of the file
  if (plan.refused() && !told) return;
  if (draft.request.validate_only) {
    plan.preview = draft.next.PolicyOf(draft.name);
    if (!plan.refused()) plan.status = 200;
    plan.events.clear();
    plan.regardless = false;
    return;
  }
  Pending pending{{}, draft.config, plan.regardless, {}, draft.audit, draft.accept};
  if (!plan.refused()) {
    DropOrphans(draft);
    const auto note = [&](const DocumentKey& key) {
      if (BodyOf(state_, key) == BodyOf(draft.next, key)) return;
      pending.keys.push_back(key);
      Write(draft.next, key, plan.batch);
    };
    for (const State* state : {&std::as_const(state_), &std::as_const(draft.next)}) {
      for (const auto& [name, made] : state->made) {
        if (state == &state_ || !state_.made.contains(name)) note(PolicyKey(name));
      }
      for (const auto& [name, facts] : state->overrides) {
        if (state == &state_ || !state_.overrides.contains(name)) note(OverrideKey(name));
      }
    }
    if (plan.events.empty()) {
      PolicyEvent event = EventOf(draft.next);
      event.notes[draft.name] = draft.note;
      plan.events.emplace_back(std::move(event));
    }
  }
  plan.batch.audit.push_back(ToJson(draft.audit));
  pending.next = std::move(draft.next);
  pending_ = std::move(pending);
}

void PolicyBook::DropOrphans(Draft& draft) const {
  std::erase_if(draft.next.overrides,
                [&draft](const auto& entry) { return !draft.next.Knows(entry.first); });
}

bool PolicyBook::Matches(Draft& draft, const std::string& collection, std::int64_t revision) const {
  const std::string& wanted = draft.request.if_match;
  if (wanted.empty() || (wanted == "*" && revision != 0)) return true;
  const std::vector<std::string> tags = absl::StrSplit(wanted, ',');
  for (const std::string& tag : tags) {
    if (revision != 0 && RevisionOf(tag) == revision) return true;
  }
  Refuse(draft, 412, "ETAG_MISMATCH", "it has changed since: read it again, and decide anew");
  draft.plan.current_etag =
      revision == 0 ? "" : absl::StrCat("\"", collection, ".", revision, "\"");
  return false;
}

bool PolicyBook::HasPolicy(Draft& draft, const std::string& advice) const {
  if (state_.Knows(draft.name)) return true;
  Refuse(draft, 404, "NOT_FOUND",
         absl::StrCat("there is no dependency '", draft.name.value, "'", advice));
  return false;
}

// What a template would make does not exist before somebody asks for it: a name that is misspelt
// must not be taken for it.
bool PolicyBook::IsInUse(Draft& draft) const {
  if (!HasPolicy(draft)) return false;
  const TemplateSet::value_type* const made_from = state_.FindTemplate(draft.name);
  if (made_from == nullptr || draft.request.exists) return true;
  Refuse(draft, 404, "NOT_FOUND",
         absl::StrCat("there is no dependency '", draft.name.value, "' so far: it gets a policy ",
                      "from the template \"", made_from->first, "\" when an instance asks for it"));
  return false;
}

// Those of the file are read-only here, and so is what its templates make; but PUT gives a name a
// policy of its own.
bool PolicyBook::MayChange(Draft& draft) const {
  const TemplateSet::value_type* const made_from = state_.FindTemplate(draft.name);
  if (made_from != nullptr && draft.request.verb != ChangeVerb::kPutDependency) {
    Refuse(draft, 409, "MANAGED_BY_FILE",
           absl::StrCat(draft.name.value, " is made from the template \"", made_from->first,
                        "\" of the configuration file: PUT gives it a policy of its own, or set an "
                        "override"));
    return false;
  }
  if (state_.file.contains(draft.name)) {
    Refuse(draft, 409, "MANAGED_BY_FILE",
           absl::StrCat(draft.name.value,
                        " is in the configuration file: change it there and reload, or set an "
                        "override"));
    return false;
  }
  const auto made = state_.made.find(draft.name);
  return Matches(draft, "dependencies",
                 made == state_.made.end() ? 0 : made->second.times.revision);
}

void PolicyBook::Make(Draft& draft, YamlNode settings, Policy policy) {
  const auto before = state_.made.find(draft.name);
  Made made;
  made.settings = std::move(settings);
  made.policy = std::move(policy);
  made.times = {NextRevision(draft.now), draft.now, draft.now};
  if (before != state_.made.end()) {
    made.times.create_time = before->second.times.create_time;
    draft.audit.before = ToJson(before->second.settings);
  }
  draft.audit.after = ToJson(made.settings);
  draft.next.made.insert_or_assign(draft.name, std::move(made));
}

void PolicyBook::PutDependency(Draft& draft) {
  if (!IsValidName(draft.name.value)) {
    return Refuse(draft, 400, "INVALID_ARGUMENT",
                  "names have 1 to 63 letters, digits, '.', '_', '-' or '~'");
  }
  if (!MayChange(draft)) return;
  Faults faults;
  std::optional<YamlNode> root = ParseYaml(draft.request.body, {kLeastBody, ""}, faults);
  if (!root.has_value()) return RefuseBody(draft, faults);
  DropNulls(*root);
  Policy policy = options_.defaults;
  policy.name = draft.name;
  policy = ReadDependency(MapReader(*root, "", faults), policy, options_.lease, faults);
  if (!faults.empty()) return RefuseBody(draft, faults);
  draft.plan.status = state_.made.contains(draft.name) ? 200 : 201;
  Make(draft, Without(*std::move(root), ShownOfDependency()), std::move(policy));
}

void PolicyBook::PatchDependency(Draft& draft) {
  if (!HasPolicy(draft, ": PUT makes one") || !MayChange(draft)) return;
  Faults faults;
  const std::optional<YamlNode> patch = ParseYaml(draft.request.body, {kLeastBody, ""}, faults);
  if (!patch.has_value()) return RefuseBody(draft, faults);
  YamlNode settings = state_.made.at(draft.name).settings;
  MergePatch(settings, *patch);
  // Read again from its text, so that every fault has its place.
  std::optional<YamlNode> root = ParseYaml(ToJson(settings), {kLeastBody, ""}, faults);
  PLIMSOLL_CHECK(root.has_value(), "what was merged can be read");
  Policy policy = options_.defaults;
  policy.name = draft.name;
  policy = ReadDependency(MapReader(*root, "", faults), policy, options_.lease, faults);
  if (!faults.empty()) return RefuseBody(draft, faults);
  Make(draft, Without(*std::move(root), ShownOfDependency()), std::move(policy));
}

void PolicyBook::DeleteDependency(Draft& draft) {
  if (!HasPolicy(draft) || !MayChange(draft)) return;
  if (draft.request.instances > 0 && !draft.request.force) {
    return Refuse(draft, 409, "IN_USE",
                  absl::StrCat(draft.request.instances, " instances use ", draft.name.value,
                               ": add ?force=true to take back what they hold, after which their "
                               "calls are refused"));
  }
  draft.plan.status = 204;
  draft.audit.before = ToJson(state_.made.at(draft.name).settings);
  draft.next.made.erase(draft.name);
}

void PolicyBook::PutQuota(Draft& draft) {
  if (!HasPolicy(draft) || !MayChange(draft)) return;
  Faults faults;
  std::optional<YamlNode> root = ParseYaml(draft.request.body, {R"({"capacity": 50})", ""}, faults);
  if (!root.has_value()) return RefuseBody(draft, faults);
  DropNulls(*root);
  const Made& before = state_.made.at(draft.name);
  Policy policy = before.policy;
  policy.quota.reset();
  policy.services = options_.defaults.services;
  policy.join_reserve = options_.defaults.join_reserve;
  policy.instances_expected = options_.defaults.instances_expected;
  ReadQuotaOf(MapReader(*root, "", faults), policy, options_.lease, faults);
  if (!faults.empty()) return RefuseBody(draft, faults);
  YamlNode settings = Without(before.settings, {"quota"});
  settings.kind = YamlNode::Kind::kMap;
  settings.members.push_back({"quota", Without(*std::move(root), ShownOfQuota())});
  Make(draft, std::move(settings), std::move(policy));
}

void PolicyBook::PutOverride(Draft& draft) {
  if (!IsInUse(draft)) return;
  const auto before = state_.overrides.find(draft.name);
  const bool is_new = before == state_.overrides.end();
  if (!Matches(draft, "overrides", is_new ? 0 : before->second.revision)) return;
  Faults faults;
  OverrideFacts facts = ReadOverride(draft.request.body, draft.now, faults);
  if (!faults.empty()) return RefuseBody(draft, faults);
  facts.set_by = draft.request.who;
  facts.revision = NextRevision(draft.now);
  draft.plan.status = is_new ? 201 : 200;
  if (!is_new) {
    facts.create_time = before->second.create_time;
    draft.audit.before = ToJson(before->second);
  }
  draft.audit.after = ToJson(facts);
  draft.note = absl::StrCat("Set by ", facts.set_by, " until ", TimeText(facts.expire_time), ": ",
                            facts.reason);
  draft.next.overrides.insert_or_assign(draft.name, std::move(facts));
}

void PolicyBook::DeleteOverride(Draft& draft) {
  const auto before = state_.overrides.find(draft.name);
  if (before == state_.overrides.end()) {
    return Refuse(draft, 404, "NOT_FOUND",
                  absl::StrCat("there is no override of '", draft.name.value, "'"));
  }
  if (!Matches(draft, "overrides", before->second.revision)) return;
  draft.plan.status = 204;
  draft.audit.before = ToJson(before->second);
  draft.note = absl::StrCat("Taken back by ", draft.request.who, ".");
  draft.next.overrides.erase(draft.name);
}

void PolicyBook::Reset(Draft& draft) {
  if (!IsInUse(draft)) return;
  draft.plan.events.emplace_back(ResetEvent{draft.name, draft.note});
}

void PolicyBook::Evict(Draft& draft) {
  if (draft.request.sessions.empty()) {
    return Refuse(draft, 404, "NOT_FOUND",
                  absl::StrCat("there is no instance '", draft.request.name, "'"));
  }
  draft.plan.status = 204;
  for (const SessionId& session : draft.request.sessions) {
    draft.plan.events.emplace_back(EvictEvent{session, draft.note});
  }
}

template <typename Policies, typename Each>
Each PolicyBook::TimesAfter(const Policies& before, const Each& times, const Policies& after,
                            const Times& fresh) {
  Each next;
  for (const auto& [name, policy] : after) {
    const auto known = before.find(name);
    next[name] = fresh;
    if (known == before.end()) continue;
    next[name].create_time = times.at(name).create_time;
    if (known->second == policy) next[name] = times.at(name);
  }
  return next;
}

// The file is durable by itself: a store that fails delays nothing.
void PolicyBook::Reload(Draft& draft) {
  if (options_.reread == nullptr) {
    return Refuse(draft, 400, "CONFIG_INVALID", "there is no configuration file to reload");
  }
  FileReading reading = options_.reread();
  draft.plan.regardless = true;
  draft.config.last_load_time = draft.now;
  draft.config.last_load_ok = reading.policies.has_value();
  draft.config.faults = reading.faults;
  if (!reading.policies.has_value()) {
    Refuse(draft, 400, "CONFIG_INVALID",
           "the configuration was not reloaded: the one from before stays in force");
    draft.plan.faults = std::move(reading.faults);
    draft.audit.result = "CONFIG_INVALID";
    draft.plan.events.emplace_back(
        NoteEvent{EventType::kConfigReloadFailed,
                  absl::StrCat("The configuration was not reloaded, ", draft.plan.faults.size(),
                               draft.plan.faults.size() == 1 ? " fault was" : " faults were",
                               " found: the one from before stays in force. ", draft.note)});
    return;
  }
  const std::int64_t revision = NextRevision(draft.now);
  draft.config.hash = reading.hash;
  draft.config.pending_restart = reading.pending_restart;
  ++draft.config.revision;
  State& next = draft.next;
  const Times fresh{revision, draft.now, draft.now};
  next.file_times = TimesAfter(state_.file, state_.file_times, *reading.policies, fresh);
  next.template_times =
      TimesAfter(state_.templates, state_.template_times, reading.templates, fresh);
  for (const auto& [name, policy] : *reading.policies) {
    if (!state_.file.contains(name) && state_.made.contains(name)) {
      absl::StrAppend(&reading.summary, " The file claims ", name.value,
                      ", which was made over REST: the file's policy holds.");
    }
  }
  next.file = *std::move(reading.policies);
  next.templates = std::move(reading.templates);
  next.observe_all = reading.observe_all;
  draft.accept = std::move(reading.accept);
  draft.audit.after = JsonString(reading.summary);
  DropOrphans(draft);
  PolicyEvent event = EventOf(next);
  draft.plan.events.emplace_back(std::move(event));
  draft.plan.events.emplace_back(NoteEvent{
      EventType::kConfigReloaded,
      absl::StrCat("The configuration was reloaded. ", reading.summary, " ", draft.note)});
}

}  // namespace plimsoll
