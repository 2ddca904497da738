#include "controller/main/config_loader.h"

#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/config/read_file.h"
#include "controller/config/yaml_writer.h"
#include "controller/main/config_include.h"
#include "controller/main/config_keys.h"
#include "controller/main/config_overlay.h"
#include "controller/main/secret.h"

namespace plimsoll {
namespace {

constexpr char kNoFile[] = "built-in defaults";

std::string NameOf(const ConfigRequest& request) {
  return request.path.empty() ? kNoFile : request.path;
}

std::vector<SettingOverride> OverridesOf(const ConfigRequest& request,
                                         const EnvironmentSettings& environment) {
  std::vector<SettingOverride> overrides = environment.overrides;
  for (const SettingOverride& flag : ReadSettingFlags(request.flags)) overrides.push_back(flag);
  return overrides;
}

// Strictly, a variable that nobody knows is a fault of its own, at no key.
void ReportUnknown(const EnvironmentSettings& environment, Faults& faults) {
  for (const auto& [name, message] : environment.unknown) {
    const std::string pointer = Below("", name);
    faults.SetOrigin(pointer, Mark{0, 0}, {"environment " + name, "", false});
    faults.Add(pointer, message);
  }
}

std::string ShowValue(const ConfigKey& key, const YamlNode& node) {
  if (key.Is(ConfigKey::kSecret)) return ShowSecrets(node);
  return node.kind == YamlNode::Kind::kScalar ? node.text : ToJson(node);
}

// The only default that follows from another setting.
std::string ShowDefault(const ConfigKey& key, Profile profile, const Config& config) {
  if (std::string(key.name) == "agents.hold_max") {
    return absl::FormatDuration(config.core.hold_max);
  }
  return DefaultText(key, profile);
}

class EntryMaker {
 public:
  // All must outlive the maker.
  EntryMaker(const ConfigRequest& request, const YamlNode& root, const Faults& faults)
      : request_(request), root_(root), faults_(faults) {}

  ConfigEntry Make(const ConfigKey& key, const Config& config) const {
    ConfigEntry entry{key.name, ShowDefault(key, request_.profile, config), "DEFAULT", "",
                      key.Is(ConfigKey::kRestart)};
    const std::string pointer = PointerOf(key);
    const YamlNode* const node = FindNode(root_, pointer);
    const auto place = faults_.places().find(pointer);
    if (node == nullptr || place == faults_.places().end()) return entry;
    entry.value = ShowValue(key, *node);
    entry.source = "FILE";
    entry.place =
        absl::StrCat(NameOf(request_), ":", place->second.line, ":", place->second.column);
    return entry;
  }

