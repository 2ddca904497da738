#include "api/cli/src/argument_parser.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cli/src/verb_table.h"
#include "controller/config/faults.h"

namespace plimsoll::cli {
namespace {

absl::Status WrongCall(const Verb* verb, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "; see plimsoll ", verb == nullptr ? "help" : verb->name + " --help"));
}

// The verb that these arguments begin with, and how many of them are its name.
const Verb* FindVerb(const std::vector<std::string>& arguments, std::size_t& used) {
  const Verb* found = nullptr;
  for (const Verb& verb : Verbs()) {
    const bool two = absl::StrContains(verb.name, ' ');
    if (two && arguments.size() < 2) continue;
    const std::string name = two ? absl::StrCat(arguments[0], " ", arguments[1]) : arguments[0];
    if (verb.name != name) continue;
    found = &verb;
    used = two ? 2 : 1;
  }
  return found;
}

absl::Status UnknownVerb(const std::vector<std::string>& arguments) {
  std::vector<std::string> names = {"help"};
  std::vector<std::string> nouns;
  for (const Verb& verb : Verbs()) {
    if (verb.hidden) continue;
    names.push_back(verb.name.substr(0, verb.name.find(' ')));
    if (absl::StartsWith(verb.name, arguments[0] + " ")) {
      nouns.push_back(verb.name.substr(arguments[0].size() + 1));
    }
  }
  if (nouns.empty()) {
    return WrongCall(nullptr, absl::StrCat("unknown command ", Quoted(arguments[0]),
                                           Suggestion(arguments[0], names)));
  }
  const std::string what = absl::StrJoin(nouns, " or ");
  if (arguments.size() < 2) {
    return WrongCall(nullptr, absl::StrCat(arguments[0], " needs to know what: ", what));
  }
  return WrongCall(nullptr, absl::StrCat("unknown ", Quoted(arguments[1]), " after ", arguments[0],
                                         ": there is ", what, Suggestion(arguments[1], nouns)));
}

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Reads what follows the verb. Confined to one call of ParseArguments().
class Reader {
 public:
  Reader(const std::vector<std::string>& arguments, std::size_t next, Invocation& call)
      : arguments_(arguments), next_(next), call_(call), flags_(FlagsOf(*call.verb)) {}

