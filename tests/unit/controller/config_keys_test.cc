// The tables of keys against what reads them, and what is generated against what is committed.
#include "controller/main/config_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/config/read_file.h"
#include "controller/main/config_loader.h"
#include "controller/main/config_report.h"
#include "controller/main/config_schema.h"
#include "controller/main/law_keys.h"
#include "controller/main/reload.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using Names = std::set<std::string>;

std::string FaultOf(const std::string& text) {
  return std::string(ParseConfig(text, "f.yaml", Profile::kProduction).status().message());
}

// The keys that the reader knows in a map of the file, without those that are planned. `open` and
// `close` are the text around an unknown key that makes it tell.
Names KnownToTheReader(const std::string& open, const std::string& close) {
  const std::string fault = FaultOf(open + "qqqqqqqqqqqqqqqqqqqqqqqq: 1" + close + "\n");
  const std::string begin = "(known here: ";
  const std::size_t at = fault.find(begin);
  EXPECT_NE(at, std::string::npos) << fault;
  if (at == std::string::npos) return {};
  const std::size_t from = at + begin.size();
  const std::string list = fault.substr(from, fault.find(')', from) - from);
  return absl::StrSplit(list, ", ");
}

// All names of a table that the reader takes.
template <typename Keys>
Names NamesOf(const Keys& keys) {
  Names names;
  for (const auto& key : keys) names.insert(key.name);
  return names;
}

Names Implemented() {
  Names names;
  for (const ConfigKey& key : ConfigKeys()) {
    if (!key.Is(ConfigKey::kLater)) names.insert(key.name);
  }
  return names;
}

// Of "a.b.c" and "a.d" below "a": "b" and "d".
Names ChildrenOf(const Names& names, const std::string& section) {
  const std::string prefix = section.empty() ? "" : section + ".";
  Names children;
  for (const std::string& name : names) {
    if (!absl::StartsWith(name, prefix)) continue;
    const std::string rest = name.substr(prefix.size());
    children.insert(rest.substr(0, rest.find('.')));
  }
  return children;
}

// "a" and "a.b" of "a.b.c".
Names SectionsOf(const Names& names) {
  Names sections;
  for (const std::string& name : names) {
    for (std::size_t dot = name.find('.'); dot != std::string::npos;
         dot = name.find('.', dot + 1)) {
      sections.insert(name.substr(0, dot));
    }
  }
  return sections;
}

// "a: {b: {" and "}}" for "a.b".
std::pair<std::string, std::string> Around(const std::string& section) {
  std::string open;
  std::string close;
  if (section.empty()) return {open, close};
  const std::vector<std::string> path = absl::StrSplit(section, '.');
  for (const std::string& key : path) {
    absl::StrAppend(&open, key, ": {");
    close.push_back('}');
  }
  return {open, close};
}

TEST(ConfigKeysTest, TheTableHasWhatTheReaderTakes) {
  Names expected = ChildrenOf(Implemented(), "");
  expected.erase("include");  // taken by the loader before
  expected.insert({"defaults", "dependencies"});
  EXPECT_EQ(KnownToTheReader("", ""), expected);
  for (const std::string& section : SectionsOf(Implemented())) {
    const auto [open, close] = Around(section);
    EXPECT_EQ(KnownToTheReader(open, close), ChildrenOf(Implemented(), section)) << section;
  }
}

TEST(ConfigKeysTest, WhatIsPlannedIsRefusedAsSuch) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (!key.Is(ConfigKey::kLater)) continue;
    const std::string value = std::string(key.value).empty() ? "x" : key.value;
    const auto [open, close] = Around(key.name);
    const std::string text = open.substr(0, open.size() - 1) + value + close.substr(1);
    EXPECT_THAT(FaultOf(text + "\n"), HasSubstr("not supported yet")) << text;
  }
}

TEST(ConfigKeysTest, TheTableOfPoliciesHasWhatTheReaderTakes) {
  Names names = NamesOf(PolicyKeys());
  for (const std::string& name : NamesOf(LawKeys())) names.insert(name);
  Names expected = ChildrenOf(names, "");
  EXPECT_EQ(KnownToTheReader("defaults: {", "}"), expected);
  expected.insert({"name", "match", "description"});
  EXPECT_EQ(KnownToTheReader("dependencies: [{name: d, ", "}]"), expected);
  for (const std::string& section : SectionsOf(names)) {
    if (section == "quota.services") continue;  // any name
    const auto [open, close] = Around(section);
    EXPECT_EQ(KnownToTheReader("defaults: {" + open, close + "}"), ChildrenOf(names, section))
        << section;
  }
}

