#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/src/transport.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll {

// A message as the transport got it.
struct Sent {
  std::size_t controller = 0;
  std::variant<RegisterRequest, SyncRequest, ReleaseRequest> message;
  absl::Duration timeout;

  const RegisterRequest* registration() const { return std::get_if<RegisterRequest>(&message); }
  const SyncRequest* sync() const { return std::get_if<SyncRequest>(&message); }
  bool is_release() const { return std::holds_alternative<ReleaseRequest>(message); }
};

// The network and the controller of unit tests. Messages go to a handler, if there is one, which
// answers or holds them; else the test takes and answers them itself. Held messages end when they
// are interrupted. Thread-safe; outlives its transport.
class FakeNetwork {
 public:
  // Called in the agent's thread. No value: hold the message.
  using Handler = std::function<std::optional<internal::Answer>(const Sent& sent)>;

  FakeNetwork() = default;
  explicit FakeNetwork(Handler handler) : handler_(std::move(handler)) {}

  std::unique_ptr<internal::Transport> MakeTransport() {
    return std::make_unique<Transport>(*this);
  }

  // Waits for the next message that was not taken yet.
  Sent Take() {
    const MutexLock lock(mutex_);
    while (sent_.empty()) changed_.Wait(mutex_);
    Sent sent = std::move(sent_.front());
    sent_.pop_front();
    return sent;
  }
  // Answers the message that is held now.
  void Reply(internal::Answer answer) {
    const MutexLock lock(mutex_);
    reply_ = std::move(answer);
    changed_.NotifyAll();
  }
  // What all refusals from now on tell; 0: nothing.
  void TellShards(int shards) { shards_ = shards; }
  bool HasMessage() {
    const MutexLock lock(mutex_);
    return !sent_.empty();
  }

 private:
  class Transport final : public internal::Transport {
   public:
    explicit Transport(FakeNetwork& network) : network_(network) {}
    internal::Answer Exchange(std::size_t controller, const RegisterRequest& message,
                              absl::Duration timeout) override {
      return network_.Exchange({controller, message, timeout});
    }
    internal::Answer Exchange(std::size_t controller, const SyncRequest& message,
                              absl::Duration timeout) override {
      return network_.Exchange({controller, message, timeout});
    }
    internal::Answer Exchange(std::size_t controller, const ReleaseRequest& message,
                              absl::Duration timeout) override {
      return network_.Exchange({controller, message, timeout});
    }
    void Interrupt() override { network_.Interrupt(); }
    std::optional<int> shards() const override {
      return network_.shards_ == 0 ? std::nullopt : std::optional<int>(network_.shards_);
    }

   private:
    FakeNetwork& network_;
  };

  internal::Answer Exchange(const Sent& sent) {
    {
      const MutexLock lock(mutex_);
      sent_.push_back(sent);
      reply_.reset();
      changed_.NotifyAll();
    }
    if (handler_) {
      if (std::optional<internal::Answer> answer = handler_(sent)) return *std::move(answer);
    }
    const MutexLock lock(mutex_);
    while (!reply_.has_value() && !interrupted_) changed_.Wait(mutex_);
    interrupted_ = false;
    if (reply_.has_value()) return *std::exchange(reply_, std::nullopt);
    return internal::NoAnswer{absl::CancelledError("interrupted")};
  }

  void Interrupt() {
    const MutexLock lock(mutex_);
    interrupted_ = true;
    changed_.NotifyAll();
  }

  const Handler handler_;
  std::atomic<int> shards_ = 0;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Sent> sent_ ABSL_GUARDED_BY(mutex_);
  std::optional<internal::Answer> reply_ ABSL_GUARDED_BY(mutex_);
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;
};

// Answers of a controller that grants `limit` for an hour.
inline Grant MakeGrant(const DependencyId& dependency, std::int64_t seq, SyncNumber anchor,
                       Calls limit) {
  Grant grant;
  grant.dependency = dependency;
  grant.stamp = {Epoch(1), Seq(seq)};
  grant.anchor = anchor;
  grant.steps = {limit, 1, 0};
  grant.lease = absl::Hours(1);
  grant.base_lease = absl::Hours(2);
  grant.call_deadline = absl::Seconds(30);
  return grant;
}

inline RegisterAnswer MakeRegisterAnswer(const RegisterRequest& request, Calls limit) {
  RegisterAnswer answer;
  answer.session = SessionId("1-1");
  answer.epoch = Epoch(1);
  answer.hold_max = absl::Seconds(1);
  answer.sync_min = absl::ZeroDuration();
  std::int64_t seq = 0;
  for (const DependencyId& dependency : request.dependencies) {
    answer.settings.push_back({dependency, true, absl::Seconds(30), absl::Seconds(1)});
    answer.grants.push_back(MakeGrant(dependency, ++seq, SyncNumber(0), limit));
  }
  return answer;
}

// Grants `limit` to whatever has no grant yet.
inline SyncAnswer MakeSyncAnswer(const SyncRequest& request, Calls limit) {
  SyncAnswer answer;
  answer.epoch = Epoch(1);
  std::int64_t seq = 1000 * request.n.value;
  for (const DependencyReport& report : request.dependencies) {
    if (report.installed > GrantStamp()) continue;
    answer.settings.push_back({report.dependency, true, absl::Seconds(30), absl::Seconds(1)});
    answer.grants.push_back(MakeGrant(report.dependency, ++seq, request.n, limit));
  }
  return answer;
}

// A controller that grants `limit` to everybody, and holds syncs when there is nothing to say.
inline std::optional<internal::Answer> AnswerWell(const Sent& sent, Calls limit) {
  if (const RegisterRequest* request = sent.registration()) {
    return MakeRegisterAnswer(*request, limit);
  }
  if (const SyncRequest* request = sent.sync()) {
    SyncAnswer answer = MakeSyncAnswer(*request, limit);
    if (answer.grants.empty() && !request->leaving) return std::nullopt;
    return answer;
  }
  return internal::ReleaseAnswer{};
}

}  // namespace plimsoll
