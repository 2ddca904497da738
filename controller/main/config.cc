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

namespace plimsoll {
namespace {

constexpr int kConnectionsMax = 1'000'000;

// FNV-1a: to see whether two controllers were started with the same text, not a proof.
std::string Fingerprint(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return absl::StrFormat("%016x", hash);
}

bool IsLoopback(const std::string& address) {
  return absl::StartsWith(address, "127.") || address == "::1";
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

// Roles that anybody may have without credentials.
std::set<std::string> ReadAuth(MapReader auth, Faults& faults) {
  const std::vector<std::string> known = {"viewer", "agent", "operator"};
  std::set<std::string> roles;
  const std::vector<YamlNode>& items = auth.List("allow_anonymous");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string pointer = Below(auth.Pointer("allow_anonymous"), absl::StrCat(i));
    const bool fits = items[i].kind == YamlNode::Kind::kScalar &&
                      std::find(known.begin(), known.end(), items[i].text) != known.end();
    if (fits) {
      roles.insert(items[i].text);
    } else {
      faults.Add(pointer, absl::StrCat("must be one of ", absl::StrJoin(known, ", "), ", not ",
                                       Describe(items[i]), Suggestion(items[i].text, known)));
    }
  }
  auth.Later({"tokens_file", "identities"});
  auth.Finish();
  return roles;
}

// There is no authentication yet, so a listener that strangers can reach must be asked for.
void CheckExposure(const ListenAddress& address, const std::string& pointer,
                   const std::string& role, const std::set<std::string>& roles, Faults& faults) {
  if (IsLoopback(address.address) || roles.contains(role)) return;
  faults.Add(pointer,
             absl::StrCat("\"", address.address, "\" is open to other machines, and there is no ",
                          "authentication yet: listen on 127.0.0.1, or add \"", role,
                          "\" to auth.allow_anonymous if only friends can reach this port"));
}

void ReadListen(MapReader listen, const std::set<std::string>& roles, ServerOptions& server,
                Faults& faults) {
  ReadAddress(listen, "api", server.api, faults);
  ReadAddress(listen, "agents", server.agents, faults);
  listen.Finish();
  CheckExposure(server.api, "/listen/api", "viewer", roles, faults);
  CheckExposure(server.agents, "/listen/agents", "agent", roles, faults);
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

void ReadApi(MapReader api, ServerOptions& server, Faults& faults) {
  ReadConnections(api, server.api_limits, faults);
  api.Size("body_max", server.api_limits.body_bytes_max);
  ReadHosts(api, server.api_hosts, faults);
  api.Later({"watchers_max", "rate_limit", "cors_origins"});
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

void ReadState(MapReader state, Config& config, Faults& faults) {
  state.Word<StateMode>("mode",
                        {{"embedded", StateMode::kEmbedded}, {"memory", StateMode::kMemory}},
                        {"etcd"}, config.state_mode);
  state.Text("dir", config.state_dir);
  state.Later({"etcd"});
  state.Finish();
  if (config.state_dir.empty()) faults.Add("/state/dir", "must be the path of a directory");
  config.server.state_mode = config.state_mode == StateMode::kMemory ? "MEMORY" : "EMBEDDED";
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

Policy DefaultPolicy(Profile profile) {
  Policy policy;
  policy.algorithm.kind = AlgorithmKind::kFleetKnee;
  if (profile == Profile::kDevelopment) policy.outage.base_lease = absl::Seconds(30);
  return policy;
}

// Core options have names without their section, but for "events.keep".
void ReportCoreViolations(const CoreOptions& core, Faults& faults) {
  ReportViolations(Validate(core), "/agents", "", faults);
}

void ReadTop(const YamlNode& root, Profile profile, Config& config, Faults& faults) {
  MapReader top(root, "", faults);
  const std::set<std::string> roles = ReadAuth(top.Map("auth"), faults);
  ReadListen(top.Map("listen"), roles, config.server, faults);
  ReadApi(top.Map("api"), config.server, faults);
  ReadAgents(top.Map("agents"), config, faults);
  ReadState(top.Map("state"), config, faults);
  MapReader events = top.Map("events");
  events.Whole("keep", config.core.events_keep);
  events.Finish();
  ReadLog(top.Map("log"), config);
  ReportCoreViolations(config.core, faults);
  config.policies = ReadPolicies(top, DefaultPolicy(profile), config.core.lease, faults);
  top.Later({"tls", "console", "metrics", "timeseries", "include", "observe_all"});
  top.Finish();
}

}  // namespace

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
  }
  config.server.tick = config.core.tick;
  return config;
}

YamlAdvice ConfigAdvice() {
  return {"dependencies: []", "what dependencies have in common under \"defaults\""};
}

Config ReadConfig(const YamlNode& root, const std::string& fingerprinted, Profile profile,
                  Faults& faults) {
  Config config = DefaultConfig(profile);
  config.server.config_hash = Fingerprint(fingerprinted);
  ReadTop(root, profile, config, faults);
  return config;
}

absl::StatusOr<Config> ParseConfig(const std::string& text, const std::string& name,
                                   Profile profile) {
  Config config;
  Faults faults;
  const std::optional<YamlNode> root = ParseYaml(text, ConfigAdvice(), faults);
  if (root.has_value()) config = ReadConfig(*root, text, profile, faults);
  if (faults.empty()) return config;
  return absl::InvalidArgumentError(absl::StrJoin(faults.ToLines(name), "\n"));
}

absl::StatusOr<Config> LoadConfig(const std::string& path, Profile profile) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseConfig(*text, path, profile);
}

}  // namespace plimsoll
