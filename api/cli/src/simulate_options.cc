#include "api/cli/src/simulate_options.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/config/faults.h"

namespace plimsoll::cli {
namespace {

constexpr char kSuite[] = "algorithms";

// Where a flag puts its value: one of the members is set.
struct Flag {
  const char* name;
  const char* value;  // what its value is called; null if it takes none
  const char* help;
  bool SimulateOptions::*set = nullptr;
  std::string SimulateOptions::*text = nullptr;
  std::vector<std::string> SimulateOptions::*texts = nullptr;
  int SimulateOptions::*number = nullptr;
  int largest = 0;  // of the number; the smallest is 1
  std::uint64_t SimulateOptions::*seed = nullptr;
};

using Options = SimulateOptions;

const std::vector<Flag>& Flags() {
  static const auto& flags = *new std::vector<Flag>{
      {.name = "--scenario",
       .value = "NAME",
       .help = "run a designed scenario instead of a file",
       .text = &Options::scenario},
      {.name = "--list",
       .value = nullptr,
       .help = "list the designed scenarios, and end",
       .set = &Options::list},
      {.name = "--print",
       .value = "NAME",
       .help = "print a designed scenario as a file, and end",
       .text = &Options::print},
      {.name = "--suite",
       .value = "algorithms",
       .help = "compare all laws in all designed scenarios",
       .text = &Options::suite},
      {.name = "--law",
       .value = "NAME",
       .help = "try this law instead of the policy's; may be repeated; static:N keeps N",
       .texts = &Options::laws},
      {.name = "--seed",
       .value = "N",
       .help = "of the first run (1000); each further one has the next",
       .seed = &Options::seed},
      {.name = "--runs",
       .value = "N",
       .help = "take means over so many runs (1; in a suite 3)",
       .number = &Options::runs,
       .largest = 1000},
      {.name = "--hold-out",
       .value = "N",
       .help = "suite: so many random scenarios as well, reported apart",
       .number = &Options::hold_out,
       .largest = 1000},
      {.name = "--scenarios",
       .value = "NAMES",
       .help = "suite: only these: ABC, or A,halved",
       .text = &Options::scenarios},
      {.name = "--no-optimum",
       .value = nullptr,
       .help = "do not look for the best static limits, which takes most of the time",
       .set = &Options::no_optimum},
      {.name = "--json",
       .value = nullptr,
       .help = "print JSON instead of tables",
       .set = &Options::json},
      {.name = "--report",
       .value = "FILE",
       .help = "write a page (.html) or a picture (.svg); may be repeated",
       .texts = &Options::reports},
      {.name = "--jobs",
       .value = "N",
       .help = "threads (as many as there are processors)",
       .number = &Options::jobs,
       .largest = 256},
      {.name = "--quiet", .value = nullptr, .help = "no progress", .set = &Options::quiet},
      {.name = "--help", .value = nullptr, .help = "print this, and end", .set = &Options::help},
  };
  return flags;
}

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(what, "; see plimsoll simulate --help"));
}

const Flag* Find(const std::string& name) {
  for (const Flag& flag : Flags()) {
    if (name == flag.name) return &flag;
  }
  return nullptr;
}

absl::Status Unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const Flag& flag : Flags()) names.emplace_back(flag.name);
  return Wrong(absl::StrCat("unknown flag ", Quoted(name), Suggestion(name, names)));
}

absl::Status SetValue(const Flag& flag, const std::string& value, SimulateOptions& options) {
  if (value.empty()) return Wrong(absl::StrCat(flag.name, " needs a ", flag.value));
  if (flag.text != nullptr) options.*(flag.text) = value;
  if (flag.texts != nullptr) (options.*(flag.texts)).push_back(value);
  if (flag.seed != nullptr && !absl::SimpleAtoi(value, &(options.*(flag.seed)))) {
    return Wrong(absl::StrCat(flag.name, " must be a whole number, not ", Quoted(value)));
  }
  if (flag.number == nullptr) return absl::OkStatus();
  int number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < 1 || number > flag.largest) {
    return Wrong(
        absl::StrCat(flag.name, " must be between 1 and ", flag.largest, ", not ", Quoted(value)));
  }
  options.*(flag.number) = number;
  return absl::OkStatus();
}

absl::Status CheckReports(const SimulateOptions& options) {
  for (const std::string& path : options.reports) {
    const bool page = absl::EndsWith(path, ".html");
    if (!page && !absl::EndsWith(path, ".svg")) {
      return Wrong(absl::StrCat("--report ", Quoted(path), " must end in .html or .svg"));
    }
    if (!page && !options.suite.empty()) {
      return Wrong("--suite has no single picture: its --report must end in .html");
    }
  }
  return absl::OkStatus();
}

