#include "controller/main/etcd_config.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/config/read_file.h"
#include "controller/config/scalars.h"
#include "plimsoll/core/shard.h"

namespace plimsoll {
namespace {

// From the end of a lease to the first answer of the next leader: looks, the take-over, agents that
// try.
constexpr absl::Duration kElection = absl::Seconds(1);
// What is to be left of an agent's lease then.
constexpr absl::Duration kMargin = absl::Seconds(1);

// "http://host:port" or https://, without a path.
bool IsServerUrl(const std::string& text) {
  const std::size_t scheme = absl::StartsWith(text, "http://")    ? 7
                             : absl::StartsWith(text, "https://") ? 8
                                                                  : std::string::npos;
  if (scheme == std::string::npos || text.size() <= scheme) return false;
  return text.find_first_of("/ \t\n?#\"\\", scheme) == std::string::npos;
}

bool IsPrefix(const std::string& text) {
  return text.size() >= 2 && text.front() == '/' && text.back() != '/' &&
         text.find_first_of(" \t\n") == std::string::npos;
}

void CheckUrl(const std::string& pointer, const std::string& url, Faults& faults) {
  if (url.empty() || IsServerUrl(url)) return;
  faults.Add(pointer,
             absl::StrCat("must be http://host:port or https://host:port, not ", Quoted(url)));
}

void CheckFindable(const std::string& name, const std::string& advertised,
                   const ListenAddress& listen, Faults& faults) {
  const bool everywhere = listen.address == "0.0.0.0" || listen.address == "::";
  if (!advertised.empty() || !everywhere) return;
  faults.Add("/advertise", absl::StrCat("listen.", name, " is every address of this machine: say ",
                                        "in advertise.", name, " where others find it"));
}

void CheckPair(const std::string& one, const std::string& other, const char* names,
               Faults& faults) {
  if (one.empty() == other.empty()) return;
  faults.Add("/state/etcd", absl::StrCat(names, " belong together: give both, or neither"));
}

// As agents have it (SessionOptions::answer_timeout).
constexpr absl::Duration kAgentPatience = absl::Seconds(1);

}  // namespace

void ReadEtcd(MapReader etcd, EtcdSettings& settings, Faults& faults) {
  const std::vector<YamlNode>& endpoints = etcd.List("endpoints");
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const absl::StatusOr<std::string> endpoint = ParseText(endpoints[i]);
    if (endpoint.ok() && IsServerUrl(*endpoint)) {
      settings.endpoints.push_back(*endpoint);
    } else {
      faults.Add(Below(etcd.Pointer("endpoints"), absl::StrCat(i)),
                 absl::StrCat("must be http://host:port or https://host:port, not ",
                              Describe(endpoints[i])));
    }
  }
  etcd.Text("prefix", settings.prefix);
  etcd.Duration("lease", settings.lease);
  etcd.Whole("shards", settings.shards);
  etcd.Text("ca_file", settings.ca_file);
  etcd.Text("cert_file", settings.cert_file);
  etcd.Text("key_file", settings.key_file);
  etcd.Text("user", settings.user);
  etcd.Text("password_file", settings.password_file);
  etcd.Finish();
  if (!IsPrefix(settings.prefix)) {
    faults.Add(etcd.Pointer("prefix"),
               absl::StrCat("must begin with '/' and not end with it, such as \"/plimsoll\", not ",
                            Quoted(settings.prefix)));
  }
  if (settings.shards < 1 || settings.shards > kShardsMax) {
    faults.Add(etcd.Pointer("shards"),
               absl::StrCat("shards = ", settings.shards, ": must be 1 to ", kShardsMax));
  }
  const bool whole = settings.lease == absl::Trunc(settings.lease, absl::Seconds(1));
  if (!whole || settings.lease < absl::Seconds(2) || settings.lease > absl::Minutes(1)) {
    faults.Add(etcd.Pointer("lease"), absl::StrCat("lease = ", absl::FormatDuration(settings.lease),
                                                   ": must be whole seconds from 2s to 1m"));
  }
}

void ReadAdvertise(MapReader advertise, AdvertiseSettings& settings, Faults& faults) {
  advertise.Text("agents", settings.agents);
  advertise.Text("api", settings.api);
  advertise.Finish();
  CheckUrl("/advertise/agents", settings.agents, faults);
  CheckUrl("/advertise/api", settings.api, faults);
}

void CheckEtcd(const EtcdSettings& settings, const AdvertiseSettings& advertise,
               const ServerOptions& server, const CoreOptions& core, Faults& faults) {
  if (settings.endpoints.empty()) {
    faults.Add("/state/etcd", "give at least one of endpoints, such as \"http://10.0.0.1:2379\"");
  }
  CheckPair(settings.cert_file, settings.key_file, "cert_file and key_file", faults);
  CheckPair(settings.user, settings.password_file, "user and password_file", faults);
  const absl::Duration left = core.lease - core.hold_max - kMargin;
  if (settings.lease + kElection > left) {
    faults.Add(
        "/state/etcd",
        absl::StrCat("lease = ", absl::FormatDuration(settings.lease), " and an election of ",
                     absl::FormatDuration(kElection), " outlast agents.lease - ",
                     "agents.hold_max - 1s = ", absl::FormatDuration(left),
                     ": limits would fall to their base whenever a controller dies; "
                     "shorten the one or lengthen agents.lease"));
  }
  CheckFindable("agents", advertise.agents, server.agents, faults);
  CheckFindable("api", advertise.api, server.api, faults);
}

// The rest of the lease: an answer that is lost, one that an agent waits for in vain, the election.
absl::Duration UnheardAfter(const CoreOptions& core) {
  return std::max(kAgentPatience, (core.lease - core.hold_max) / 6);
}

absl::StatusOr<std::string> LoadEtcdPassword(const EtcdSettings& settings) {
  if (settings.password_file.empty()) return std::string();
  absl::StatusOr<std::string> text = ReadFile(settings.password_file);
  if (!text.ok()) return text.status();
  absl::StripTrailingAsciiWhitespace(&*text);
  if (text->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(settings.password_file, ": is empty; it must hold the password for etcd"));
  }
  return text;
}

}  // namespace plimsoll
