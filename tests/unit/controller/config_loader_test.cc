// Defaults, file, environment and flags: who wins, and who is named when something is wrong.
#include "controller/main/config_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/main/config_keys.h"
#include "controller/main/config_report.h"
#include "controller/main/reload.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ConfigRequest Request(std::vector<std::string> environment,
                      std::vector<std::pair<std::string, std::string>> flags = {}) {
  ConfigRequest request;
  request.path = "f.yaml";
  request.environment = std::move(environment);
  request.flags = std::move(flags);
  return request;
}

Config Read(const ConfigRequest& request, const std::string& text) {
  Faults faults;
  absl::StatusOr<Config> config = ReadLayered(request, text, faults);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *std::move(config) : Config{};
}

std::vector<std::string> FaultsOf(const ConfigRequest& request, const std::string& text) {
  Faults faults;
  const absl::StatusOr<Config> config = ReadLayered(request, text, faults);
  if (config.ok()) return {};
  return absl::StrSplit(std::string(config.status().message()), '\n');
}

ConfigEntry EntryOf(const Config& config, const std::string& key) {
  for (const ConfigEntry& entry : config.entries) {
    if (entry.key == key) return entry;
  }
  ADD_FAILURE() << "no entry " << key;
  return {};
}

TEST(ConfigLoaderTest, WhatComesLaterWins) {
  const std::string none = "dependencies: []\n";
  const std::string file = "log: {level: warning}\n";
  const std::vector<std::string> environment = {"PLIMSOLL_LOG__LEVEL=error"};
  EXPECT_EQ(Read(Request({}), none).log_level, LogLevel::kInfo);
  EXPECT_EQ(Read(Request({}), file).log_level, LogLevel::kWarning);
  EXPECT_EQ(Read(Request(environment), file).log_level, LogLevel::kError);
  EXPECT_EQ(Read(Request(environment, {{"log.level", "debug"}}), file).log_level, LogLevel::kDebug);
}

TEST(ConfigLoaderTest, EachSettingSaysWhereItIsFrom) {
  const Config config = Read(
      Request({"PLIMSOLL_AGENTS__TICK=100ms"}, {{"log.level", "debug"}, {"log.level", "error"}}),
      "agents:\n  lease: 20s\n  tick: 1s\n");
  EXPECT_EQ(EntryOf(config, "agents.lease"),
            (ConfigEntry{"agents.lease", "20s", "FILE", "f.yaml:2:3", true}));
  EXPECT_EQ(EntryOf(config, "agents.tick"),
            (ConfigEntry{"agents.tick", "100ms", "ENV", "PLIMSOLL_AGENTS__TICK", true}));
  EXPECT_EQ(EntryOf(config, "log.level"),
            (ConfigEntry{"log.level", "error", "FLAG", "--log.level", true}));
  EXPECT_EQ(EntryOf(config, "log.format"),
            (ConfigEntry{"log.format", "text", "DEFAULT", "", true}));
}

TEST(ConfigLoaderTest, TheDefaultOfTheHoldFollowsTheLease) {
  const Config config = Read(Request({"PLIMSOLL_AGENTS__LEASE=5s"}), "dependencies: []\n");
  EXPECT_EQ(EntryOf(config, "agents.hold_max").value, "500ms");
  EXPECT_EQ(EntryOf(config, "agents.hold_max").source, "DEFAULT");
}

TEST(ConfigLoaderTest, ListsAreSeparatedByCommas) {
  const Config config = Read(
      Request({"PLIMSOLL_API__HOSTS=a.example,b.example"}, {{"auth.allow_anonymous", "viewer"}}),
      "listen: {api: \"0.0.0.0:1\"}\n");
  EXPECT_THAT(config.server.api_hosts, ElementsAre("a.example", "b.example"));
  EXPECT_EQ(EntryOf(config, "api.hosts").value, "[\"a.example\", \"b.example\"]");
  EXPECT_THAT(Read(Request({"PLIMSOLL_API__HOSTS="}), "api: {hosts: [x]}\n").server.api_hosts,
              IsEmpty());
}

TEST(ConfigLoaderTest, WithoutAFileTheDefaultsOfTheProfileHold) {
  ConfigRequest request;
  request.profile = Profile::kDevelopment;
  request.environment = {"PLIMSOLL_LISTEN__API=127.0.0.1:0"};
  const Config config = Read(request, "");
  EXPECT_EQ(config.state_mode, StateMode::kMemory);
  EXPECT_EQ(config.server.api.port, 0);
  EXPECT_EQ(EntryOf(config, "agents.lease").value, "2s");
}