TEST(ConfigKeysTest, TheDefaultsOfTheTableAreThoseOfTheProgram) {
  for (const Profile profile : {Profile::kProduction, Profile::kDevelopment}) {
    ConfigRequest request;
    request.profile = profile;
    Faults faults;
    for (const ConfigKey& key : ConfigKeys()) {
      const std::string value = DefaultText(key, profile);
      const bool settable = !key.Is(ConfigKey::kLater) && key.type != KeyType::kMaps;
      if (!settable || value.empty()) continue;
      request.flags.emplace_back(key.name, value == "[]" ? "" : value);
    }
    const absl::StatusOr<Config> config = ReadLayered(request, "", faults);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(FixedSettingsOf(*config), FixedSettingsOf(DefaultConfig(profile)));
    EXPECT_EQ(AccessSettingsOf(*config), AccessSettingsOf(DefaultConfig(profile)));
  }
}

TEST(ConfigKeysTest, TheDefaultsOfPoliciesAreThoseOfTheProgram) {
  std::string text;
  const auto add = [&text](const std::string& name, const std::string& value) {
    // A breaker that is written is one, and so is a service.
    if (value.empty() || absl::StartsWith(name, "breaker.") || absl::StrContains(name, "NAME")) {
      return;
    }
    const auto [open, close] = Around(name);
    const std::string setting = open.substr(0, open.size() - 1) + value + close.substr(1);
    const absl::StatusOr<Config> config =
        ParseConfig("dependencies: [{name: d, " + setting + "}]\n", "f.yaml", Profile::kProduction);
    const absl::StatusOr<Config> plain =
        ParseConfig("dependencies: [{name: d}]\n", "f.yaml", Profile::kProduction);
    ASSERT_TRUE(config.ok()) << setting << config.status();
    EXPECT_EQ(SettingsOf(config->policies.begin()->second),
              SettingsOf(plain->policies.begin()->second))
        << setting;
  };
  for (const ConfigKey& key : PolicyKeys()) add(key.name, key.value);
  for (const LawKey& key : LawKeys()) add(key.name, key.value);
}

TEST(ConfigKeysTest, TheDefaultsOfABreakerAreThoseOfTheProgram) {
  std::string settings;
  for (const ConfigKey& key : PolicyKeys()) {
    if (!absl::StartsWith(key.name, "breaker.")) continue;
    const std::string name = std::string(key.name).substr(8);
    absl::StrAppend(&settings, settings.empty() ? "" : ", ", name, ": ", key.value);
  }
  const absl::StatusOr<Config> config = ParseConfig(
      "dependencies: [{name: d, breaker: {" + settings + "}}]\n", "f", Profile::kProduction);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->policies.begin()->second.breaker, BreakerSettings());
}

// What a reload compares as fixed is what the table says waits for a restart.
TEST(ConfigKeysTest, TheTableKnowsWhatNeedsARestart) {
  Names fixed;
  for (const auto& [name, value] : FixedSettingsOf(DefaultConfig(Profile::kProduction))) {
    if (name != "agents.body_max") fixed.insert(name);  // of no key
  }
  Names restart;
  for (const ConfigKey& key : ConfigKeys()) {
    const bool waits = key.Is(ConfigKey::kRestart) && !key.Is(ConfigKey::kLater);
    if (waits) restart.insert(key.name);
  }
  EXPECT_EQ(restart, fixed);
}

TEST(ConfigKeysTest, RangesOfWholeNumbersAreThoseOfTheProgram) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.type != KeyType::kWhole || key.Is(ConfigKey::kLater)) continue;
    const std::vector<std::string> bounds = absl::StrSplit(key.allowed, " to ");
    int least = 0;
    int most = 0;
    if (bounds.size() != 2 || !absl::SimpleAtoi(bounds[0], &least) ||
        !absl::SimpleAtoi(bounds[1], &most)) {
      continue;  // it depends on another setting
    }
    const auto fault = [&key](int value) {
      ConfigRequest request;
      request.flags = {{key.name, absl::StrCat(value)}};
      return std::string(LoadLayered(request).status().message());
    };
    EXPECT_EQ(fault(least), "");
    EXPECT_EQ(fault(most), "");
    EXPECT_THAT(fault(least - 1), HasSubstr(key.name));
    EXPECT_THAT(fault(most + 1), HasSubstr(key.name));
  }
}

