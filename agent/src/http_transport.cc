#include <httplib.h>

#include <atomic>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/src/address.h"
#include "agent/src/transport.h"
#include "plimsoll/core/check.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {
namespace {

constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;
constexpr char kSessionsPath[] = "/v1/agent/sessions";

// What came back, and why it was not read to its end.
struct RawAnswer {
  int status = 0;
  std::string body;
  bool too_large = false;
  bool too_late = false;
};

std::string SessionPath(const SessionId& session) {
  return absl::StrCat(kSessionsPath, "/", session.value);
}

class HttpTransport final : public Transport {
 public:
  HttpTransport(const std::vector<std::string>& addresses, absl::Duration connect_timeout);

  Answer Exchange(std::size_t controller, const RegisterRequest& message,
                  absl::Duration timeout) override {
    return Exchange(controller, "POST", kSessionsPath, Encode(message), timeout,
                    [](const std::string& body) { return ToAnswer(DecodeRegisterAnswer(body)); });
  }
  Answer Exchange(std::size_t controller, const SyncRequest& message,
                  absl::Duration timeout) override {
    return Exchange(controller, "POST", SessionPath(message.session) + "/sync", Encode(message),
                    timeout,
                    [](const std::string& body) { return ToAnswer(DecodeSyncAnswer(body)); });
  }
  Answer Exchange(std::size_t controller, const ReleaseRequest& message,
                  absl::Duration timeout) override {
    return Exchange(controller, "DELETE", SessionPath(message.session), "", timeout,
                    [](const std::string&) { return Answer(ReleaseAnswer{}); });
  }

  void Interrupt() override;

 private:
  struct Peer {
    std::string address;
    std::unique_ptr<httplib::Client> client;
  };
  using Decoder = Answer (*)(const std::string& body);

  template <typename T>
  static Answer ToAnswer(absl::StatusOr<T> decoded) {
    if (decoded.ok()) return *std::move(decoded);
    return NoAnswer{decoded.status()};
  }

  Answer Exchange(std::size_t controller, const char* method, const std::string& path,
                  std::string body, absl::Duration timeout, Decoder decode);
  Answer Send(Peer& peer, httplib::Request& request, absl::Duration timeout, Decoder decode);
  Answer Understand(const Peer& peer, const RawAnswer& raw, Decoder decode);
  NoAnswer Explain(const Peer& peer, const RawAnswer& raw, httplib::Error error) const;

