#include "controller/main/config_keys.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace plimsoll {
namespace {

constexpr unsigned kLive = ConfigKey::kLive;
constexpr unsigned kRestart = ConfigKey::kRestart;
constexpr unsigned kLater = ConfigKey::kLater;
constexpr unsigned kSecret = ConfigKey::kSecret;

std::vector<ConfigKey> AccessKeys() {
  return {
      {"listen.api", KeyType::kAddress, "127.0.0.1:7480", nullptr, "", kRestart,
       "Address of operators: REST and /metrics. Loopback, so that nobody is let in by accident; "
       "port 0 lets the system choose."},
      {"listen.agents", KeyType::kAddress, "127.0.0.1:7481", nullptr, "", kRestart,
       "Address of agents. A port of its own, so that a firewall can tell the two apart."},
      {"tls.cert_file", KeyType::kText, "", nullptr, "", kLive,
       "The certificate of both ports, then those between it and its root, as PEM. With "
       "tls.key_file, or neither."},
      {"tls.key_file", KeyType::kText, "", nullptr, "", kLive,
       "The key of the certificate, as PEM without a passphrase."},
      {"tls.client_ca_file", KeyType::kText, "", nullptr, "", kLive,
       "Clients are asked for certificates of these authorities."},
      {"tls.require_client_cert", KeyType::kFlag, "false", nullptr, "", kLive,
       "Turns away clients without a certificate. Off, so that tokens can be used beside them."},
      {"tls.min_version", KeyType::kWord, "1.2", nullptr, "1.2|1.3", kLive,
       "1.2 is safe with the ciphers that are offered, and what older clients speak."},
      {"auth.tokens_file", KeyType::kText, "", nullptr, "", kLive,
       "A file of hashed bearer tokens."},
      {"auth.tokens", KeyType::kMaps, "[]", nullptr, "", kLive | kSecret,
       "Bearer tokens that variables of the environment have, beside those of the file: a list of "
       "{name, role, token}, where token is \"${VARIABLE}\" and nothing else."},
      {"auth.identities", KeyType::kMaps, "[]", nullptr, "", kLive,
       "Who has which client certificate, and its role: a list of {san, name, role}."},
      {"auth.allow_anonymous", KeyType::kWords, "[]", nullptr, "viewer|agent|operator", kLive,
       "Roles that need no credentials. None; list one only if a firewall or a proxy lets nobody "
       "but friends reach that port."},
      {"api.connections_max", KeyType::kWhole, "1024", nullptr, "1 to 1000000", kRestart,
       "Connections of operators that may be open. Each costs a file, and some memory."},
      {"api.body_max", KeyType::kSize, "1MiB", nullptr, "1B to 1GiB", kRestart,
       "Largest body of a request. Policies are small; a larger body is a mistake or an attack."},
      {"api.watchers_max", KeyType::kWhole, "256", nullptr, "0 to api.connections_max", kRestart,
       "Event streams that may be open, at most api.connections_max: each is fed for as long as it "
       "stays."},
      {"api.rate_limit.per_second", KeyType::kNumber, "50", nullptr, "0.01 to 1000000", kLive,
       "Requests a second of one caller, by name or else by address, in the long run."},
      {"api.rate_limit.burst", KeyType::kNumber, "100", nullptr, "1 to 1000000", kLive,
       "Requests of one caller at once: a console that opens asks for many things."},
      {"api.hosts", KeyType::kTexts, "[]", nullptr, "", kRestart,
       "Further names by which browsers may call this server, beside loopback names and the "
       "address: the defence against DNS rebinding."},
      {"api.cors_origins", KeyType::kTexts, "[]", nullptr, "", kRestart,
       "Origins, such as https://grafana.example.com, whose pages may read from browsers. None: "
       "what a page may read, it may send elsewhere."},
      {"console.enabled", KeyType::kFlag, "true", nullptr, "", kRestart,
       "Whether the console is served at /ui/."},
      {"console.base_path", KeyType::kText, "/ui/", nullptr, "", kRestart,
       "Where browsers find the console, if a proxy in front adds a prefix."},
      {"metrics.require_auth", KeyType::kFlag, "false", nullptr, "", kLive,
       "Whether /metrics needs a viewer. Off: most scrapers have no credentials."},
      {"metrics.per_instance", KeyType::kWord, "auto", nullptr, "auto|on|off", kLive | kLater,
       "Whether series of single instances are exported."},
  };
}

std::vector<ConfigKey> ServiceKeys() {
  return {
      {"agents.lease", KeyType::kDuration, "10s", "2s", "500ms to 10m", kRestart,
       "How long a limit holds without renewal. Shorter frees the share of a dead instance sooner, "
       "and makes a slow controller be felt sooner."},
      {"agents.hold_max", KeyType::kDuration, "1s", "200ms", "0s to a tenth of agents.lease",
       kRestart,
       "Longest time the answer to a sync is held back: changes arrive at once, at few requests. "
       "It "
       "costs lease time, so the default is a tenth of the lease where that is less."},
      {"agents.sync_min", KeyType::kDuration, "50ms", nullptr, "0s to 10s", kRestart,
       "Shortest time from an answer to the next sync of that agent. Longer saves CPU in fleets of "
       "thousands."},
      {"agents.clock_drift", KeyType::kNumber, "0.01", nullptr, "0 to 0.2", kRestart,
       "How wrong the rate of any clock in the fleet may be. Quartz is good for 0.0002; the rest "
       "is "
       "for virtual machines."},
      {"agents.tick", KeyType::kDuration, "250ms", nullptr, "10ms to 10s", kRestart,
       "How often shares are computed anew. Shorter follows demand faster, at more CPU."},
      {"agents.sessions_max", KeyType::kWhole, "10000", nullptr, "1 to 1000000", kRestart,
       "Instances that may be registered; more are refused. Bounds memory and the time of a tick."},
      {"agents.dependencies_max", KeyType::kWhole, "200", nullptr, "1 to 10000", kRestart,
       "Dependencies that one instance may ask for, and that templates may make, all together."},
      {"agents.connections_max", KeyType::kWhole, "12000", nullptr, "1 to 1000000", kRestart,
       "Connections of agents that may be open: more than sessions, for restarts that overlap."},
      {"advertise.agents", KeyType::kText, "", nullptr, "", kRestart,
       "With state.mode etcd: where agents find this controller, as http://host:port or https://; "
       "where it listens, if it is not given. Agents go there only if it is one of the addresses "
       "that they have been given."},
      {"advertise.api", KeyType::kText, "", nullptr, "", kRestart,
       "With state.mode etcd: where operators find it, likewise. The controllers that stand by "
       "redirect to it."},
      {"state.mode", KeyType::kWord, "embedded", "memory", "embedded|etcd|memory", kRestart,
       "embedded: SQLite in state.dir. etcd: shared by several controllers, of which one leads. "
       "memory: for development; a restart forgets who holds what and may break quotas."},
      {"state.dir", KeyType::kText, "/var/lib/plimsoll", nullptr, "", kRestart,
       "Directory of the embedded store, on a local file system. Make it once with --init."},
      {"state.etcd.endpoints", KeyType::kTexts, "[]", nullptr, "", kRestart,
       "Where etcd's members serve clients, as http://host:port or https://. All of them: the next "
       "is asked when one fails."},
      {"state.etcd.prefix", KeyType::kText, "/plimsoll", nullptr, "", kRestart,
       "What the names of all keys begin with. Fleets that share an etcd need one each."},
      {"state.etcd.lease", KeyType::kDuration, "5s", nullptr, "whole seconds, 2s to 1m", kRestart,
       "How long a controller that fell silent still counts as the leader. Shorter elects sooner; "
       "longer rides out pauses. With a second for the election it must end before agents.lease - "
       "agents.hold_max - 1s."},
      {"state.etcd.shards", KeyType::kWhole, "1", nullptr, "1 to 256", kRestart,
       "Into how many parts the dependencies are divided among the controllers; each part has a "
       "leader of its own. Fixed when the first controller starts: another number is refused."},
      {"state.etcd.ca_file", KeyType::kText, "", nullptr, "", kRestart,
       "Who may vouch for etcd's certificate, as PEM; the system's authorities otherwise."},
      {"state.etcd.cert_file", KeyType::kText, "", nullptr, "", kRestart,
       "The certificate that this controller shows to etcd. With state.etcd.key_file, or neither."},
      {"state.etcd.key_file", KeyType::kText, "", nullptr, "", kRestart,
       "The key of that certificate, as PEM without a passphrase."},
      {"state.etcd.user", KeyType::kText, "", nullptr, "", kRestart,
       "The user at an etcd with authentication. With state.etcd.password_file, or neither."},
      {"state.etcd.password_file", KeyType::kText, "", nullptr, "", kRestart,
       "A file that holds the user's password."},
      {"events.keep", KeyType::kWhole, "10000", nullptr, "1 to 1000000", kRestart,
       "Newest events that /v1/events can tell: some hours of a busy fleet."},
      {"timeseries.step", KeyType::kDuration, "5s", nullptr, "1s to 10m", kRestart,
       "How often /v1/timeseries remembers a point."},
      {"timeseries.keep", KeyType::kDuration, "1h", nullptr, "at most 1440 steps", kRestart,
       "How long /v1/timeseries remembers: memory is steps times series."},
      {"log.level", KeyType::kWord, "info", nullptr, "debug|info|warning|error", kRestart,
       "What is logged: this and what is worse."},
      {"log.format", KeyType::kWord, "text", nullptr, "text|json", kRestart,
       "text for people, json for collectors."},
      {"observe_all", KeyType::kFlag, "false", nullptr, "", kLive,
       "Emergency switch: what is in enforce behaves as in observe, overrides included. For when "
       "the limits are suspected; no quota is kept meanwhile."},
      {"include", KeyType::kText, "", nullptr, "", kLive,
       "Pattern of further files, relative to this one, such as conf.d/*.yaml. They may have "
       "dependencies only."},
  };
}

}  // namespace

