#include "controller/main/config.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "controller/config/map_reader.h"
#include "controller/config/policy_reader.h"
#include "controller/config/read_file.h"
#include "controller/config/scalars.h"
#include "controller/config/yaml_tree.h"
#include "controller/main/config_overlay.h"

namespace plimsoll {
namespace {

constexpr int kConnectionsMax = 1'000'000;

// Fits every dependency.
constexpr char kOpenPattern[] = "*";

// FNV-1a: to see whether two controllers were started with the same text, not a proof.
std::string Fingerprint(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return absl::StrFormat("%016x", hash);
}

bool IsNumericAddress(const std::string& address) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, address.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, address.c_str(), bytes) == 1;
}

// "127.0.0.1:7480", "[::1]:7480" or "localhost:7480".
std::optional<ListenAddress> ParseAddress(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  int port = -1;
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port)) {
    return std::nullopt;
  }
  if (port < 0 || port > 65535) return std::nullopt;
  std::string host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  if (brackets != absl::StrContains(host, ':')) return std::nullopt;
  if (host == "localhost") host = "127.0.0.1";
  if (!IsNumericAddress(host)) return std::nullopt;
  return ListenAddress{host, static_cast<std::uint16_t>(port)};
}

void ReadAddress(MapReader& map, const std::string& key, ListenAddress& target, Faults& faults) {
  std::string text;
  map.Text(key, text);
  if (text.empty()) return;
  const std::optional<ListenAddress> address = ParseAddress(text);
  if (address.has_value()) {
    target = *address;
  } else {
    faults.Add(map.Pointer(key),
               absl::StrCat("must be a numeric address and a port such as \"127.0.0.1:7480\", "
                            "\"0.0.0.0:7480\" or \"[::1]:7480\", not ",
                            Quoted(text)));
  }
}

void CheckExposure(const ListenAddress& address, const std::string& pointer, Role role,
                   const AccessConfig& access, Faults& faults) {
  const std::string fault = ExposureFault(address, role, access);
  if (!fault.empty()) faults.Add(pointer, fault);
}

void ReadListen(MapReader listen, const AccessConfig& access, ServerOptions& server,
                Faults& faults) {
  ReadAddress(listen, "api", server.api, faults);
  ReadAddress(listen, "agents", server.agents, faults);
  listen.Finish();
  CheckExposure(server.api, "/listen/api", Role::kViewer, access, faults);
  CheckExposure(server.agents, "/listen/agents", Role::kAgent, access, faults);
  const bool collide = server.api.address == server.agents.address &&
                       server.api.port == server.agents.port && server.api.port != 0;
  if (collide) {
    faults.Add("/listen/agents",
               absl::StrCat("port ", server.api.port, " is taken by listen.api: choose another"));
  }
}

void ReadConnections(MapReader& map, ListenerLimits& limits, Faults& faults) {
  map.Whole("connections_max", limits.connections_max);
  if (limits.connections_max >= 1 && limits.connections_max <= kConnectionsMax) return;
  faults.Add(map.Pointer("connections_max"),
             absl::StrCat("connections_max = ", limits.connections_max, ": must be between 1 and ",
                          kConnectionsMax));
}

void ReadHosts(MapReader& api, std::vector<std::string>& hosts, Faults& faults) {
  const std::vector<YamlNode>& items = api.List("hosts");
  for (std::size_t i = 0; i < items.size(); ++i) {
    absl::StatusOr<std::string> host = ParseText(items[i]);
    const bool fits =
        host.ok() && !host->empty() && host->find_first_of("/ \t\n") == std::string::npos;
    if (fits) {
      hosts.push_back(*std::move(host));
    } else {
      faults.Add(Below(api.Pointer("hosts"), absl::StrCat(i)),
                 absl::StrCat("must be a host name such as \"plimsoll.example.com\", not ",
                              Describe(items[i])));
    }
  }
}

