#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/core/protocol.h"

namespace plimsoll::internal {

struct ReleaseAnswer {};
struct NoAnswer {
  absl::Status why;
};
using Answer = std::variant<RegisterAnswer, SyncAnswer, ReleaseAnswer, Refusal, NoAnswer>;

// Carries one message at a time to a controller. The seam between the agent's thread and the
// network. Exchange() is confined to the agent's thread; Interrupt() is thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  // Blocks until the answer is there, `timeout` has passed, or Interrupt() is called.
  // `controller` is an index into the addresses it was made with.
  virtual Answer Exchange(std::size_t controller, const RegisterRequest& message,
                          absl::Duration timeout) = 0;
  virtual Answer Exchange(std::size_t controller, const SyncRequest& message,
                          absl::Duration timeout) = 0;
  virtual Answer Exchange(std::size_t controller, const ReleaseRequest& message,
                          absl::Duration timeout) = 0;

  // Which of the addresses the last answer named as the leader's, if that was a refusal with
  // kNotLeader that named one of them. To be called between exchanges.
  virtual std::optional<std::size_t> leader() const { return std::nullopt; }

  // How many shards the last answer told of, if that was a refusal that did. Likewise.
  virtual std::optional<int> shards() const { return std::nullopt; }

  // Makes the Exchange() under way return NoAnswer soon, with status kCancelled. If there is none,
  // it is the next one that returns so: a caller that is about to start one is not missed.
  virtual void Interrupt() = 0;
};

// What proves who this is, and who may vouch for controllers; as in AgentOptions.
struct TransportCredentials {
  std::string token;
  std::string ca_file;
  std::string client_cert_file;
  std::string client_key_file;
};

// Over HTTP/1.1 with keep-alive. `addresses` are as in AgentOptions::controllers and valid. An
// answer over 1 MiB, or with a header line over 1 KiB, is not read to its end. To the routes of
// this shard, or of a controller without shards.
std::unique_ptr<Transport> MakeHttpTransport(const std::vector<std::string>& addresses,
                                             absl::Duration connect_timeout,
                                             const TransportCredentials& credentials = {},
                                             std::optional<int> shard = std::nullopt);

}  // namespace plimsoll::internal