TEST(ConfigKeysTest, VariablesAreNamedAfterSections) {
  EXPECT_EQ(EnvironmentName(*FindConfigKey("api.rate_limit.burst")),
            "PLIMSOLL_API__RATE_LIMIT__BURST");
  EXPECT_EQ(PointerOf(*FindConfigKey("api.rate_limit.burst")), "/api/rate_limit/burst");
  EXPECT_EQ(FindConfigKey("defaults.floor"), nullptr);
}

TEST(ConfigReportTest, TheFileToBeginWithHasTheDefaults) {
  const absl::StatusOr<Config> config = ParseConfig(InitText(), "init.yaml", Profile::kProduction);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(FixedSettingsOf(*config), FixedSettingsOf(DefaultConfig(Profile::kProduction)));
  EXPECT_EQ(config->policies.size(), 1U);
}

TEST(ConfigReportTest, TheReasonOfEveryDefaultIsTold) {
  const std::string text = DefaultsText(Profile::kDevelopment);
  for (const std::string& name : Implemented()) EXPECT_THAT(text, HasSubstr(name + " = "));
  EXPECT_THAT(text, HasSubstr("agents.lease = 2s\n    500ms to 10m; a change needs a restart.\n"
                              "    How long a limit holds"));
  EXPECT_THAT(text, HasSubstr("defaults.vegas.alpha = "));
}

TEST(ConfigReportTest, WhatIsInForceCanBeReadBack) {
  ConfigRequest request;
  request.path = "f.yaml";
  request.environment = {"PLIMSOLL_API__HOSTS=a.example"};
  request.flags = {{"agents.lease", "20s"}};
  Faults faults;
  const absl::StatusOr<Config> config = ReadLayered(
      request,
      "state: {dir: /x y}\ndefaults: {floor: 2}\n"
      "dependencies:\n  - {name: d, quota: {capacity: 9}, description: \"a: \\\"b\\\"\"}\n",
      faults);
  ASSERT_TRUE(config.ok()) << config.status();
  const std::string text = EffectiveText(*config, true);
  EXPECT_THAT(text, HasSubstr("  dir: \"/x y\"  # FILE f.yaml:1:9\n"));
  EXPECT_THAT(text, HasSubstr("  lease: 20s  # FLAG --agents.lease\n"));
  EXPECT_THAT(text, HasSubstr("  hosts: [\"a.example\"]  # ENV PLIMSOLL_API__HOSTS\n"));
  EXPECT_THAT(text, HasSubstr("  tick: 250ms  # DEFAULT\n"));
  const absl::StatusOr<Config> again = ParseConfig(text, "f.yaml", Profile::kProduction);
  ASSERT_TRUE(again.ok()) << again.status() << text;
  EXPECT_EQ(FixedSettingsOf(*again), FixedSettingsOf(*config));
  EXPECT_EQ(SettingsOf(again->policies.begin()->second),
            SettingsOf(config->policies.begin()->second));
  EXPECT_THAT(EffectiveText(*config, false), HasSubstr("  lease: 20s\n"));
}

std::string Committed(const std::string& name) {
  const absl::StatusOr<std::string> text = ReadFile(std::string(PLIMSOLL_DEPLOY_DIR) + "/" + name);
  return text.ok() ? *text : std::string(text.status().message());
}

TEST(ConfigReportTest, TheCommittedSchemaIsTheOneOfTheProgram) {
  EXPECT_TRUE(Committed("plimsoll-controller.schema.json") == SchemaText())
      << "run: plimsoll-controller config schema > "
         "controller/deploy/plimsoll-controller.schema.json";
}

TEST(ConfigReportTest, TheCommittedReferenceIsTheOneOfTheProgram) {
  EXPECT_TRUE(Committed("CONFIG.md") == ReferenceText())
      << "run: plimsoll-controller config reference > controller/deploy/CONFIG.md";
}

// The example that people copy is written by hand.
TEST(ConfigReportTest, TheExampleMentionsEverySetting) {
  const std::string example = Committed("plimsoll-controller.yaml");
  Names names = Implemented();
  for (const std::string& name : NamesOf(PolicyKeys())) names.insert(name);
  for (const std::string& name : names) {
    const std::string leaf = name.substr(name.rfind('.') + 1) + ":";
    EXPECT_TRUE(absl::StrContains(example, leaf)) << name << " is not in the example";
  }
}

}  // namespace
}  // namespace plimsoll
