#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/access.h"
#include "plimsoll/http/config_facts.h"
#include "plimsoll/http/console.h"
#include "plimsoll/http/hearing.h"
#include "plimsoll/http/operations.h"
#include "plimsoll/http/tls.h"

namespace plimsoll {

// An address to listen on: a numeric IPv4 or IPv6 address and a port; port 0 lets the system
// choose.
struct ListenAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
};

// What one listener accepts. A client that breaks a limit is answered if possible, and cut off.
struct ListenerLimits {
  int connections_max = 1024;             // more are closed at once, and counted
  int connections_per_address_max = 0;    // the same, of one client address; 0: no such limit
  std::uint32_t header_bytes_max = 8192;  // request line and headers together
  std::uint64_t body_bytes_max = 1 << 20;
  // For a request to arrive whole, from its first byte: cuts off clients that trickle.
  absl::Duration request_time_max = absl::Seconds(10);
  // Between two requests of a connection.
  absl::Duration idle_time_max = absl::Seconds(75);
  // For an answer to be taken by the client.
  absl::Duration write_time_max = absl::Seconds(10);
};

struct ServerOptions {
  ListenAddress agents;
  ListenAddress api;
  ListenerLimits agent_limits{.connections_max = 12'000,
                              .body_bytes_max = std::uint64_t{256} * 1024};
  ListenerLimits api_limits{};
  // Names, beside loopback names and the listen address, by which browsers may call the operator
  // plane: the defence against DNS rebinding.
  std::vector<std::string> api_hosts;
  // Web pages of these origins ("https://grafana.example.org") may read the operator plane from
  // browsers: GET and HEAD, with a token if one is needed, and nothing else.
  std::vector<std::string> cors_origins;
  // Who may do what. Whoever listens beyond loopback must give rules.
  AccessRules access = OpenAccess();
  RateLimit api_rate_limit;
  // Of both planes; without a context they are not encrypted.
  TlsMaterial tls;
  Console console;  // none by default
  absl::Duration tick = absl::Milliseconds(250);
  // Series for single instances are exported up to this many pairs of dependency and instance.
  int metrics_pairs_max = 2000;
  // What /v1/timeseries remembers: one value per step, 1440 steps at most.
  absl::Duration history_step = absl::Seconds(5);  // [1 s, history_keep]
  absl::Duration history_keep = absl::Hours(1);
  int watchers_max = 256;  // event streams of /v1/watch; more are refused
  // What /v1/status and build_info tell.
  std::string version;
  std::string revision;    // of the sources, such as a commit; empty: unknown
  std::string state_mode;  // "EMBEDDED", "MEMORY" or "ETCD"
  std::string config_hash;
  // What GET /v1/schema/config.json serves: a JSON Schema. Empty: the route is not there.
  std::string config_schema;
  // What GET /v1/config tells.
  ConfigSettings config;
  // What operators may change over REST, and what of it holds. Null: nothing, and the routes are
  // not there. Must outlive the server, and is used on the API plane's thread alone.
  Operations* operations = nullptr;
  // Into how many the dependencies are divided (plimsoll/core/shard.h). With more than one, each is
  // led by whoever wins its elections, and `operations` answers for all of them.
  int shards = 1;
  // With several shards: who plans the changes of each. Empty if `operations` is null.
  std::vector<Operations*> shard_operations;
  // Told of what operators must not miss: the store's failures, losses and recoveries, the end of
  // learning, changed policies, the end of the reign. On the core's thread, so it must not wait.
  std::function<void(const LogEvent& event)> on_notice;
  // With a store that changes hands: who leads a shard, as far as is known. Thread-safe.
  std::function<std::optional<Leader>(int shard)> leader = {};
  // With such a store: the core of this shard refuses everything from now on, so StandBy() is due.
  // `seen` is the later epoch that an agent knows of, if that is why. On the core's thread, so it
  // must not wait.
  std::function<void(int shard, const std::string& why, std::optional<Epoch> seen)> on_deposed = {};
  // Likewise: whether agents reach this controller, as far as it leads. If not, others should lead:
  // the store cannot know. On the core's thread, so it must not wait.
  std::function<void(Hearing hearing)> on_hearing = {};
  // So long after the last answer no agent must have asked anything for that, and so late an answer
  // to an agent can be (CoreOptions).
  absl::Duration unheard_after = absl::Seconds(1);
  absl::Duration hold_max = absl::Seconds(1);
};

// The controller on the network: feeds the core with what agents and time bring, does what it wants
// done, and answers operators from its read model.
//
// It runs three threads of its own: one for the core and the agent plane, one for the operator
// plane, so that a burst of scrapes does not delay agents, and one that waits for the store.
// Thread-compatible.
class Server {
 public:
  // `core` and `store` belong to the server's threads until Stop() has returned. All three must
  // outlive the server. The store must have been taken over.
  Server(const ServerOptions& options, Core& core, Store& store, const Clock& clock);
  // Stands by for all shards, until Lead(). Needs `leader` and `on_deposed` of the options.
  Server(const ServerOptions& options, const Clock& clock);
  ~Server();

  // Leads this shard from soon on. `make`, called on the API plane's thread, makes the core, and
  // may change what the operations are. Requires that the server runs, and stands by. Returns at
  // once.
  void Lead(int shard, std::shared_ptr<Reign> reign, std::function<std::unique_ptr<Core>()> make);
  // Forgets the books of this shard and sends everybody to the controller that leads. `then` is
  // called on the API plane's thread. Waits until nobody uses the reign any more, so for what is
  // under way in the store. Requires that the server runs, and leads it.
  void StandBy(int shard, std::function<void()> then);

  // Binds both listeners and serves. Returns kInvalidArgument for an address that is not numeric,
  // kUnavailable if one cannot be bound. Must not be called again after Stop().
  absl::Status Start();
  // The ports that were bound.
  std::uint16_t agent_port() const;
  std::uint16_t api_port() const;

  // Has the configuration read anew, as POST /v1/config:reload does, on behalf of `who`. Returns at
  // once; what comes of it is told by the operations, and then `done` is called on the API plane's
  // thread, which must not be held up. Thread-safe while the server runs. Without operations,
  // nothing is read.
  void Reload(std::string who, std::function<void()> done = nullptr);

  // Calls `answered` once the core's thread, the API plane's and the store's have each come to this
  // question: if one of them hangs, or the server stops, never. On the store's thread, so it must
  // not wait. Returns at once. Thread-safe while the server runs.
  void AskThreads(std::function<void()> answered);

  // What GET /v1/config tells from now on. Thread-safe while the server runs.
  void SetConfig(ConfigSettings facts);

  // These rules hold from the next request on, also on connections there are. Thread-safe while the
  // server runs.
  void SetAccess(const AccessRules& rules, const RateLimit& api_rate_limit);

  // Connections to come are encrypted with these certificates, or not at all without a context;
  // those there are stay as they are. Thread-safe while the server runs.
  void SetTls(const TlsMaterial& tls);

  // Answers held syncs with 503 so that agents move on at once, waits up to `grace` for the
  // answers to be written, and ends the threads. Does nothing if the server does not run.
  void Stop(absl::Duration grace = absl::Milliseconds(200));

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
