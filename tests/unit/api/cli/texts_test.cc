// What is made from the table of verbs: help, manual, completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/cli/src/argument_parser.h"
#include "api/cli/src/completions.h"
#include "api/cli/src/event_stream.h"
#include "api/cli/src/help_text.h"
#include "api/cli/src/humane.h"
#include "api/cli/src/json.h"
#include "api/cli/src/verb_table.h"

namespace plimsoll::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Shell(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string text;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  return pclose(pipe) == 0 ? text : "failed: " + text;
}

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    std::filesystem::create_directories(folder_);
    for (const char* const shell : {"bash", "zsh", "fish"}) {
      std::ofstream(folder_ / shell) << CompletionScript(shell);
    }
    // In place of the program: names as the controller would tell them.
    std::ofstream(folder_ / "plimsoll") << "#!/bin/sh\necho \"name-of-$2\"\n";
    std::filesystem::permissions(folder_ / "plimsoll", std::filesystem::perms::owner_all);
  }
  ~CompletionTest() override { std::filesystem::remove_all(folder_); }

  // What bash offers for the last of these words, a line each.
  std::string Bash(const std::string& words) const {
    return Shell(absl::StrCat(
        "cd '", folder_.string(), "' && PATH=\"$PWD:$PATH\" bash -c '. ./bash; COMP_WORDS=(", words,
        "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _plimsoll; printf \"%s\\n\" \"${COMPREPLY[@]}\"' "
        "2>&1"));
  }

  const std::filesystem::path folder_ =
      ::testing::TempDir() + "completion_" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(CompletionTest, BashCompletesVerbsFlagsChoicesAndNames) {
  EXPECT_EQ(Bash("plimsoll wh"), "why\n");
  EXPECT_EQ(Bash("plimsoll set o"), "override\n");
  EXPECT_EQ(Bash("plimsoll get li"), "limits\n");
  EXPECT_EQ(Bash("plimsoll get limits -o js"), "json\njsonl\n");
  EXPECT_EQ(Bash("plimsoll get limits --sort"), "--sort-by\n");
  EXPECT_EQ(Bash("plimsoll why n"), "name-of-dependencies\n");
  EXPECT_EQ(Bash("plimsoll why --since 5m n"), "name-of-dependencies\n");
  EXPECT_EQ(Bash("plimsoll why db n"), "name-of-instances\n");
  EXPECT_EQ(Bash("plimsoll set override n"), "name-of-dependencies\n");
  EXPECT_EQ(Bash("plimsoll check-config fi"), "fish\n");
  EXPECT_EQ(Bash("plimsoll set override db --mode o"), "observe\n");
}

// Where the shells are installed, they must accept the scripts; bash is everywhere.
TEST_F(CompletionTest, ShellsThatAreThereAcceptTheirScripts) {
  EXPECT_EQ(
      Shell(absl::StrCat("cd '", folder_.string(),
                         "' && for s in bash zsh fish; do command -v $s >/dev/null || continue; "
                         "$s -n ./$s 2>&1 || exit 1; done")),
      "");
  EXPECT_EQ(CompletionScript("tcsh"), "");
}

TEST(HelpTest, EveryVerbAndFlagIsInHelpManualAndCompletions) {
  for (const Verb& verb : Verbs()) {
    if (verb.hidden) continue;
    EXPECT_THAT(HelpText(), HasSubstr("\n  " + verb.name));
    const std::string page = ManualPage(verb.page, "1");
    const std::string last = verb.name.substr(verb.name.rfind(' ') + 1);
    for (const char* const shell : {"bash", "zsh", "fish"}) {
      EXPECT_THAT(CompletionScript(shell), HasSubstr(last)) << shell;
    }
    if (verb.raw) continue;
    for (const VerbFlag& flag : FlagsOf(verb)) {
      EXPECT_THAT(HelpText(verb), HasSubstr(flag.name));
      EXPECT_THAT(CompletionScript("fish"), HasSubstr("-l " + flag.name.substr(2)));
    }
    for (const VerbFlag& flag : verb.flags) {
      const std::string escaped =
          absl::StrCat("Fl \\-", absl::StrReplaceAll(flag.name.substr(2), {{"-", "\\-"}}));
      EXPECT_THAT(page, HasSubstr(escaped)) << verb.name;
    }
  }
}

TEST(HelpTest, EveryExampleIsUnderstood) {
  for (const Verb& verb : Verbs()) {
    for (const std::string& example : verb.examples) {
      if (!absl::StartsWith(example, "plimsoll ")) continue;
      const std::vector<std::string> words = absl::StrSplit(example.substr(9), ' ');
      EXPECT_TRUE(ParseArguments(words).ok()) << example;
    }
  }
}