  std::vector<Peer> peers_;
  // The next two are shared by Interrupt() and Exchange().
  std::atomic<bool> interrupted_{false};
  std::atomic<httplib::Client*> sending_{nullptr};  // connected, and busy with an exchange
};

HttpTransport::HttpTransport(const std::vector<std::string>& addresses,
                             absl::Duration connect_timeout) {
  for (const std::string& text : addresses) {
    const std::optional<Address> address = ParseAddress(text);
    PLIMSOLL_CHECK(address.has_value(), "the addresses of controllers must be valid");
    auto client = std::make_unique<httplib::Client>(address->host, address->port);
    client->set_keep_alive(true);
    // Without it every small message waits for the acknowledgement of the one before.
    client->set_tcp_nodelay(true);
    client->set_connection_timeout(absl::ToChronoMicroseconds(connect_timeout));
    client->set_decompress(false);
    peers_.push_back({text, std::move(client)});
  }
}

// The flag comes first: an exchange that has not written its request yet looks at the flag when it
// does, and one that has can be stopped at its connection.
void HttpTransport::Interrupt() {
  interrupted_.store(true);
  if (httplib::Client* client = sending_.load()) client->stop();
}

Answer HttpTransport::Exchange(std::size_t controller, const char* method, const std::string& path,
                               std::string body, absl::Duration timeout, Decoder decode) {
  PLIMSOLL_CHECK(controller < peers_.size(), "there is no controller of this number");
  Peer& peer = peers_[controller];
  httplib::Request request;
  request.method = method;
  request.path = path;
  request.set_header("Content-Type", "application/json");
  request.set_header("Accept-Encoding", "identity");
  // A provider, not a body: it is called when the connection stands.
  request.content_length_ = body.size();
  request.content_provider_ = [this, &peer, &body](std::size_t offset, std::size_t length,
                                                   httplib::DataSink& sink) {
    sending_.store(peer.client.get());
    return !interrupted_.load() && sink.write(body.data() + offset, length);
  };

  // A message without a body can be stopped from the start.
  if (body.empty()) sending_.store(peer.client.get());

  Answer answer = NoAnswer{};
  try {
    answer = Send(peer, request, timeout, decode);
  } catch (const std::exception& error) {
    answer = NoAnswer{
        absl::InternalError(absl::StrCat("controller ", peer.address, ": ", error.what()))};
  }
  sending_.store(nullptr);
  const bool interrupted = interrupted_.exchange(false);
  if (interrupted && std::holds_alternative<NoAnswer>(answer)) {
    return NoAnswer{absl::CancelledError("interrupted")};
  }
  return answer;
}

Answer HttpTransport::Send(Peer& peer, httplib::Request& request, absl::Duration timeout,
                           Decoder decode) {
  if (interrupted_.load()) return NoAnswer{};
  const Instant deadline = RealClock().Now() + timeout;
  RawAnswer raw;
  request.content_receiver = [&raw, deadline](const char* data, std::size_t length,
                                              std::uint64_t /*offset*/, std::uint64_t /*total*/) {
    raw.too_large = raw.body.size() + length > kAnswerBytesMax;
    raw.too_late = RealClock().Now() > deadline;
    if (raw.too_large || raw.too_late) return false;
    raw.body.append(data, length);
    return true;
  };
  const auto patience = absl::ToChronoMicroseconds(std::max(timeout, absl::Milliseconds(1)));
  peer.client->set_read_timeout(patience);
  peer.client->set_write_timeout(patience);

  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  if (!peer.client->send(request, response, error)) return Explain(peer, raw, error);
  raw.status = response.status;
  return Understand(peer, raw, decode);
}

Answer HttpTransport::Understand(const Peer& peer, const RawAnswer& raw, Decoder decode) {
  constexpr int kOk = 200;
  constexpr int kNotOk = 300;
  constexpr int kProblem = 400;
  if (raw.status >= kOk && raw.status < kNotOk) {
    Answer answer = decode(raw.body);
    if (const auto* none = std::get_if<NoAnswer>(&answer)) {
      return NoAnswer{absl::Status(
          none->why.code(),
          absl::StrCat("controller ", peer.address,
                       " sent an answer that cannot be understood: ", none->why.message()))};
    }
    return answer;
  }
  if (raw.status >= kProblem) {
    if (absl::StatusOr<Refusal> refusal = DecodeRefusal(raw.body); refusal.ok()) {
      return *std::move(refusal);
    }
  }
  return NoAnswer{absl::UnavailableError(
      absl::StrCat("controller ", peer.address, " answered HTTP ", raw.status,
                   " without a problem document: is it a Plimsoll agent plane?"))};
}

NoAnswer HttpTransport::Explain(const Peer& peer, const RawAnswer& raw,
                                httplib::Error error) const {
  if (raw.too_large) {
    return NoAnswer{absl::ResourceExhaustedError(absl::StrCat(
        "controller ", peer.address, " sent an answer of more than ", kAnswerBytesMax, " bytes"))};
  }
  if (raw.too_late) {
    return NoAnswer{absl::DeadlineExceededError(
        absl::StrCat("controller ", peer.address, " took too long to send its answer"))};
  }
  return NoAnswer{absl::UnavailableError(
      absl::StrCat("controller ", peer.address, " does not answer: ", httplib::to_string(error)))};
}

}  // namespace

std::unique_ptr<Transport> MakeHttpTransport(std::vector<std::string> addresses,
                                             absl::Duration connect_timeout) {
  return std::make_unique<HttpTransport>(addresses, connect_timeout);
}

}  // namespace plimsoll::internal
