#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cli/src/argument_parser.h"
#include "api/cli/src/commands.h"
#include "api/cli/src/completions.h"
#include "api/cli/src/help_text.h"
#include "api/cli/src/verb_table.h"

namespace plimsoll::cli {
namespace {

constexpr char kUsualAddress[] = "http://127.0.0.1:7480";

const std::map<std::string, Command>& RemoteCommands() {
  static const auto& commands = *new std::map<std::string, Command>{
      {"status", RunStatus},
      {"get", RunGet},
      {"describe", RunDescribe},
      {"why", RunWhy},
      {"top", RunTop},
      {"watch", RunWatch},
      {"set override", RunSetOverride},
      {"unset override", RunUnsetOverride},
      {"set quota", RunSetQuota},
      {"apply", RunApply},
      {"diff", RunDiff},
      {"reset", RunReset},
      {"evict", RunEvict},
      {"reload", RunReload},
      {"check limits", RunCheckLimits},
      {"check quotas", RunCheckQuotas},
      {"size", RunSize},
      {"api", RunApi},
      {"version", RunVersion},
  };
  return commands;
}

int FailWith(const Context& context, const absl::Status& status) {
  context.error(absl::StrCat("plimsoll: ", std::string(status.message()), "\n"));
  return ExitOf(status);
}

std::string FirstOf(const std::vector<std::string>& candidates) {
  for (const std::string& one : candidates) {
    if (!one.empty()) return one;
  }
  return "";
}

absl::StatusOr<std::string> TokenOf(const Invocation& call, const Context& context) {
  const std::string flag = call.Text("--token-file");
  const std::string token = context.environment("PLIMSOLL_TOKEN");
  if (flag.empty() && !token.empty()) return token;
  const std::string path = FirstOf({flag, context.environment("PLIMSOLL_TOKEN_FILE")});
  if (path.empty()) return std::string();
  const absl::StatusOr<std::string> text = context.read_file(path);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the token cannot be read: ", std::string(text.status().message())));
  }
  std::string trimmed = *text;
  absl::StripAsciiWhitespace(&trimmed);
  return trimmed;
}

absl::StatusOr<Connection> ConnectionOf(const Invocation& call, const Context& context) {
  Connection connection;
  connection.url =
      FirstOf({call.Text("--addr"), context.environment("PLIMSOLL_ADDR"), kUsualAddress});
  if (!absl::StrContains(connection.url, "://")) connection.url = "http://" + connection.url;
  while (absl::EndsWith(connection.url, "/")) connection.url.pop_back();
  absl::StatusOr<std::string> token = TokenOf(call, context);
  if (!token.ok()) return token.status();
  connection.token = *std::move(token);
  connection.ca_file = FirstOf({call.Text("--cacert"), context.environment("PLIMSOLL_CACERT")});
  connection.certificate_file =
      FirstOf({call.Text("--client-cert"), context.environment("PLIMSOLL_CLIENT_CERT")});
  connection.key_file =
      FirstOf({call.Text("--client-key"), context.environment("PLIMSOLL_CLIENT_KEY")});
  if (connection.certificate_file.empty() != connection.key_file.empty()) {
    return absl::InvalidArgumentError(
        "a client certificate needs its key, and a key its certificate: see PLIMSOLL_CLIENT_CERT "
        "and PLIMSOLL_CLIENT_KEY");
  }
  const absl::StatusOr<absl::Duration> timeout = DurationOf(call, "--timeout", connection.timeout);
  if (!timeout.ok()) return timeout.status();
  connection.timeout = *timeout;
  connection.version = context.version;
  return connection;
}

int RunRemote(const Invocation& call, const Context& context) {
  const absl::StatusOr<Connection> connection = ConnectionOf(call, context);
  if (!connection.ok()) return FailWith(context, connection.status());
  const absl::StatusOr<std::unique_ptr<RestTransport>> transport = context.connect(*connection);
  if (!transport.ok()) return FailWith(context, transport.status());
  ApiClient client(**transport);
  Session session{call, context, client};
  const absl::StatusOr<int> result = RemoteCommands().at(call.verb->name)(session);
  return result.ok() ? *result : FailWith(context, result.status());
}

int PrintManual(const Invocation& call, const Context& context) {
  const std::string page = ManualPage(call.Word(0), context.version);
  if (!page.empty()) {
    context.out(page);
    return kExitFine;
  }
  std::vector<std::string> names;
  for (const ManualTopic& one : Pages()) names.push_back(one.name);
  return FailWith(context, absl::InvalidArgumentError(absl::StrCat(
                               "there is no such page: there are ", absl::StrJoin(names, ", "))));
}

int CheckConfigFile(const Invocation& call, const Context& context) {
  const absl::StatusOr<ConfigVerdict> checked =
      context.check_config({call.Word(0), call.Has("--strict"), call.Has("--skip-secrets")});
  if (checked.ok()) {
    for (const std::string& warning : checked->warnings) {
      context.error(absl::StrCat("warning: ", warning, "\n"));
    }
    context.out(checked->line);
    return kExitFine;
  }
  context.error(absl::StrCat(std::string(checked.status().message()), "\n"));
  return kExitInvalidConfig;
}

int PrintVersion(const Context& context) {
  context.out(absl::StrCat("plimsoll ", context.version, "\n"));
  return kExitFine;
}

int Help(std::vector<std::string> arguments, const Context& context) {
  if (arguments.empty()) {
    context.out(HelpText());
    return kExitFine;
  }
  arguments.push_back("--help");
  return RunCommandLine(arguments, context);
}

int Run(const Invocation& call, const Context& context) {
  const std::string& name = call.verb->name;
  if (call.verb->raw) return context.simulate(call.raw);
  if (call.help) {
    context.out(HelpText(*call.verb));
    return kExitFine;
  }
  if (name == "completion") {
    context.out(CompletionScript(call.Word(0)));
    return kExitFine;
  }
  if (name == "man") return PrintManual(call, context);
  if (name == "check-config") return CheckConfigFile(call, context);
  // What this program is can be told without a controller.
  if (name == "version" && call.Has("--client")) return PrintVersion(context);
  return RunRemote(call, context);
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments, const Context& context) {
  if (arguments.empty()) {
    context.error(HelpText());
    return kExitUsage;
  }
  const std::string& first = arguments.front();
  if (first == "help" || first == "--help" || first == "-h") {
    return Help({arguments.begin() + 1, arguments.end()}, context);
  }
  if (first == "--version") return PrintVersion(context);
  const absl::StatusOr<Invocation> call = ParseArguments(arguments);
  return call.ok() ? Run(*call, context) : FailWith(context, call.status());
}

}  // namespace plimsoll::cli