// As browsers write them: a scheme and a host in small letters, a port if it is not the usual one.
bool IsOrigin(const std::string& text) {
  for (const std::string scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme) || text.size() == scheme.size()) continue;
    const std::string rest = text.substr(scheme.size());
    return rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-:[]") ==
               std::string::npos &&
           !rest.ends_with(':');
  }
  return false;
}

void ReadOrigins(MapReader& api, std::vector<std::string>& origins, Faults& faults) {
  const std::vector<YamlNode>& items = api.List("cors_origins");
  for (std::size_t i = 0; i < items.size(); ++i) {
    absl::StatusOr<std::string> origin = ParseText(items[i]);
    if (origin.ok() && IsOrigin(*origin)) {
      origins.push_back(*std::move(origin));
    } else {
      faults.Add(
          Below(api.Pointer("cors_origins"), absl::StrCat(i)),
          absl::StrCat("must be one origin such as \"https://grafana.example.com\", in small "
                       "letters and without a path or a pattern, not ",
                       Describe(items[i])));
    }
  }
}

void ReadApi(MapReader api, Config& config, Faults& faults) {
  ServerOptions& server = config.server;
  ReadConnections(api, server.api_limits, faults);
  // Nobody may take all there are. Agents of many instances may come from one address.
  server.api_limits.connections_per_address_max = (server.api_limits.connections_max + 1) / 2;
  ReadRateLimit(api.Map("rate_limit"), config.access.api_rate_limit, faults);
  api.Size("body_max", server.api_limits.body_bytes_max);
  ReadHosts(api, server.api_hosts, faults);
  api.Whole("watchers_max", server.watchers_max);
  if (server.watchers_max < 0 || server.watchers_max > kConnectionsMax) {
    faults.Add(api.Pointer("watchers_max"),
               absl::StrCat("watchers_max = ", server.watchers_max, ": must be between 0 and ",
                            kConnectionsMax));
  }
  ReadOrigins(api, server.cors_origins, faults);
  api.Finish();
}

void ReadAgents(MapReader agents, Config& config, Faults& faults) {
  CoreOptions& core = config.core;
  agents.Duration("lease", core.lease);
  // The default follows the lease.
  core.hold_max = std::min(core.hold_max, core.lease / 10);
  agents.Duration("hold_max", core.hold_max);
  agents.Duration("sync_min", core.sync_min);
  agents.Number("clock_drift", core.clock_rate_error);
  agents.Duration("tick", core.tick);
  agents.Whole("sessions_max", core.sessions_max);
  agents.Whole("dependencies_max", core.dependencies_max);
  ReadConnections(agents, config.server.agent_limits, faults);
  agents.Finish();
  config.server.tick = core.tick;
}

void ReadTimeseries(MapReader timeseries, ServerOptions& server, Faults& faults) {
  constexpr std::int64_t kStepsMax = 1440;
  timeseries.Duration("step", server.history_step);
  timeseries.Duration("keep", server.history_keep);
  timeseries.Finish();
  const absl::Duration step = server.history_step;
  const absl::Duration keep = server.history_keep;
  if (step < absl::Seconds(1) || step > absl::Minutes(10)) {
    faults.Add(timeseries.Pointer("step"),
               absl::StrCat("step = ", absl::FormatDuration(step), ": must be between 1s and 10m"));
  } else if (keep < step || keep > kStepsMax * step) {
    faults.Add(
        timeseries.Pointer("keep"),
        absl::StrCat("keep = ", absl::FormatDuration(keep), ": must be between step and ",
                     kStepsMax, " times step, which is ", absl::FormatDuration(kStepsMax * step)));
  }
}

const char* NameOf(StateMode mode) {
  switch (mode) {
    case StateMode::kEtcd:
      return "ETCD";
    case StateMode::kMemory:
      return "MEMORY";
    case StateMode::kEmbedded:
      break;
  }
  return "EMBEDDED";
}