const std::vector<ConfigKey>& ConfigKeys() {
  static const auto& keys = *[] {
    auto* all = new std::vector<ConfigKey>(AccessKeys());
    for (const ConfigKey& key : ServiceKeys()) all->push_back(key);
    return all;
  }();
  return keys;
}

const ConfigKey* FindConfigKey(const std::string& name) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

const char* DefaultText(const ConfigKey& key, Profile profile) {
  return profile == Profile::kDevelopment && key.dev_value != nullptr ? key.dev_value : key.value;
}

std::string EnvironmentName(const ConfigKey& key) {
  return "PLIMSOLL_" + absl::AsciiStrToUpper(absl::StrReplaceAll(key.name, {{".", "__"}}));
}

std::string PointerOf(const ConfigKey& key) {
  return "/" + absl::StrReplaceAll(key.name, {{".", "/"}});
}

std::string DescribeType(const ConfigKey& key) {
  const std::string allowed = absl::StrReplaceAll(key.allowed, {{"|", ", "}});
  switch (key.type) {
    case KeyType::kAddress:
      return "numeric address and port";
    case KeyType::kText:
      return "text";
    case KeyType::kFlag:
      return "true, false";
    case KeyType::kTexts:
      return "list of texts";
    case KeyType::kWords:
      return "list of " + allowed;
    case KeyType::kMaps:
      return "list of maps";
    case KeyType::kWord:
      return allowed;
    case KeyType::kWhole:
      return allowed.empty() ? "whole number" : allowed;
    case KeyType::kNumber:
      return allowed.empty() ? "number" : allowed;
    case KeyType::kDuration:
      return allowed.empty() ? "duration" : allowed;
    case KeyType::kSize:
      return allowed.empty() ? "size" : allowed;
  }
  return allowed;
}

}  // namespace plimsoll
