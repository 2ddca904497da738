#include "controller/main/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string ErrorOf(const std::vector<std::string>& arguments) {
  return std::string(ParseCommandLine(arguments).status().message());
}

TEST(CommandLineTest, NothingIsAskedForByDefault) {
  const absl::StatusOr<CommandLine> command = ParseCommandLine({});
  ASSERT_TRUE(command.ok());
  EXPECT_TRUE(command->config_path.empty());
  EXPECT_FALSE(command->check_config || command->dev || command->version || command->help);
}

TEST(CommandLineTest, FlagsAndValuesInBothSpellings) {
  const absl::StatusOr<CommandLine> command =
      ParseCommandLine({"--config", "a.yaml", "--port-file=p=q", "--check-config", "--dev"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->config_path, "a.yaml");
  EXPECT_EQ(command->port_path, "p=q");
  EXPECT_TRUE(command->check_config);
  EXPECT_TRUE(command->dev);
}

TEST(CommandLineTest, AnUnknownFlagGetsASuggestion) {
  EXPECT_THAT(ErrorOf({"--confg"}), HasSubstr("\"--confg\" (did you mean \"--config\"?)"));
}

TEST(CommandLineTest, AWordWithoutAFlagIsRefused) {
  EXPECT_THAT(ErrorOf({"start"}), HasSubstr("unknown argument \"start\""));
}

TEST(CommandLineTest, AMissingValueIsRefused) {
  EXPECT_THAT(ErrorOf({"--config"}), HasSubstr("--config needs a FILE"));
  EXPECT_THAT(ErrorOf({"--config="}), HasSubstr("--config needs a FILE"));
}

TEST(CommandLineTest, AValueForAPlainFlagIsRefused) {
  EXPECT_THAT(ErrorOf({"--dev=1"}), HasSubstr("--dev takes no value"));
}

TEST(CommandLineTest, WordsAboutTheStateMustNotContradictEachOther) {
  EXPECT_TRUE(ParseCommandLine({"--init"})->init);
  EXPECT_TRUE(ParseCommandLine({"--state-lost"})->state_lost);
  EXPECT_TRUE(ParseCommandLine({"--trust-state"})->trust_state);
  EXPECT_THAT(ErrorOf({"--state-lost", "--trust-state"}), HasSubstr("contradict"));
  EXPECT_THAT(ErrorOf({"--init", "--trust-state"}), HasSubstr("start without it"));
}

TEST(CommandLineTest, EverySettingIsAFlag) {
  const absl::StatusOr<CommandLine> command =
      ParseCommandLine({"--log.level=debug", "--state.dir", "/x", "--include="});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_THAT(command->settings, ElementsAre(Pair("log.level", "debug"), Pair("state.dir", "/x"),
                                             Pair("include", "")));
  EXPECT_THAT(ErrorOf({"--log.levle=x"}), HasSubstr("did you mean \"--log.level\"?"));
  EXPECT_THAT(ErrorOf({"--log.level"}), HasSubstr("--log.level needs a VALUE"));
}

TEST(CommandLineTest, ConfigPrintsWhatIsAskedFor) {
  const absl::StatusOr<CommandLine> command =
      ParseCommandLine({"config", "print", "--sources", "--config", "f"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->config_verb, "print");
  EXPECT_TRUE(command->sources);
  EXPECT_EQ(command->config_path, "f");
  EXPECT_THAT(ErrorOf({"config"}), HasSubstr("config needs one of init, defaults, schema, print"));
  EXPECT_THAT(ErrorOf({"config", "pirnt"}), HasSubstr("did you mean \"print\"?"));
  EXPECT_THAT(ErrorOf({"config", "schema", "--sources"}), HasSubstr("belongs to config print"));
}

TEST(CommandLineTest, ABackupNamesItsTargetAndDoesNothingElse) {
  const absl::StatusOr<CommandLine> command =
      ParseCommandLine({"backup", "/var/backups/plimsoll.db", "--config", "f"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->backup_path, "/var/backups/plimsoll.db");
  EXPECT_EQ(command->config_path, "f");
  EXPECT_THAT(ErrorOf({"backup"}), HasSubstr("backup needs the name of the file"));
  EXPECT_THAT(ErrorOf({"backup", "--config", "f"}), HasSubstr("backup needs the name of the file"));
  EXPECT_THAT(ErrorOf({"backup", "x", "--init"}), HasSubstr("no other thing to do"));
}

TEST(CommandLineTest, ACheckMayBeStrictAndLeaveSecretsAlone) {
  const absl::StatusOr<CommandLine> command =
      ParseCommandLine({"--check-config", "--strict", "--skip-secrets"});
  EXPECT_TRUE(command->check_config && command->strict && command->skip_secrets);
  EXPECT_THAT(ErrorOf({"--skip-secrets"}), HasSubstr("without its secrets nothing starts"));
}

TEST(CommandLineTest, TheUsageTextNamesEveryFlag) {
  for (const char* flag : {"--config", "--check-config", "--dev", "--init", "--state-lost",
                           "--trust-state", "--port-file", "--strict", "--skip-secrets",
                           "--sources", "--version", "--help", "config init", "backup TARGET"}) {
    EXPECT_THAT(UsageText(), HasSubstr(flag));
  }
}

}  // namespace
}  // namespace plimsoll