void ReadState(MapReader state, Config& config, Faults& faults) {
  state.Word<StateMode>("mode",
                        {{"embedded", StateMode::kEmbedded},
                         {"etcd", StateMode::kEtcd},
                         {"memory", StateMode::kMemory}},
                        {}, config.state_mode);
  state.Text("dir", config.state_dir);
  ReadEtcd(state.Map("etcd"), config.etcd, faults);
  state.Finish();
  if (config.state_dir.empty()) faults.Add("/state/dir", "must be the path of a directory");
  config.server.state_mode = NameOf(config.state_mode);
}

void ReadConsole(MapReader console, Config& config, Faults& faults) {
  std::string& path = config.server.console.base_path;
  console.Flag("enabled", config.console);
  console.Text("base_path", path);
  console.Finish();
  if (IsConsolePath(path)) return;
  faults.Add("/console/base_path",
             absl::StrCat("must be a path that begins with '/' and ends with \"/ui/\", such as "
                          "\"/plimsoll/ui/\", not ",
                          Quoted(path)));
}

void ReadLog(MapReader log, Config& config) {
  log.Word<LogLevel>("level",
                     {{"debug", LogLevel::kDebug},
                      {"info", LogLevel::kInfo},
                      {"warning", LogLevel::kWarning},
                      {"error", LogLevel::kError}},
                     {}, config.log_level);
  log.Word<LogFormat>("format", {{"text", LogFormat::kText}, {"json", LogFormat::kJson}}, {},
                      config.log_format);
  log.Finish();
}

// Who tries it has no dependencies yet, and should see the first one limited.
void ReadDependencies(MapReader& top, const YamlNode& root, Profile profile, Config& config,
                      Faults& faults) {
  PolicyList list = ReadPolicies(top, DefaultPolicy(profile), config.core.lease, faults);
  const bool unsaid = FindNode(root, "/dependencies") == nullptr;
  if (unsaid && profile == Profile::kDevelopment) list.templates[kOpenPattern] = list.defaults;
  config.policies = std::move(list.policies);
  config.templates = std::move(list.templates);
}

// Core options have names without their section, but for "events.keep".
void ReportCoreViolations(const CoreOptions& core, Faults& faults) {
  ReportViolations(Validate(core), "/agents", "", faults);
}

void ReadTop(const YamlNode& root, Profile profile, const VariableLookup& variables, Config& config,
             Faults& faults) {
  MapReader top(root, "", faults);
  ReadAuth(top.Map("auth"), variables, config.access, faults);
  ReadTls(top.Map("tls"), config.access, faults);
  CheckAccess(config.access, faults);
  ReadListen(top.Map("listen"), config.access, config.server, faults);
  ReadApi(top.Map("api"), config, faults);
  MapReader metrics = top.Map("metrics");
  metrics.Flag("require_auth", config.access.metrics_require_auth);
  metrics.Later({"per_instance"});
  metrics.Finish();
  ReadAgents(top.Map("agents"), config, faults);
  ReadAdvertise(top.Map("advertise"), config.advertise, faults);
  ReadState(top.Map("state"), config, faults);
  if (config.state_mode == StateMode::kEtcd) {
    CheckEtcd(config.etcd, config.advertise, config.server, config.core, faults);
  }
  ReadConsole(top.Map("console"), config, faults);
  MapReader events = top.Map("events");
  events.Whole("keep", config.core.events_keep);
  events.Finish();
  ReadTimeseries(top.Map("timeseries"), config.server, faults);
  ReadLog(top.Map("log"), config);
  ReportCoreViolations(config.core, faults);
  ReadDependencies(top, root, profile, config, faults);
  top.Flag("observe_all", config.observe_all);
  top.Later({"include"});
  top.Finish();
}

}  // namespace

Policy DefaultPolicy(Profile profile) {
  Policy policy;
  policy.algorithm.kind = AlgorithmKind::kFleetKnee;
  if (profile == Profile::kDevelopment) policy.outage.base_lease = absl::Seconds(30);
  return policy;
}