 private:
  const ConfigRequest& request_;
  const YamlNode& root_;
  const Faults& faults_;
};

// Of all keys there are; the last override of a key tells its place.
std::vector<ConfigEntry> MakeEntries(const EntryMaker& maker,
                                     const std::vector<SettingOverride>& overrides,
                                     const Config& config) {
  std::vector<ConfigEntry> entries;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.Is(ConfigKey::kLater)) continue;
    ConfigEntry entry = maker.Make(key, config);
    for (const SettingOverride& setting : overrides) {
      if (setting.key != &key) continue;
      entry.source = setting.source;
      entry.place = setting.place;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<ConfigEntry> MakePolicyEntries(const ConfigRequest& request, const YamlNode& root,
                                           const Config& config, const Faults& faults) {
  std::vector<ConfigEntry> entries;
  const auto add = [&](const std::string& pointer, const YamlNode& node) {
    const auto mark = faults.places().find(pointer);
    if (mark == faults.places().end()) return;
    const Faults::Origin* const origin = faults.FindOrigin(pointer);
    const std::string file = origin == nullptr ? NameOf(request) : origin->name;
    entries.push_back({pointer.substr(1), ToJson(node), "FILE",
                       absl::StrCat(file, ":", mark->second.line, ":", mark->second.column),
                       false});
  };
  if (const YamlNode* const node = FindNode(root, "/defaults")) add("/defaults", *node);
  const YamlNode* const dependencies = FindNode(root, "/dependencies");
  if (dependencies == nullptr) {
    // What nobody has written, but holds.
    for (const auto& [pattern, policy] : config.templates) {
      entries.push_back({"dependencies/0", absl::StrCat("{\"match\":", QuotedJson(pattern), "}"),
                         "DEFAULT", "", false});
    }
    return entries;
  }
  for (std::size_t i = 0; i < dependencies->items.size(); ++i) {
    add(absl::StrCat("/dependencies/", i), dependencies->items[i]);
  }
  return entries;
}

// Secrets of a text that somebody has sent are not looked at, or it would tell what there is.
VariableLookup LookupOf(const ConfigRequest& request) {
  if (request.skip_secrets || request.sent) return {};
  return [&request](const std::string& name) -> std::optional<std::string> {
    for (const std::string& variable : request.environment) {
      if (absl::StartsWith(variable, name + "=")) return variable.substr(name.size() + 1);
    }
    return std::nullopt;
  };
}

// What the file refers to is known, whatever it is called.
void ForgetReferred(const YamlNode& root, EnvironmentSettings& environment) {
  const std::set<std::string> referred = ReferredVariables(root);
  std::erase_if(environment.unknown,
                [&referred](const auto& unknown) { return referred.contains(unknown.first); });
}

// A file alone has the hash of its text.
std::string Fingerprinted(std::string text, const std::vector<SettingOverride>& overrides) {
  for (const SettingOverride& setting : overrides) {
    absl::StrAppend(&text, "\n", setting.key->name, "=", setting.text);
  }
  return text;
}

}  // namespace

absl::StatusOr<Config> ReadLayered(const ConfigRequest& request, const std::string& text,
                                   Faults& faults) {
  EnvironmentSettings environment = ReadEnvironment(request.environment);
  const std::vector<SettingOverride> overrides = OverridesOf(request, environment);
  std::optional<YamlNode> root = YamlNode{YamlNode::Kind::kMap, false, "", {}, {}};
  if (!request.path.empty() || request.sent) root = ParseYaml(text, ConfigAdvice(), faults);
  Config config;
  if (root.has_value()) {
    for (const SettingOverride& setting : overrides) Apply(setting, *root, faults);
    const YamlNode whole = *root;
    ForgetReferred(*root, environment);
    const std::string included =
        ReadIncludes(request.path, *root, faults,
                     request.sent ? IncludeRule::kOwnFolder : IncludeRule::kAnywhere);
    config = ReadConfig(*root, Fingerprinted(text + included, overrides), request.profile,
                        LookupOf(request), faults);
    config.entries = MakeEntries({request, whole, faults}, overrides, config);
    config.policy_entries = MakePolicyEntries(request, *root, config, faults);
  }
  if (request.strict) ReportUnknown(environment, faults);
  for (const auto& [name, message] : environment.unknown) {
    config.warnings.push_back(absl::StrCat("environment ", name, ": ", message));
  }
  if (faults.empty()) return config;
  return absl::InvalidArgumentError(absl::StrJoin(faults.ToLines(NameOf(request)), "\n"));
}

absl::StatusOr<Config> LoadLayered(const ConfigRequest& request, Faults& faults) {
  absl::StatusOr<std::string> text = std::string();
  if (!request.path.empty()) text = ReadFile(request.path);
  if (!text.ok()) return text.status();
  absl::StatusOr<Config> config = ReadLayered(request, *text, faults);
  if (!config.ok() || request.skip_secrets) return config;
  if (absl::Status read = LoadReferences(*config); !read.ok()) return read;
  return config;
}

absl::StatusOr<Config> LoadLayered(const ConfigRequest& request) {
  Faults faults;
  return LoadLayered(request, faults);
}

ConfigSettings FactsAfterReload(const ConfigSettings& running,
                                const std::vector<ConfigEntry>& fresh) {
  ConfigSettings facts;
  for (const ConfigEntry& entry : fresh) {
    const ConfigEntry* before = nullptr;
    for (const ConfigEntry& candidate : running.entries) {
      if (candidate.key == entry.key) before = &candidate;
    }
    const bool waits = before != nullptr && entry.needs_restart && before->value != entry.value;
    if (waits) facts.pending_restart.push_back(entry.key);
    facts.entries.push_back(waits ? *before : entry);
  }
  return facts;
}

}  // namespace plimsoll