TEST(ConfigLoaderTest, ATextNeedsNoQuotesInTheEnvironment) {
  EXPECT_EQ(Read(Request({"PLIMSOLL_STATE__DIR=5"}), "dependencies: []\n").state_dir, "5");
}

TEST(ConfigLoaderTest, TheHashCoversWhatIsBesideTheFile) {
  const std::string text = "dependencies: []\n";
  const std::string plain = Read(Request({}), text).server.config_hash;
  const absl::StatusOr<Config> alone = ParseConfig(text, "f.yaml", Profile::kProduction);
  EXPECT_EQ(alone->server.config_hash, plain);
  EXPECT_NE(Read(Request({"PLIMSOLL_LOG__LEVEL=info"}), text).server.config_hash, plain);
}

TEST(ConfigLoaderTest, UnknownVariablesAreWarningsOrStrictlyFaults) {
  ConfigRequest request =
      Request({"PLIMSOLL_LOG__LEVLE=info", "PLIMSOLL_TOKEN=x", "PATH=/bin", "PLIMSOLLX=1"});
  EXPECT_THAT(Read(request, "dependencies: []\n").warnings,
              ElementsAre("environment PLIMSOLL_LOG__LEVLE: unknown variable (did you mean "
                          "\"PLIMSOLL_LOG__LEVEL\"?)"));
  request.strict = true;
  EXPECT_THAT(FaultsOf(request, "dependencies: []\n"),
              ElementsAre("environment PLIMSOLL_LOG__LEVLE: unknown variable (did you mean "
                          "\"PLIMSOLL_LOG__LEVEL\"?)"));
}

struct OverrideFault {
  const char* name;
  std::vector<std::string> environment;
  std::vector<std::pair<std::string, std::string>> flags;
  const char* text;
  std::vector<std::string> expected;
};

class OverrideFaultTest : public ::testing::TestWithParam<OverrideFault> {};

TEST_P(OverrideFaultTest, NamesTheVariableOrTheFlag) {
  const OverrideFault& fault = GetParam();
  EXPECT_EQ(FaultsOf(Request(fault.environment, fault.flags), fault.text), fault.expected);
}

const std::vector<OverrideFault>& OverrideFaults() {
  static const auto& faults = *new std::vector<OverrideFault>{
      {"BareNumber",
       {"PLIMSOLL_AGENTS__LEASE=10"},
       {},
       "dependencies: []\n",
       {"environment PLIMSOLL_AGENTS__LEASE: /agents/lease: a duration needs a unit: 10s or 10ms, "
        "not \"10\""}},
      {"Octal",
       {},
       {{"agents.sessions_max", "010"}},
       "agents: {sessions_max: 5}\n",
       {"flag --agents.sessions_max: /agents/sessions_max: must be a whole number such as 20; "
        "without leading zeros: 10, not \"010\""}},
      {"Word",
       {},
       {{"log.level", "loud"}},
       "dependencies: []\n",
       {"flag --log.level: /log/level: must be one of debug, info, warning, error, not \"loud\""}},
      {"Empty",
       {"PLIMSOLL_LOG__FORMAT="},
       {},
       "dependencies: []\n",
       {"environment PLIMSOLL_LOG__FORMAT: /log/format: must be one of text, json, not \"\""}},
      {"Range",
       {"PLIMSOLL_EVENTS__KEEP=0"},
       {},
       "events: {keep: 5}\n",
       {"environment PLIMSOLL_EVENTS__KEEP: /events/keep: events.keep = 0: must be between 1 and "
        "1000000"}},
      {"ListItem",
       {"PLIMSOLL_AUTH__ALLOW_ANONYMOUS=viewer,veiwer"},
       {},
       "dependencies: []\n",
       {"environment PLIMSOLL_AUTH__ALLOW_ANONYMOUS: /auth/allow_anonymous/1: must be one of "
        "viewer, agent, operator, not \"veiwer\" (did you mean \"viewer\"?)"}},
      {"FileAndFlagAtOnce",
       {},
       {{"log.format", "xml"}},
       "agents: {laese: 5s}\n",
       {"flag --log.format: /log/format: must be one of text, json, not \"xml\"",
        "f.yaml:1:10: /agents/laese: unknown key (did you mean \"lease\"?)"}},
      {"SectionIsNoMap",
       {"PLIMSOLL_LOG__LEVEL=debug"},
       {},
       "log: 5\n",
       {"f.yaml:1:1: /log: must be a map, not \"5\""}},
  };
  return faults;
}
INSTANTIATE_TEST_SUITE_P(All, OverrideFaultTest, ::testing::ValuesIn(OverrideFaults()),
                         [](const ::testing::TestParamInfo<OverrideFault>& tested) {
                           return tested.param.name;
                         });