TEST(HelpTest, NoTwoVerbsAndNoTwoFlagsOfAVerbHaveOneName) {
  std::set<std::string> names;
  for (const Verb& verb : Verbs()) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
    std::set<std::string> flags;
    for (const VerbFlag& flag : FlagsOf(verb)) {
      EXPECT_TRUE(flags.insert(flag.name).second) << verb.name << " " << flag.name;
      if (!flag.brief.empty()) {
        EXPECT_TRUE(flags.insert(flag.brief).second) << verb.name;
      }
    }
  }
}

TEST(HelpTest, EveryPageIsMdocWithItsSections) {
  for (const ManualTopic& page : Pages()) {
    const std::string text = ManualPage(page.name, "1.2.3");
    for (const char* const section :
         {"NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "EXIT STATUS", "SEE ALSO"}) {
      EXPECT_THAT(text, HasSubstr(absl::StrCat("\n.Sh ", section, "\n"))) << page.name;
    }
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      EXPECT_LT(line.size(), 300U) << line;
    }
  }
  EXPECT_EQ(ManualPage("none", "1"), "");
}

// Where mandoc is installed, it must have no warning. It is not everywhere.
TEST(HelpTest, MandocAcceptsEveryPage) {
  const std::filesystem::path path = ::testing::TempDir() + "plimsoll_page.1";
  for (const ManualTopic& page : Pages()) {
    std::ofstream(path) << ManualPage(page.name, "1.2.3");
    EXPECT_EQ(Shell(absl::StrCat("if command -v mandoc >/dev/null; then mandoc -Tlint -W warning '",
                                 path.string(), "' 2>&1; fi")),
              "")
        << page.name;
  }
  std::filesystem::remove(path);
}

TEST(EventStreamTest, EventsArriveWhereverTheBytesAreCut) {
  const std::string text =
      ": hello\r\n\r\nid: 1\revent: limit\rdata: a\rdata:b\r\rdata\n\nid: 2\ndata: c\n\n";
  EventStreamReader whole;
  const std::vector<StreamEvent> expected = whole.Read(text);
  ASSERT_EQ(expected.size(), 3U);
  EXPECT_EQ(expected[0].data, "a\nb");
  EXPECT_EQ(expected[0].name, "limit");
  EXPECT_EQ(expected[1].name, "message");
  EXPECT_EQ(whole.last_id(), "2");
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EventStreamReader parts;
    std::vector<StreamEvent> events = parts.Read(text.substr(0, cut));
    for (StreamEvent& event : parts.Read(text.substr(cut))) events.push_back(std::move(event));
    ASSERT_EQ(events.size(), 3U) << cut;
    EXPECT_EQ(events[0].data, "a\nb") << cut;
  }
}

TEST(HumaneTest, NumbersAreAsExactAsPeopleCareFor) {
  EXPECT_EQ(HumaneSeconds(0.4124), "412 ms");
  EXPECT_EQ(HumaneSeconds(0.000012), "12 us");
  EXPECT_EQ(HumaneSeconds(1.2345), "1.23 s");
  EXPECT_EQ(HumaneSeconds(200), "3 min 20 s");
  EXPECT_EQ(HumaneSeconds(7500), "2 h 5 min");
  EXPECT_EQ(HumaneSeconds(86400 * 4), "4 d");
  EXPECT_EQ(HumaneNumber(14.23), "14.2");
  EXPECT_EQ(HumaneNumber(1280), "1280");
  const absl::Time now = absl::FromUnixSeconds(1000);
  EXPECT_EQ(HumaneTime("1970-01-01T00:16:28Z", now), "12 s ago");
  EXPECT_EQ(HumaneTime("1970-01-01T00:26:40Z", now), "in 10 min");
  EXPECT_EQ(HumaneTime("soon", now), "soon");
}

TEST(JsonTest, YamlQuotesWhatWouldBeReadAsSomethingElse) {
  EXPECT_EQ(
      ToYaml(Json::parse(
          R"({"a":[1,{"b":"x y","c":[]},"yes"],"d":{},
              "e":"1","f":"payments-db","g":null,"h":"a: b"})")),
      "a:\n  - 1\n  - b: \"x y\"\n    c: []\n  - \"yes\"\nd: {}\ne: \"1\"\nf: payments-db\ng: "
      "null\nh: \"a: b\"\n");
}

}  // namespace
}  // namespace plimsoll::cli
