#include "api/cli/src/help_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cli/src/verb_table.h"

namespace plimsoll::cli {
namespace {

std::string Padded(const std::string& left, std::size_t width, const std::string& right) {
  const std::size_t gap = left.size() < width ? width - left.size() : 1;
  return absl::StrCat("  ", left, std::string(gap, ' '), right, "\n");
}

std::string FlagText(const VerbFlag& flag) {
  return absl::StrCat(flag.brief, flag.brief.empty() ? "" : ", ", flag.name,
                      flag.value.empty() ? "" : " ", flag.value);
}

std::string ExitText() {
  std::string text = "exit status:\n";
  for (const auto& [status, meaning] : ExitTable()) text += Padded(status, 5, meaning);
  return text;
}

}  // namespace

std::string HelpText() {
  std::string text = "usage: plimsoll COMMAND [ARGUMENT]...\n\n";
  for (const Verb& verb : Verbs()) {
    if (!verb.hidden) text += Padded(verb.name, 16, verb.help);
  }
  absl::StrAppend(&text, Padded("help", 16, "print this"), "\n", "environment:\n");
  for (const auto& [name, meaning] : EnvironmentTable()) text += Padded(name, 22, meaning);
  return absl::StrCat(text, "\n", ExitText(), "\nplimsoll COMMAND --help tells more.\n");
}

std::string HelpText(const Verb& verb) {
  std::string text = absl::StrCat("usage: ", Synopsis(verb), " [flags]\n\n", verb.help, "\n");
  for (const Word& word : verb.words) {
    if (word.choices.size() > 1) {
      absl::StrAppend(&text, word.name, " is one of ", absl::StrJoin(word.choices, ", "), ".\n");
    }
  }
  for (const std::string& note : verb.notes) absl::StrAppend(&text, note, "\n");
  text += "\n";
  for (const VerbFlag& flag : FlagsOf(verb)) text += Padded(FlagText(flag), 28, flag.help);
  if (verb.examples.empty()) return text;
  absl::StrAppend(&text, "\nexamples:\n");
  for (const std::string& example : verb.examples) absl::StrAppend(&text, "  ", example, "\n");
  return text;
}

}  // namespace plimsoll::cli