TEST(ConfigLoaderTest, AMissingFileIsNamed) {
  ConfigRequest request;
  request.path = "/no/such/controller.yaml";
  const absl::Status status = LoadLayered(request).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(status.message()),
            "/no/such/controller.yaml: cannot be read: No such file or directory");
}

class ConfigIncludeTest : public ::testing::Test {
 protected:
  ConfigIncludeTest() {
    std::string name = ::testing::TempDir() + "/plimsoll-include-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::filesystem::create_directory(folder_ + "/conf.d");
  }
  ~ConfigIncludeTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  absl::StatusOr<Config> Load(const std::string& text) const {
    Write("main.yaml", text);
    ConfigRequest request;
    request.path = folder_ + "/main.yaml";
    return LoadLayered(request);
  }
  std::string MessageOf(const std::string& text) const {
    return std::string(Load(text).status().message());
  }

  std::string folder_;
};

TEST_F(ConfigIncludeTest, DependenciesOfIncludedFilesAreAppended) {
  Write("conf.d/b.yaml", "dependencies:\n  - {name: b}\n");
  Write("conf.d/a.yaml", "dependencies:\n  - {name: a, floor: 2}\n");
  Write("conf.d/ignored.txt", "nonsense");
  const absl::StatusOr<Config> config =
      Load("include: conf.d/*.yaml\ndefaults: {floor: 3}\ndependencies: [{name: c}]\n");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->policies.size(), 3U);
  EXPECT_EQ(config->policies.at(DependencyId("a")).algorithm.floor, 2);
  EXPECT_EQ(config->policies.at(DependencyId("b")).algorithm.floor, 3);
  EXPECT_EQ(config->policy_entries.at(2).place, folder_ + "/conf.d/a.yaml:2:5");
  EXPECT_EQ(EntryOf(*config, "include").value, "conf.d/*.yaml");
}

TEST_F(ConfigIncludeTest, AFaultNamesTheIncludedFile) {
  Write("conf.d/a.yaml", "dependencies:\n  - {name: a}\n  - {name: b, floor: 010, celing: 3}\n");
  EXPECT_EQ(MessageOf("include: conf.d/*.yaml\ndependencies: [{name: c}]\n"),
            absl::StrCat(folder_, "/conf.d/a.yaml:3:15: /dependencies/1/floor: must be a whole ",
                         "number such as 20; without leading zeros: 10, not \"010\"\n", folder_,
                         "/conf.d/a.yaml:3:27: /dependencies/1/celing: unknown key (did you mean ",
                         "\"ceiling\"?)"));
}

TEST_F(ConfigIncludeTest, OnlyDependenciesMayBeIncluded) {
  Write("conf.d/a.yaml", "log: {level: debug}\n");
  EXPECT_EQ(MessageOf("events: {keep: 5}\ninclude: conf.d/*.yaml\n"),
            absl::StrCat(folder_, "/main.yaml:2:1: /include: ", folder_, "/conf.d/a.yaml:1:1: ",
                         "/log: only dependencies may stand in an included file: move it"));
}

TEST_F(ConfigIncludeTest, AFileThatIsNoYamlIsNamedWithItsPlace) {
  Write("conf.d/a.yaml", "dependencies: [\n");
  EXPECT_THAT(MessageOf("include: conf.d/*.yaml\n"), HasSubstr("conf.d/a.yaml:2:1: nested too"));
}

TEST_F(ConfigIncludeTest, APatternMayMatchNothingButANameMustBeThere) {
  EXPECT_TRUE(Load("include: conf.d/*.yaml\n").ok());
  EXPECT_THAT(MessageOf("include: conf.d/a.yaml\n"), HasSubstr("/include: there is no file"));
  EXPECT_THAT(MessageOf("include: [a]\n"), HasSubstr("must be a pattern of files"));
}

TEST_F(ConfigIncludeTest, ADependencyMustNotStandInTwoFiles) {
  Write("conf.d/a.yaml", "dependencies: [{name: d}]\n");
  EXPECT_THAT(MessageOf("include: conf.d/*.yaml\ndependencies: [{name: d}]\n"),
              HasSubstr("conf.d/a.yaml:1:17: /dependencies/0/name: \"d\" is taken by"));
}