  absl::Status Read() {
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      const bool word = only_words_ || argument == "-" || !absl::StartsWith(argument, "-");
      if (!only_words_ && argument == "--") {
        only_words_ = true;
        continue;
      }
      const absl::Status status = word ? ReadWord(argument) : ReadFlag(argument);
      if (!status.ok()) return status;
    }
    return call_.help ? absl::OkStatus() : CheckAll();
  }

 private:
  absl::Status ReadWord(const std::string& argument) {
    const std::vector<Word>& words = call_.verb->words;
    if (call_.words.size() == words.size()) {
      return WrongCall(call_.verb, absl::StrCat("too many arguments: ", Quoted(argument)));
    }
    const Word& word = words[call_.words.size()];
    if (!word.choices.empty() && !Contains(word.choices, argument)) {
      return WrongCall(
          call_.verb, absl::StrCat(word.name, " must be ", absl::StrJoin(word.choices, ", "),
                                   ", not ", Quoted(argument), Suggestion(argument, word.choices)));
    }
    call_.words.push_back(argument);
    return absl::OkStatus();
  }

  absl::Status ReadFlag(const std::string& argument) {
    const std::size_t equals =
        absl::StartsWith(argument, "--") ? argument.find('=') : std::string::npos;
    const std::string name = argument.substr(0, equals);
    const auto flag = std::find_if(flags_.begin(), flags_.end(), [&name](const VerbFlag& one) {
      return name == one.name || name == one.brief;
    });
    if (flag == flags_.end()) return UnknownFlag(name);
    if (flag->name == "--help") {
      call_.help = true;
      return absl::OkStatus();
    }
    const bool has_value = equals != std::string::npos;
    if (flag->value.empty()) {
      if (has_value) return WrongCall(call_.verb, absl::StrCat(name, " takes no value"));
      call_.flags[flag->name] = "true";
      return absl::OkStatus();
    }
    if (!has_value && next_ == arguments_.size()) {
      return WrongCall(call_.verb, absl::StrCat(name, " needs a ", flag->value));
    }
    return SetFlag(*flag, has_value ? argument.substr(equals + 1) : arguments_[next_++]);
  }

  absl::Status SetFlag(const VerbFlag& flag, const std::string& value) {
    if (value.empty())
      return WrongCall(call_.verb, absl::StrCat(flag.name, " needs a ", flag.value));
    if (!flag.choices.empty() && !Contains(flag.choices, value)) {
      return WrongCall(
          call_.verb, absl::StrCat(flag.name, " must be one of ", absl::StrJoin(flag.choices, ", "),
                                   ", not ", Quoted(value), Suggestion(value, flag.choices)));
    }
    const auto [first, is_new] = call_.flags.emplace(flag.name, value);
    if (is_new) return absl::OkStatus();
    return WrongCall(call_.verb, absl::StrCat(flag.name, " is given twice, as ",
                                              Quoted(first->second), " and ", Quoted(value)));
  }

  absl::Status UnknownFlag(const std::string& name) const {
    std::vector<std::string> names;
    for (const VerbFlag& flag : flags_) names.push_back(flag.name);
    return WrongCall(call_.verb,
                     absl::StrCat("unknown flag ", Quoted(name), Suggestion(name, names)));
  }

  absl::Status CheckAll() const {
    const std::vector<Word>& words = call_.verb->words;
    if (call_.words.size() < words.size() && !words[call_.words.size()].optional) {
      const Word& word = words[call_.words.size()];
      const std::string what =
          word.choices.empty() ? word.name
                               : absl::StrCat(word.name, ": ", absl::StrJoin(word.choices, ", "));
      return WrongCall(call_.verb, absl::StrCat(call_.verb->name, " needs ", what));
    }
    for (const VerbFlag& flag : flags_) {
      if (!flag.required || call_.Has(flag.name)) continue;
      return WrongCall(call_.verb, absl::StrCat(call_.verb->name, " needs ", flag.name, " ",
                                                flag.value, ": ", flag.help));
    }
    return absl::OkStatus();
  }

  const std::vector<std::string>& arguments_;
  std::size_t next_;
  Invocation& call_;
  const std::vector<VerbFlag> flags_;
  bool only_words_ = false;
};

absl::Status Unfit(const std::string& flag, const std::string& wanted, const std::string& value) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " must be ", wanted, ", not ", Quoted(value)));
}

}  // namespace

absl::StatusOr<Invocation> ParseArguments(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return WrongCall(nullptr, "a command is needed");
  std::size_t used = 0;
  Invocation call;
  call.verb = FindVerb(arguments, used);
  if (call.verb == nullptr) return UnknownVerb(arguments);
  if (call.verb->raw) {
    call.raw.assign(arguments.begin() + static_cast<std::ptrdiff_t>(used), arguments.end());
    return call;
  }
  const absl::Status status = Reader(arguments, used, call).Read();
  if (!status.ok()) return status;
  return call;
}

absl::StatusOr<absl::Duration> DurationOf(const Invocation& call, const std::string& flag,
                                          absl::Duration usual) {
  if (!call.Has(flag)) return usual;
  absl::Duration duration;
  if (absl::ParseDuration(call.Text(flag), &duration) && duration > absl::ZeroDuration() &&
      duration < absl::InfiniteDuration()) {
    return duration;
  }
  return Unfit(flag, "a time with a unit, such as 15m or 1h30m", call.Text(flag));
}

absl::StatusOr<int> WholeOf(const Invocation& call, const std::string& flag, int usual) {
  if (!call.Has(flag)) return usual;
  int number = 0;
  if (absl::SimpleAtoi(call.Text(flag), &number) && number >= 0) return number;
  return Unfit(flag, "a whole number", call.Text(flag));
}

absl::StatusOr<double> ShareOf(const Invocation& call, const std::string& flag, double usual) {
  if (!call.Has(flag)) return usual;
  double number = 0;
  if (absl::SimpleAtod(call.Text(flag), &number) && number > 0 && number <= 1) return number;
  return Unfit(flag, "above 0 and at most 1", call.Text(flag));
}

}  // namespace plimsoll::cli
