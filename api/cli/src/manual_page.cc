#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/cli/src/help_text.h"
#include "api/cli/src/verb_table.h"

namespace plimsoll::cli {
namespace {

// As plain words of a line of mdoc: what would be a macro or an escape is not. A hyphen that is
// typed must stay one.
std::string Plain(const std::string& text) {
  const std::string safe =
      absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"|", "\\&|"}, {"\"", "\\(dq"}});
  return safe[0] == '.' || safe[0] == '\'' ? "\\&" + safe : safe;
}

// A line per sentence, and none of more than 78 letters, as mdoc wants it.
std::string Paragraph(const std::string& text) {
  std::string lines;
  std::string line;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(text, ' '))) {
    const bool ends = !line.empty() && line.back() == '.';
    if (ends || line.size() + word.size() > 70) {
      absl::StrAppend(&lines, Plain(line), "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  return absl::StrCat(lines, Plain(line), "\n");
}

// A sentence with a capital and a full stop.
std::string Sentence(std::string text) {
  if (!text.empty()) text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return absl::StrCat(Plain(text), text.empty() || text.back() == '.' ? "" : ".", "\n");
}

std::string FlagItem(const VerbFlag& flag) {
  std::string item = ".It ";
  if (!flag.brief.empty()) absl::StrAppend(&item, "Fl ", Plain(flag.brief.substr(1)), " , ");
  absl::StrAppend(&item, "Fl ", Plain(flag.name.substr(1)));
  if (!flag.value.empty()) absl::StrAppend(&item, " Ar ", Plain(flag.value));
  return absl::StrCat(item, "\n", Sentence(flag.help));
}

std::string FlagList(const std::vector<VerbFlag>& flags) {
  if (flags.empty()) return "";
  std::string text = ".Bl -tag -width Ds\n";
  for (const VerbFlag& flag : flags) text += FlagItem(flag);
  return absl::StrCat(text, ".El\n");
}

std::string SynopsisLine(const Verb& verb) {
  std::string line = absl::StrCat(".Nm plimsoll\n.Cm ", verb.name);
  for (const Word& word : verb.words) {
    absl::StrAppend(&line, word.optional ? " Op Ar " : " Ar ", Plain(word.name));
  }
  line += "\n";
  for (const VerbFlag& flag : verb.flags) {
    if (flag.required) {
      absl::StrAppend(&line, ".Fl ", Plain(flag.name.substr(1)), " Ar ", flag.value, "\n");
    }
  }
  return absl::StrCat(line, ".Op Ar flags\n");
}

std::string VerbText(const Verb& verb) {
  std::string text = absl::StrCat(".Ss plimsoll ", Plain(verb.name), "\n", Sentence(verb.help));
  for (const Word& word : verb.words) {
    if (word.choices.size() < 2) continue;
    absl::StrAppend(&text, ".Pp\n.Ar ", Plain(word.name), "\n",
                    Plain("is one of " + absl::StrJoin(word.choices, ", ") + "."), "\n");
  }
  for (const std::string& note : verb.notes) absl::StrAppend(&text, ".Pp\n", Paragraph(note));
  return absl::StrCat(text, FlagList(verb.flags));
}

std::string Pairs(const std::string& macro,
                  const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text = ".Bl -tag -width Ds\n";
  for (const auto& [name, meaning] : pairs) {
    absl::StrAppend(&text, ".It ", macro, Plain(name), "\n", Sentence(meaning));
  }
  return absl::StrCat(text, ".El\n");
}

std::string Head(const ManualTopic& page, const std::string& version) {
  return absl::StrCat(".Dd $Mdocdate$\n.Dt ", absl::AsciiStrToUpper(page.name), " 1\n.Os Plimsoll ",
                      version, "\n.Sh NAME\n.Nm ", page.name, "\n.Nd ", Plain(page.help),
                      "\n.Sh SYNOPSIS\n");
}

std::string SeeAlso(const std::string& page) {
  std::vector<std::string> others;
  for (const ManualTopic& other : Pages()) {
    if (other.name != page) others.push_back(absl::StrCat(".Xr ", other.name, " 1"));
  }
  std::sort(others.begin(), others.end());
  return absl::StrCat(".Sh SEE ALSO\n", absl::StrJoin(others, " ,\n"), "\n");
}

std::string Overview() {
  std::string text =
      ".Nm\n.Ar command\n.Op Ar argument ...\n.Sh DESCRIPTION\nOne program for "
      "those who operate a\n.Nm\ncontroller.\nCommands are:\n" +
      std::string(".Bl -tag -width Ds\n");
  for (const Verb& verb : Verbs()) {
    if (verb.hidden) continue;
    absl::StrAppend(&text, ".It Cm ", Plain(verb.name), "\n", Sentence(verb.help), "See\n.Xr ",
                    verb.page, " 1 .\n");
  }
  return absl::StrCat(text, ".El\n.Pp\nCommands that talk to the controller take these flags:\n",
                      FlagList(ConnectionFlags()));
}

std::string Examples(const std::string& page) {
  std::string text;
  for (const Verb& verb : Verbs()) {
    for (const std::string& example :
         verb.page == page ? verb.examples : std::vector<std::string>{}) {
      absl::StrAppend(&text, ".Dl ", Plain(example), "\n");
    }
  }
  return text.empty() ? text : absl::StrCat(".Sh EXAMPLES\n", text);
}

}  // namespace

std::string ManualPage(const std::string& name, const std::string& version) {
  const auto page = std::find_if(Pages().begin(), Pages().end(),
                                 [&name](const ManualTopic& one) { return one.name == name; });
  if (page == Pages().end()) return "";
  std::string text = Head(*page, version);
  if (name == "plimsoll") {
    text += Overview();
  } else {
    std::string details;
    for (const Verb& verb : Verbs()) {
      if (verb.page != name || verb.hidden) continue;
      text += SynopsisLine(verb);
      details += VerbText(verb);
    }
    absl::StrAppend(&text, ".Sh DESCRIPTION\n", details,
                    ".Pp\nFlags of the connection are told in\n.Xr plimsoll 1 .\n");
  }
  absl::StrAppend(&text, ".Sh ENVIRONMENT\n", Pairs("Ev ", EnvironmentTable()), ".Sh EXIT STATUS\n",
                  Pairs("", ExitTable()), Examples(name));
  return absl::StrCat(text, SeeAlso(name));
}

}  // namespace plimsoll::cli