TEST_F(ConfigIncludeTest, TheHashCoversIncludedFiles) {
  const std::string text = "include: conf.d/*.yaml\n";
  Write("conf.d/a.yaml", "dependencies: [{name: d}]\n");
  const std::string before = Load(text)->server.config_hash;
  Write("conf.d/a.yaml", "dependencies: [{name: d, floor: 4}]\n");
  EXPECT_NE(Load(text)->server.config_hash, before);
}

// What somebody sends to be validated.
class SentTextTest : public ConfigIncludeTest {
 protected:
  std::string FaultsOfSent(const std::string& text, const std::string& path = "main.yaml") const {
    ConfigRequest request;
    if (!path.empty()) request.path = folder_ + "/" + path;
    request.sent = true;
    Faults faults;
    return std::string(ReadLayered(request, text, faults).status().message());
  }
};

TEST_F(SentTextTest, IncludesWhatLiesInTheFolderOfTheConfiguration) {
  Write("conf.d/a.yaml", "dependencies: [{name: a, floor: 010}]\n");
  EXPECT_THAT(FaultsOfSent("include: conf.d/*.yaml\n"),
              HasSubstr("conf.d/a.yaml:1:26: /dependencies/0/floor: must be a whole number"));
  Write("conf.d/a.yaml", "dependencies: [{name: a}]\n");
  EXPECT_EQ(FaultsOfSent("include: conf.d/*.yaml\ndependencies: [{name: b}]\n"), "");
}

TEST_F(SentTextTest, ReadsNoOtherFile) {
  std::filesystem::create_directory(folder_ + "/etc");
  Write("secret.yaml", "dependencies: [{name: top-secret, floor: 010}]\n");
  Write("etc/key.pem", "top-secret\n");
  std::filesystem::create_symlink("../secret.yaml", folder_ + "/etc/link.yaml");
  std::filesystem::create_directory_symlink("..", folder_ + "/etc/up");
  for (const std::string& pattern :
       std::vector<std::string>{"../secret.yaml", folder_ + "/secret.yaml", "/*", "link.yaml",
                                "*.yaml", "up/*.yaml", "key.pem", "x/../../secret.yaml"}) {
    const std::string fault = FaultsOfSent("include: \"" + pattern + "\"\n", "etc/main.yaml");
    EXPECT_THAT(fault, HasSubstr("/include: ")) << pattern;
    EXPECT_THAT(fault, ::testing::Not(HasSubstr("top-secret"))) << pattern;
    EXPECT_THAT(fault, ::testing::Not(HasSubstr("010"))) << pattern;
  }
}

TEST_F(SentTextTest, CannotIncludeWhereThereIsNoFile) {
  EXPECT_THAT(FaultsOfSent("include: \"*.yaml\"\n", ""),
              HasSubstr("/include: there is no configuration file"));
  EXPECT_EQ(FaultsOfSent("dependencies: [{name: b}]\n", ""), "");
  EXPECT_THAT(FaultsOfSent("", ""), HasSubstr("the file is empty"));
}

constexpr char kTokensFile[] =
    "auth:\n  tokens:\n    - {name: ci, role: viewer, token: \"${CI_TOKEN}\"}\n";
constexpr char kToken[] = "CI_TOKEN=hunter2-hunter2-hunter2";

TEST(SecretTest, ATokenOfTheEnvironmentLetsIn) {
  const Config config = Read(Request({kToken}), kTokensFile);
  ASSERT_EQ(config.server.access.tokens.size(), 1U);
  EXPECT_EQ(config.server.access.tokens[0].name, "ci");
  EXPECT_EQ(config.server.access.tokens[0].role, Role::kViewer);
  EXPECT_EQ(config.server.access.tokens[0].sha256, HashToken("hunter2-hunter2-hunter2"));
  EXPECT_EQ(config.server.access.api_anonymous, Role::kNone) << "who asks for tokens is not open";
}

TEST(SecretTest, ItIsShownNowhere) {
  const Config config = Read(Request({kToken}), kTokensFile);
  EXPECT_EQ(EntryOf(config, "auth.tokens").value,
            R"([{"name": "ci", "role": "viewer", "token": "${CI_TOKEN}"}])");
  std::string all = EffectiveText(config, true) + config.server.config_hash;
  for (const auto& [name, value] : AccessSettingsOf(config)) all += name + value;
  for (const auto& [name, value] : FixedSettingsOf(config)) all += name + value;
  for (const std::string& line : Compare(Read(Request({}), "dependencies: []"), config).access) {
    all += line;
  }
  EXPECT_THAT(all, ::testing::Not(HasSubstr("hunter2")));
  EXPECT_THAT(all, HasSubstr("${CI_TOKEN}"));
}