Config DefaultConfig(Profile profile) {
  Config config;
  config.server.api = {"127.0.0.1", 7480};
  config.server.agents = {"127.0.0.1", 7481};
  config.server.state_mode = "EMBEDDED";
  config.server.config_hash = Fingerprint("");
  if (profile == Profile::kDevelopment) {
    config.state_mode = StateMode::kMemory;
    config.server.state_mode = "MEMORY";
    config.core.lease = absl::Seconds(2);
    config.core.hold_max = absl::Milliseconds(200);
    config.templates[kOpenPattern] = DefaultPolicy(profile);
  }
  config.server.tick = config.core.tick;
  return config;
}

YamlAdvice ConfigAdvice() {
  return {"dependencies: []", "what dependencies have in common under \"defaults\""};
}

Config ReadConfig(const YamlNode& root, const std::string& fingerprinted, Profile profile,
                  const VariableLookup& variables, Faults& faults) {
  Config config = DefaultConfig(profile);
  config.server.config_hash = Fingerprint(fingerprinted);
  ReadTop(root, profile, variables, config, faults);
  config.server.access =
      MakeAccessRules(config.access, config.server.api, config.server.agents, config.access.tokens);
  return config;
}

absl::StatusOr<Config> ParseConfig(const std::string& text, const std::string& name,
                                   Profile profile) {
  Faults faults;
  return ParseConfig(text, name, profile, faults);
}

absl::StatusOr<Config> ParseConfig(const std::string& text, const std::string& name,
                                   Profile profile, Faults& faults) {
  Config config;
  const std::optional<YamlNode> root = ParseYaml(text, ConfigAdvice(), faults);
  if (root.has_value()) config = ReadConfig(*root, text, profile, {}, faults);
  if (faults.empty()) return config;
  return absl::InvalidArgumentError(absl::StrJoin(faults.ToLines(name), "\n"));
}

absl::StatusOr<std::vector<TokenRule>> LoadTokens(const AccessConfig& access) {
  if (access.tokens_file.empty()) return access.tokens;
  const absl::StatusOr<std::string> text = ReadFile(access.tokens_file);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<TokenRule>> tokens = ParseTokens(*text, access.tokens_file);
  if (tokens.ok()) tokens->insert(tokens->end(), access.tokens.begin(), access.tokens.end());
  return tokens;
}

absl::Status LoadReferences(Config& config) {
  absl::StatusOr<std::vector<TokenRule>> tokens = LoadTokens(config.access);
  if (!tokens.ok()) return tokens.status();
  ServerOptions& server = config.server;
  server.access = MakeAccessRules(config.access, server.api, server.agents, *std::move(tokens));
  server.api_rate_limit = config.access.api_rate_limit;
  absl::StatusOr<std::string> password = LoadEtcdPassword(config.etcd);
  if (!password.ok()) return password.status();
  config.etcd_password = *std::move(password);
  if (!config.access.tls.enabled()) return absl::OkStatus();
  absl::StatusOr<TlsMaterial> tls = LoadTls(config.access.tls);
  if (!tls.ok()) return tls.status();
  server.tls = *std::move(tls);
  return absl::OkStatus();
}

std::string ValidText(const std::string& file, const Config& config) {
  const auto count = [](std::size_t n, const char* one, const char* more) {
    return absl::StrCat(n, " ", n == 1 ? one : more);
  };
  const std::size_t templates = config.templates.size();
  return absl::StrCat(file, ": valid, ",
                      count(config.policies.size(), "dependency", "dependencies"),
                      templates == 0 ? "" : ", ",
                      templates == 0 ? "" : count(templates, "template", "templates"), "\n");
}

absl::StatusOr<Config> LoadConfig(const std::string& path, Profile profile) {
  Faults faults;
  return LoadConfig(path, profile, faults);
}

absl::StatusOr<Config> LoadConfig(const std::string& path, Profile profile, Faults& faults) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<Config> config = ParseConfig(*text, path, profile, faults);
  if (!config.ok()) return config;
  if (absl::Status read = LoadReferences(*config); !read.ok()) return read;
  return config;
}

}  // namespace plimsoll
