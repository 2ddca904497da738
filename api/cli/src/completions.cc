#include "api/cli/src/completions.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/cli/src/verb_table.h"

namespace plimsoll::cli {
namespace {

constexpr char kNames[] = "plimsoll get %s -o name --timeout 1s 2>/dev/null";

std::string AskNames(const char* kind) { return absl::StrReplaceAll(kNames, {{"%s", kind}}); }

// In single quotes of a shell.
std::string Quote(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// What bash offers for a value: an argument of compgen, between it and the word.
std::string Offer(Completes completes, const std::vector<std::string>& choices) {
  switch (completes) {
    case Completes::kNothing:
      return "";
    case Completes::kDependency:
      return absl::StrCat("-W \"$(", AskNames("dependencies"), ")\"");
    case Completes::kInstance:
      return absl::StrCat("-W \"$(", AskNames("instances"), ")\"");
    case Completes::kFile:
      return "-f";
    case Completes::kChoices:
      return absl::StrCat("-W ", Quote(absl::StrJoin(choices, " ")));
  }
  return "";
}

std::string Reply(const std::string& offer) {
  if (offer.empty()) return "return";
  return absl::StrCat("COMPREPLY=($(compgen ", offer, " -- \"$cur\")); return");
}

std::string FlagNames(const Verb& verb) {
  std::vector<std::string> names;
  for (const VerbFlag& flag : FlagsOf(verb)) names.push_back(flag.name);
  return absl::StrJoin(names, " ");
}

std::string FirstWord(const Verb& verb) { return verb.name.substr(0, verb.name.find(' ')); }

// The words after "set", "check" and the like; empty for verbs of one word.
std::string SecondWords(const std::string& first) {
  std::vector<std::string> words;
  for (const Verb& verb : Verbs()) {
    if (absl::StartsWith(verb.name, first + " "))
      words.push_back(verb.name.substr(first.size() + 1));
  }
  return absl::StrJoin(words, " ");
}

std::string AllFirstWords() {
  std::set<std::string> words = {"help"};
  for (const Verb& verb : Verbs()) {
    if (!verb.hidden) words.insert(FirstWord(verb));
  }
  return absl::StrJoin(words, " ");
}

std::string PrevCase(const Verb& verb) {
  std::string text;
  for (const VerbFlag& flag : FlagsOf(verb)) {
    if (flag.value.empty()) continue;
    absl::StrAppend(&text, "        ", flag.name, flag.brief.empty() ? "" : "|", flag.brief, ") ",
                    Reply(Offer(flag.completes, flag.choices)), " ;;\n");
  }
  return text.empty() ? text : absl::StrCat("      case \"$prev\" in\n", text, "      esac\n");
}

// What is known of the flags that take no value, to count words.
std::string ValueFlags() {
  std::set<std::string> names;
  for (const Verb& verb : Verbs()) {
    for (const VerbFlag& flag : FlagsOf(verb)) {
      if (flag.value.empty()) continue;
      names.insert(flag.name);
      if (!flag.brief.empty()) names.insert(flag.brief);
    }
  }
  return absl::StrJoin(names, "|");
}

std::string VerbCase(const Verb& verb) {
  std::string text = absl::StrCat("    ", Quote(verb.name), ")\n", PrevCase(verb));
  absl::StrAppend(&text, "      case \"$cur\" in -*) COMPREPLY=($(compgen -W ",
                  Quote(FlagNames(verb)), " -- \"$cur\")); return ;; esac\n");
  for (std::size_t i = 0; i < verb.words.size(); ++i) {
    const std::string offer = Offer(verb.words[i].completes, verb.words[i].choices);
    if (offer.empty()) continue;
    absl::StrAppend(&text, "      if [[ $count -eq ", i, " ]]; then ", Reply(offer), "; fi\n");
  }
  return absl::StrCat(text, "      ;;\n");
}

std::string Bash() {
  std::string text = absl::StrCat(
      "# Completions of plimsoll for bash: source <(plimsoll completion bash)\n"
      "_plimsoll() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  local verb=\"${COMP_WORDS[1]}\" first=2 count=0 i\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n    COMPREPLY=($(compgen -W ",
      Quote(AllFirstWords()), " -- \"$cur\")); return\n  fi\n  case \"$verb\" in\n");
  std::set<std::string> done;
  for (const Verb& verb : Verbs()) {
    const std::string first = FirstWord(verb);
    if (first == verb.name || !done.insert(first).second) continue;
    absl::StrAppend(
        &text, "    ", first, ")\n      if [[ $COMP_CWORD -eq 2 ]]; then COMPREPLY=($(compgen -W ",
        Quote(SecondWords(first)),
        " -- \"$cur\")); return; fi\n      verb=\"$verb ${COMP_WORDS[2]}\"; first=3 ;;\n");
  }
  absl::StrAppend(&text,
                  "  esac\n"
                  "  for ((i = first; i < COMP_CWORD; i++)); do\n"
                  "    case \"${COMP_WORDS[i]}\" in\n      ",
                  ValueFlags(),
                  ") ((i++)) ;;\n      -*) ;;\n      *) ((count++)) ;;\n"
                  "    esac\n  done\n  case \"$verb\" in\n");
  for (const Verb& verb : Verbs()) {
    if (!verb.hidden && !verb.raw) text += VerbCase(verb);
  }
  return absl::StrCat(text, "    simulate) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n",
                      "  esac\n}\ncomplete -F _plimsoll plimsoll\n");
}

// zsh runs the function of bash, by what it brings for that. Installed, the file is a function that
// is loaded when the first word is completed: then it has to complete that one, too.
std::string Zsh() {
  return absl::StrCat(
      "#compdef plimsoll\n# Completions of plimsoll for zsh: source <(plimsoll completion zsh)\n"
      "autoload -U +X bashcompinit && bashcompinit\n",
      Bash(), "if [[ ${funcstack[1]} == _plimsoll ]]; then _bash_complete -F _plimsoll; fi\n");
}

std::string FishOffer(Completes completes, const std::vector<std::string>& choices) {
  switch (completes) {
    case Completes::kNothing:
      return " -f";
    case Completes::kDependency:
      return absl::StrCat(" -f -a '(", AskNames("dependencies"), ")'");
    case Completes::kInstance:
      return absl::StrCat(" -f -a '(", AskNames("instances"), ")'");
    case Completes::kFile:
      return " -F";
    case Completes::kChoices:
      return absl::StrCat(" -f -a ", Quote(absl::StrJoin(choices, " ")));
  }
  return "";
}

// True in fish when this verb was typed.
std::string FishCondition(const Verb& verb) {
  const std::string first = FirstWord(verb);
  if (first == verb.name) return absl::StrCat("__fish_seen_subcommand_from ", first);
  return absl::StrCat("__fish_seen_subcommand_from ", first, "; and __fish_seen_subcommand_from ",
                      verb.name.substr(first.size() + 1));
}

std::string FishVerb(const Verb& verb) {
  const std::string start = absl::StrCat("complete -c plimsoll -n ", Quote(FishCondition(verb)));
  std::string text;
  for (const Word& word : verb.words) {
    if (word.completes != Completes::kNothing) {
      absl::StrAppend(&text, start, FishOffer(word.completes, word.choices), "\n");
    }
  }
  for (const VerbFlag& flag : FlagsOf(verb)) {
    absl::StrAppend(&text, start, " -l ", flag.name.substr(2));
    if (!flag.brief.empty()) absl::StrAppend(&text, " -s ", flag.brief.substr(1));
    if (!flag.value.empty()) absl::StrAppend(&text, " -r", FishOffer(flag.completes, flag.choices));
    absl::StrAppend(&text, " -d ", Quote(flag.help), "\n");
  }
  return text;
}

std::string Fish() {
  std::string text =
      "# Completions of plimsoll for fish: plimsoll completion fish | source\n"
      "complete -c plimsoll -f\n";
  std::set<std::string> done;
  for (const Verb& verb : Verbs()) {
    if (verb.hidden) continue;
    const std::string first = FirstWord(verb);
    if (done.insert(first).second) {
      const std::string help = first == verb.name ? verb.help : SecondWords(first);
      absl::StrAppend(&text, "complete -c plimsoll -n __fish_use_subcommand -a ", first, " -d ",
                      Quote(help), "\n");
      if (first != verb.name) {
        const std::string words = SecondWords(first);
        absl::StrAppend(&text, "complete -c plimsoll -n ",
                        Quote(absl::StrCat("__fish_seen_subcommand_from ", first,
                                           "; and not __fish_seen_subcommand_from ", words)),
                        " -a ", Quote(words), "\n");
      }
    }
    if (verb.raw) {
      absl::StrAppend(&text, "complete -c plimsoll -n ", Quote(FishCondition(verb)), " -F\n");
    } else {
      text += FishVerb(verb);
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(const std::string& shell) {
  if (shell == "bash") return Bash();
  if (shell == "zsh") return Zsh();
  if (shell == "fish") return Fish();
  return "";
}

}  // namespace plimsoll::cli
