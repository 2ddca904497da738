#include "api/cli/src/verb_table.h"

#include "absl/strings/str_cat.h"

namespace plimsoll::cli {
namespace {

VerbFlag Value(const char* name, const char* brief, const char* value, const char* help,
               Completes completes = Completes::kNothing) {
  return {name, brief, value, help, completes};
}

VerbFlag Switch(const char* name, const char* help) { return {name, "", "", help}; }

VerbFlag Choice(const char* name, const char* brief, const char* value, const char* help,
                std::vector<std::string> choices) {
  return {name, brief, value, help, Completes::kChoices, std::move(choices)};
}

VerbFlag Required(VerbFlag flag) {
  flag.required = true;
  return flag;
}

VerbFlag Output() {
  return Choice("--output", "-o", "FORMAT",
                "table, wide, json (the answer as it came), yaml, jsonl, csv or name",
                {"table", "wide", "json", "yaml", "jsonl", "csv", "name"});
}
VerbFlag Story() {
  return Choice("--output", "-o", "FORMAT", "text, json or yaml", {"text", "json", "yaml"});
}
VerbFlag SortBy() {
  return Value("--sort-by", "", "COLUMN", "sort by a column; -COLUMN turns it round");
}
VerbFlag Bare() { return Switch("--no-headers", "leave the line of titles out"); }
VerbFlag Color() {
  return Choice("--color", "", "WHEN", "auto (only on a terminal), always or never",
                {"auto", "always", "never"});
}
VerbFlag Dependency() {
  return Value("--dependency", "-d", "DEP", "only of this dependency", Completes::kDependency);
}
VerbFlag Service() { return Value("--service", "-s", "SERVICE", "only of this service"); }
VerbFlag Instance() {
  return Value("--instance", "-i", "INSTANCE", "only of this instance", Completes::kInstance);
}
VerbFlag Yes() { return Switch("--yes", "do not ask, also on a terminal"); }
VerbFlag Count() { return Value("--count", "", "N", "end after so many lines or screens"); }
VerbFlag Interval() { return Value("--interval", "", "DURATION", "time between two looks (2s)"); }
VerbFlag File() {
  return Required(Value("--file", "-f", "FILE", "of dependencies", Completes::kFile));
}
VerbFlag Utilisation() {
  return Value("--max-utilisation", "", "SHARE", "calls in flight, as a share of the bound (0.9)");
}

Word Dep() { return {"DEP", false, Completes::kDependency}; }

std::vector<Verb> LookingVerbs() {
  return {
      {.name = "status",
       .help = "one screen: leader, agents, dependencies that are limited",
       .page = "plimsoll-get",
       .flags = {Switch("--quiet", "print nothing; exit status 8 if the controller is not ready"),
                 Story(), Color()}},
      {.name = "get",
       .help = "list dependencies, limits, instances, quotas or events",
       .page = "plimsoll-get",
       .words = {{"KIND",
                  false,
                  Completes::kChoices,
                  {"dependencies", "limits", "instances", "quotas", "events"}},
                 {"NAME", true, Completes::kDependency}},
       .flags = {Output(),
                 Dependency(),
                 Service(),
                 Instance(),
                 Value("--type", "", "TYPE", "events: only of this type"),
                 Value("--reason", "", "REASON", "events: only with this reason"),
                 Value("--limit", "", "N", "events: at most so many (100)"),
                 {"--watch", "-w", "", "print what changes, as lines of JSON"},
                 Count(),
                 Interval(),
                 SortBy(),
                 Bare(),
                 Color()},
       .notes = {"NAME is that of a dependency, an instance or an event; for limits it is that of "
                 "a dependency."},
       .examples = {"plimsoll get limits -d payments-db --sort-by -in_flight",
                    "plimsoll get instances -o name", "plimsoll get events -d payments-db -w"}},
      {.name = "describe",
       .help = "everything about one dependency",
       .page = "plimsoll-get",
       .words = {{"KIND", false, Completes::kChoices, {"dependency"}}, Dep()},
       .flags = {Story(), Color()}},
      {.name = "why",
       .help = "why was this call refused: what decides the limit, since when, and what to do",
       .page = "plimsoll-why",
       .words = {Dep(), {"INSTANCE", true, Completes::kInstance}},
       .flags = {Value("--since", "", "DURATION", "how far to look back for changes (10m)"),
                 Switch("--brief", "only what decides: no steps, no history, no advice"), Story(),
                 Color()},
       .notes = {"Without INSTANCE it tells of the one that is closest to its limit. Nothing is "
                 "changed."},
       .examples = {"plimsoll why payments-db", "plimsoll why payments-db checkout-0 --since 1h"}},
      {.name = "top",
       .help = "dependencies and their load, again and again",
       .page = "plimsoll-get",
       .flags = {Dependency(), Count(), Interval(), Color()},
       .notes = {"On a terminal the screen is drawn anew; elsewhere tables follow each other."}},
      {.name = "watch",
       .help = "what changes, as lines of JSON",
       .page = "plimsoll-get",
       .words = {{"TOPICS", true}},
       .flags = {Dependency(), Count(), Interval()},
       .notes = {"TOPICS are some of limits,instances,quotas,events,config, with commas between "
                 "them. If no stream is free, it polls."}},
  };
}

std::vector<Verb> ChangingVerbs() {
  return {
      {.name = "set override",
       .help = "pin the limit or the mode of a dependency for some time",
       .page = "plimsoll-set",
       .words = {Dep()},
       .flags = {Value("--limit", "", "N", "of each instance; never above its share of the quota"),
                 Choice("--mode", "", "MODE", "observe refuses nobody; disabled learns nothing",
                        {"enforce", "observe", "disabled"}),
                 Required(Value("--for", "", "DURATION", "after which it ends by itself")),
                 Required(Value("--reason", "", "TEXT", "why, for those who find it")),
                 Switch("--dry-run", "check, change nothing")},
       .examples = {"plimsoll set override payments-db --limit 10 --for 15m --reason INC-12"}},
      {.name = "unset override",
       .help = "end an override now",
       .page = "plimsoll-set",
       .words = {Dep()},
       .flags = {Switch("--dry-run", "check, change nothing")}},
      {.name = "set quota",
       .help = "change the quota of a dependency",
       .page = "plimsoll-set",
       .words = {Dep()},
       .flags = {Required(Value("--capacity", "", "N", "most calls in flight, fleet-wide")),
                 Value("--if-match", "", "ETAG", "only if it has not changed since"),
                 Switch("--dry-run", "check, change nothing")}},
      {.name = "apply",
       .help = "create or replace the dependencies of a file",
       .page = "plimsoll-set",
       .flags = {File(), Switch("--dry-run", "check, change nothing")},
       .notes = {"The file has the keys defaults and dependencies, as the controller's "
                 "configuration. Others are left as they are."}},
      {.name = "diff",
       .help = "what apply would change; exit status 8 if anything",
       .page = "plimsoll-set",
       .flags = {File(), Color()}},
      {.name = "reset",
       .help = "forget what the law has learned about a dependency",
       .page = "plimsoll-set",
       .words = {Dep()},
       .flags = {Yes()}},
      {.name = "evict",
       .help = "end the session of an instance; its share stays reserved until its holds end",
       .page = "plimsoll-set",
       .words = {{"INSTANCE", false, Completes::kInstance}},
       .flags = {Yes(), Service()}},
      {.name = "reload",
       .help = "read the controller's configuration again, all of it or nothing",
       .page = "plimsoll-set",
       .flags = {Yes()}},
  };
}

std::vector<Verb> CheckingVerbs() {
  return {
      {.name = "check limits",
       .help = "for scripts: exit status 8 if a limit is nearly used up",
       .page = "plimsoll-check",
       .flags = {Dependency(), Utilisation()}},
      {.name = "check quotas",
       .help = "for scripts: exit status 8 if a quota is nearly used up or exceeded",
       .page = "plimsoll-check",
       .flags = {Dependency(), Utilisation()}},
      {.name = "check-config",
       .help = "read a configuration of the controller, and tell all that is wrong with it",
       .page = "plimsoll-check",
       .words = {{"FILE", false, Completes::kFile}},
       .flags = {Switch("--strict", "variables PLIMSOLL_* that nobody knows are faults"),
                 Switch("--skip-secrets", "leave unread the files of tokens and certificates")},
       .notes = {"Included files and variables of the environment count, as for the controller."},
       .examples = {"plimsoll check-config --strict controller.yaml"},
       .remote = false},
      {.name = "size",
       .help = "which quota, floor and ceiling the measured load asks for, and why",
       .page = "plimsoll-check",
       .words = {{"DEP", true, Completes::kDependency}},
       .flags = {Output(), SortBy(), Bare(), Color()}},
      {.name = "simulate",
       .help = "try a policy on a modelled dependency before you roll it out",
       .page = "plimsoll-simulate",
       .notes = {"plimsoll simulate --help tells its flags."},
       .remote = false,
       .raw = true},
  };
}

std::vector<Verb> OtherVerbs() {
  return {
      {.name = "api",
       .help = "one request as it is",
       .page = "plimsoll-api",
       .words = {{"METHOD", false, Completes::kChoices, {"GET", "PUT", "PATCH", "POST", "DELETE"}},
                 {"PATH"}},
       .flags = {Value("--data", "-d", "BODY", "JSON; @FILE takes it from a file, - from stdin"),
                 Value("--if-match", "", "ETAG", "only if it has not changed since")},
       .examples = {"plimsoll api GET /v1/status"}},
      {.name = "completion",
       .help = "completions for a shell",
       .page = "plimsoll-api",
       .words = {{"SHELL", false, Completes::kChoices, {"bash", "zsh", "fish"}}},
       .examples = {"source <(plimsoll completion bash)"},
       .remote = false},
      {.name = "version",
       .help = "of this program and of the controller",
       .page = "plimsoll-api",
       .flags = {Switch("--client", "of this program only")}},
      {.name = "man",
       .help = "print a manual page as mdoc",
       .page = "plimsoll",
       .words = {{"PAGE"}},
       .remote = false,
       .hidden = true},
  };
}

}  // namespace

const std::vector<Verb>& Verbs() {
  static const auto& verbs = *[] {
    auto* all = new std::vector<Verb>;
    for (auto group : {LookingVerbs, ChangingVerbs, CheckingVerbs, OtherVerbs}) {
      for (Verb& verb : group()) all->push_back(std::move(verb));
    }
    return all;
  }();
  return verbs;
}

const std::vector<VerbFlag>& ConnectionFlags() {
  static const auto& flags = *new std::vector<VerbFlag>{
      Value("--addr", "", "URL", "of the controller"),
      Value("--token-file", "", "FILE", "with the bearer token", Completes::kFile),
      Value("--cacert", "", "FILE", "with the authorities that may vouch for the controller",
            Completes::kFile),
      Value("--client-cert", "", "FILE", "certificate of this client", Completes::kFile),
      Value("--client-key", "", "FILE", "and its key", Completes::kFile),
      Value("--timeout", "", "DURATION", "for an answer (10s)"),
  };
  return flags;
}

std::vector<VerbFlag> FlagsOf(const Verb& verb) {
  std::vector<VerbFlag> flags = verb.flags;
  if (verb.remote) {
    flags.insert(flags.end(), ConnectionFlags().begin(), ConnectionFlags().end());
  }
  flags.push_back({"--help", "-h", "", "print this, and end"});
  return flags;
}

const std::vector<ManualTopic>& Pages() {
  static const auto& pages = *new std::vector<ManualTopic>{
      {"plimsoll", "operate adaptive concurrency limits"},
      {"plimsoll-get", "look at dependencies, limits, instances, quotas and events"},
      {"plimsoll-why", "tell why calls are refused"},
      {"plimsoll-set", "change overrides, quotas and dependencies"},
      {"plimsoll-check", "check limits, quotas and configurations, and advise on sizes"},
      {"plimsoll-simulate", "try a policy on a modelled dependency"},
      {"plimsoll-api", "raw requests, completions, versions"},
  };
  return pages;
}

const std::vector<std::pair<std::string, std::string>>& EnvironmentTable() {
  static const auto& table = *new std::vector<std::pair<std::string, std::string>>{
      {"PLIMSOLL_ADDR", "the controller, by default http://127.0.0.1:7480"},
      {"PLIMSOLL_TOKEN", "bearer token"},
      {"PLIMSOLL_TOKEN_FILE", "file with the bearer token"},
      {"PLIMSOLL_CACERT", "authorities that may vouch for the controller, as PEM"},
      {"PLIMSOLL_CLIENT_CERT", "certificate of this client, as PEM"},
      {"PLIMSOLL_CLIENT_KEY", "and its key"},
      {"NO_COLOR", "if set to anything, nothing is coloured"},
  };
  return table;
}

const std::vector<std::pair<std::string, std::string>>& ExitTable() {
  static const auto& table = *new std::vector<std::pair<std::string, std::string>>{
      {"0", "fine"},
      {"1", "failure"},
      {"2", "wrong arguments"},
      {"3", "not found"},
      {"4", "conflict, or a precondition that does not hold"},
      {"5", "not authenticated, or not allowed"},
      {"6", "the controller is not reachable or not to be trusted, or has no time for an answer"},
      {"7", "invalid configuration"},
      {"8", "a check found something"},
      {"130", "interrupted"},
  };
  return table;
}

std::string Synopsis(const Verb& verb) {
  std::string text = absl::StrCat("plimsoll ", verb.name);
  for (const Word& word : verb.words) {
    const std::string name = word.choices.size() == 1 ? word.choices.front() : word.name;
    absl::StrAppend(&text, " ", word.optional ? "[" : "", name, word.optional ? "]" : "");
  }
  for (const VerbFlag& flag : verb.flags) {
    if (flag.required) absl::StrAppend(&text, " ", flag.name, " ", flag.value);
  }
  return text;
}

}  // namespace plimsoll::cli