TEST(SecretTest, NoFaultShowsWhatMayBeTheSecret) {
  const auto fault = [](const std::string& token) {
    return "auth: {tokens: [{name: ci, role: viewer, token: " + token + "}]}\n";
  };
  for (const std::string& token : std::vector<std::string>{
           "hunter2hunter2hunter2", "\"$hunter2\"", "\"${hunter2\"", "\"${a b hunter2}\"",
           "[hunter2]", "{a: hunter2}", "\"x${hunter2}\""}) {
    const std::vector<std::string> faults = FaultsOf(Request({}), fault(token));
    ASSERT_EQ(faults.size(), 1U) << token;
    EXPECT_THAT(faults[0], HasSubstr("/auth/tokens/0/token: must name a variable"));
    EXPECT_THAT(faults[0], ::testing::Not(HasSubstr("hunter2"))) << token;
  }
  const std::string reference = fault("\"${CI_TOKEN}\"");
  EXPECT_THAT(FaultsOf(Request({}), reference),
              ElementsAre(HasSubstr("the variable CI_TOKEN is not set")));
  const auto weak = FaultsOf(Request({"CI_TOKEN=hunter2"}), reference);
  EXPECT_THAT(weak, ElementsAre(HasSubstr("at least 16 characters")));
  EXPECT_THAT(weak[0], ::testing::Not(HasSubstr("hunter2")));
  for (const ConfigRequest& request :
       {Request({"PLIMSOLL_AUTH__TOKENS=hunter2"}), Request({}, {{"auth.tokens", "hunter2"}})}) {
    const std::vector<std::string> faults = FaultsOf(request, "dependencies: []\n");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_THAT(faults[0], ::testing::Not(HasSubstr("hunter2")));
  }
}

TEST(SecretTest, VariablesAreNotLookedAtWhereSecretsAreSkippedOrTheTextWasSent) {
  for (const bool sent : {false, true}) {
    ConfigRequest request = Request({});
    request.skip_secrets = !sent;
    request.sent = sent;
    const Config config = Read(request, kTokensFile);
    EXPECT_TRUE(config.access.asks_for_credentials());
    EXPECT_THAT(config.server.access.tokens, IsEmpty());
  }
}

TEST(SecretTest, TwoEntriesOfOneTokenAreRefused) {
  const std::string twice =
      std::string(kTokensFile) + "    - {name: cd, role: operator, token: \"${CI_TOKEN}\"}\n";
  EXPECT_THAT(FaultsOf(Request({kToken}), twice),
              ElementsAre(HasSubstr("/auth/tokens/1/token: another entry has the same token")));
}

TEST(SecretTest, AVariableThatTheFileRefersToIsKnown) {
  ConfigRequest request = Request({"PLIMSOLL_CI=hunter2-hunter2-hunter2"});
  request.strict = true;
  EXPECT_THAT(FaultsOf(request,
                       "auth: {tokens: [{name: ci, role: viewer, token: "
                       "\"${PLIMSOLL_CI}\"}]}\n"),
              IsEmpty());
}

TEST(ConfigLoaderTest, WhatHoldsForDevelopmentIsShown) {
  ConfigRequest request;
  request.profile = Profile::kDevelopment;
  const Config config = Read(request, "");
  EXPECT_THAT(EffectiveText(config, true),
              HasSubstr("dependencies:\n  - {\"match\":\"*\"}  # DEFAULT\n"));
}

TEST(FactsAfterReloadTest, WhatWaitsForARestartStaysAndIsNamed) {
  const ConfigSettings running = {
      {{"listen.api", "127.0.0.1:1", "FILE", "f:1:1", true}, {"include", "", "DEFAULT", "", false}},
      {}};
  const std::vector<ConfigEntry> fresh = {{"listen.api", "127.0.0.1:2", "FILE", "f:2:1", true},
                                          {"include", "a", "FILE", "f:3:1", false}};
  const ConfigSettings facts = FactsAfterReload(running, fresh);
  EXPECT_THAT(facts.entries, ElementsAre(running.entries[0], fresh[1]));
  EXPECT_THAT(facts.pending_restart, ElementsAre("listen.api"));
  EXPECT_THAT(FactsAfterReload(facts, running.entries).pending_restart, IsEmpty());
}

}  // namespace
}  // namespace plimsoll