absl::Status Check(const SimulateOptions& options) {
  const int tasks = static_cast<int>(!options.file.empty()) +
                    static_cast<int>(!options.scenario.empty()) +
                    static_cast<int>(!options.print.empty()) +
                    static_cast<int>(!options.suite.empty()) + static_cast<int>(options.list);
  if (tasks != 1) {
    return Wrong("name one of: a scenario FILE, --scenario, --suite, --list, --print");
  }
  if (!options.suite.empty() && options.suite != kSuite) {
    return Wrong(absl::StrCat("no suite is called ", Quoted(options.suite), ": there is ", kSuite));
  }
  if (options.suite.empty() && (options.hold_out > 0 || !options.scenarios.empty())) {
    return Wrong("--hold-out and --scenarios belong to --suite");
  }
  if (!options.suite.empty() && options.no_optimum) {
    return Wrong("--suite compares with the optimum, so it cannot do with --no-optimum");
  }
  return CheckReports(options);
}

absl::Status SetFile(const std::string& path, SimulateOptions& options) {
  if (!options.file.empty()) {
    return Wrong(absl::StrCat("one scenario file at a time, not ", Quoted(options.file), " and ",
                              Quoted(path)));
  }
  options.file = path;
  return absl::OkStatus();
}

// Names of flags, and the values that they were given.
using Given = std::map<std::string, std::string>;

// Only what is a list may be given twice.
absl::Status CheckFirst(const Flag& flag, const std::string& value, Given& given) {
  if (flag.texts != nullptr) return absl::OkStatus();
  const auto [first, is_new] = given.emplace(flag.name, value);
  if (is_new) return absl::OkStatus();
  return Wrong(absl::StrCat(flag.name, " is given twice, as ", Quoted(first->second), " and ",
                            Quoted(value), ": it takes one ", flag.value));
}

absl::Status ReadOne(const std::vector<std::string>& arguments, std::size_t& i, Given& given,
                     SimulateOptions& options) {
  if (!absl::StartsWith(arguments[i], "-")) return SetFile(arguments[i], options);
  const std::size_t equals = arguments[i].find('=');
  const std::string name = arguments[i].substr(0, equals);
  const bool has_value = equals != std::string::npos;
  const Flag* const flag = Find(name);
  if (flag == nullptr) return Unknown(name);
  if (flag->set != nullptr) {
    if (has_value) return Wrong(absl::StrCat(name, " takes no value"));
    options.*(flag->set) = true;
    return absl::OkStatus();
  }
  if (!has_value && i + 1 == arguments.size()) {
    return Wrong(absl::StrCat(name, " needs a ", flag->value));
  }
  const std::string value = has_value ? arguments[i].substr(equals + 1) : arguments[++i];
  const absl::Status first = CheckFirst(*flag, value, given);
  return first.ok() ? SetValue(*flag, value, options) : first;
}

}  // namespace

absl::StatusOr<SimulateOptions> ParseSimulateOptions(const std::vector<std::string>& arguments) {
  SimulateOptions options;
  Given given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const absl::Status status = ReadOne(arguments, i, given, options);
    if (!status.ok()) return status;
  }
  if (options.help) return options;
  const absl::Status status = Check(options);
  if (!status.ok()) return status;
  if (options.runs == 0) options.runs = options.suite.empty() ? 1 : 3;
  return options;
}

std::string SimulateUsage() {
  std::string text =
      "usage: plimsoll simulate FILE.yaml | --scenario NAME [--law NAME]... [flags]\n"
      "       plimsoll simulate --suite algorithms [--law NAME]... [--hold-out N] [flags]\n"
      "       plimsoll simulate --list | --print NAME\n\n"
      "Runs the real controller and agents in virtual time against a modelled dependency.\n\n";
  for (const Flag& flag : Flags()) {
    const std::string left =
        flag.value == nullptr ? flag.name : absl::StrCat(flag.name, " ", flag.value);
    absl::StrAppend(&text, "  ", left, std::string(20 - left.size(), ' '), flag.help, "\n");
  }
  return absl::StrCat(text,
                      "\nexit status: 0 fine, 1 a quota was exceeded or a report could not be "
                      "written, 2 wrong arguments or scenario\n");
}

}  // namespace plimsoll::cli
