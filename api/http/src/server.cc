#include "plimsoll/http/server.h"

// <utility> comes first: <boost/asio/awaitable.hpp> 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "api/http/src/agent_plane.h"
#include "api/http/src/countdown.h"
#include "api/http/src/http_listener.h"
#include "api/http/src/metrics_exporter.h"
#include "api/http/src/operator_plane.h"
#include "api/http/src/seats_view.h"
#include "api/http/src/shard_seat.h"
#include "api/http/src/unheard_watch.h"

namespace plimsoll {
namespace {

namespace asio = boost::asio;

internal::Authenticator AgentAuthenticator(const AccessRules& rules) {
  return {std::make_shared<const AccessRules>(rules), rules.agents_anonymous};
}

internal::Authenticator ApiAuthenticator(const AccessRules& rules) {
  return {std::make_shared<const AccessRules>(rules), rules.api_anonymous};
}

Role MetricsRole(const AccessRules& rules) {
  return rules.metrics_require_auth ? Role::kViewer : Role::kNone;
}

}  // namespace

class Server::Impl {
 public:
  // Without core and store, it stands by.
  Impl(const ServerOptions& options, Core* core, Store* store, const Clock& clock)
      : options_(options),
        clock_(clock),
        seats_(MakeSeats(core)),
        view_(seats_, shutting_down_, ViewParts()),
        unheard_watch_(options.unheard_after, options.hold_max),
        agent_plane_(Drivers(), options.on_hearing ? &unheard_watch_ : nullptr),
        operator_plane_(view_, internal::HostCheck(options.api.address, options.api_hosts),
                        {options.version, options.state_mode, options.config_hash, options.revision,
                         options.config_schema},
                        clock, {options.history_step, options.history_keep, options.watchers_max},
                        options.console, options.operations, Lanes()),
        agent_listener_(core_loop_, options.agent_limits, ServerName(), agent_plane_,
                        agent_metrics_, AgentAuthenticator(options.access), clock),
        api_listener_(api_loop_, options.api_limits, ServerName(), operator_plane_, api_metrics_,
                      ApiAuthenticator(options.access), clock),
        tick_timer_(core_loop_),
        watch_timer_(core_loop_),
        poll_timer_(api_loop_),
        change_timer_(api_loop_),
        store_(store) {
    operator_plane_.set_config(options.config);
    for (const auto& [method, route] : agent_plane_.labels())
      agent_metrics_.AddRoute(method, route);
    for (const auto& [method, route] : operator_plane_.labels()) {
      api_metrics_.AddRoute(method, route);
    }
    agent_listener_.SetTls(options.tls.context);
    api_listener_.SetTls(options.tls.context);
    operator_plane_.set_rate_limit(options.api_rate_limit);
    operator_plane_.set_metrics_role(MetricsRole(options.access));
    operator_plane_.set_cors_origins(options.cors_origins);
  }

  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Start() {
    absl::Status bound = agent_listener_.Bind(options_.agents);
    if (bound.ok()) bound = api_listener_.Bind(options_.api);
    if (!bound.ok()) return bound;
    if (store_ != nullptr) seats_.front()->Use(*store_);
    agent_listener_.Start();
    api_listener_.Start();
    next_tick_ = clock_.Now() + options_.tick;
    ScheduleWake();
    if (options_.on_hearing) ScheduleWatch();
    SchedulePoll();
    if (options_.operations != nullptr) ScheduleChangeTick();
    core_thread_ = std::thread([this] { core_loop_.run(); });
    api_thread_ = std::thread([this] { api_loop_.run(); });
    return absl::OkStatus();
  }

  std::uint16_t agent_port() const { return agent_listener_.port(); }
  std::uint16_t api_port() const { return api_listener_.port(); }

  void Reload(std::string who, std::function<void()> done) {
    asio::post(api_loop_, [this, who = std::move(who), done = std::move(done)]() mutable {
      operator_plane_.Reload(who, std::move(done));
    });
  }

  void AskThreads(std::function<void()> answered) {
    asio::post(core_loop_, [this, answered = std::move(answered)]() mutable {
      asio::post(api_loop_, [this, answered = std::move(answered)]() mutable {
        AskWriter(0, std::move(answered));
      });
    });
  }

  void SetConfig(ConfigSettings facts) {
    asio::post(api_loop_, [this, facts = std::move(facts)]() mutable {
      operator_plane_.set_config(std::move(facts));
    });
  }

  void SetAccess(const AccessRules& rules, const RateLimit& api_rate_limit) {
    asio::post(core_loop_, [this, authenticator = AgentAuthenticator(rules)]() mutable {
      agent_listener_.SetAuthenticator(std::move(authenticator));
    });
    asio::post(api_loop_, [this, authenticator = ApiAuthenticator(rules), api_rate_limit,
                           metrics = MetricsRole(rules)]() mutable {
      api_listener_.SetAuthenticator(std::move(authenticator));
      operator_plane_.set_rate_limit(api_rate_limit);
      operator_plane_.set_metrics_role(metrics);
    });
  }

  void SetTls(const TlsMaterial& tls) {
    asio::post(core_loop_, [this, context = tls.context] { agent_listener_.SetTls(context); });
    asio::post(api_loop_, [this, context = tls.context] { api_listener_.SetTls(context); });
  }

  void Stop(absl::Duration grace) {
    if (!core_thread_.joinable()) return;
    shutting_down_ = true;
    internal::Countdown drained(2);
    asio::post(core_loop_, [this, &drained] {
      for (const auto& seat : seats_) seat->driver().Shutdown();
      agent_listener_.Drain([&drained] { drained.Done(); });
    });
    asio::post(api_loop_, [this, &drained] {
      operator_plane_.Shutdown();
      api_listener_.Drain([&drained] { drained.Done(); });
    });
    drained.WaitUntil(clock_.Now() + grace, clock_);
    asio::post(core_loop_, [this] {
      agent_listener_.Abort();
      ticking_ = false;
      tick_timer_.cancel();
      watch_timer_.cancel();
    });
    asio::post(api_loop_, [this] {
      api_listener_.Abort();
      polling_ = false;
      poll_timer_.cancel();
      changing_ = false;
      change_timer_.cancel();
    });
    // The loops end by themselves once nothing waits in them.
    api_thread_.join();
    core_thread_.join();
    for (const auto& seat : seats_) seat->Stop();
  }

  internal::ShardSeat& seat(int shard) { return *seats_[static_cast<std::size_t>(shard)]; }

 private:
  internal::ShardSeats MakeSeats(Core* core) {
    internal::ShardSeats seats;
    for (int shard = 0; shard < options_.shards; ++shard) {
      internal::ShardSeat::Parts parts;
      parts.on_core = [this](std::function<void()> run) { asio::post(core_loop_, std::move(run)); };
      parts.on_api = [this](std::function<void()> run) { asio::post(api_loop_, std::move(run)); };
      parts.notice = options_.on_notice;
      parts.restart = [this, shard] { operator_plane_.Restart(shard); };
      if (options_.leader) {
        parts.leader = [this, shard] { return options_.leader(shard); };
        parts.deposed = [this, shard](const std::string& why, std::optional<Epoch> seen) {
          options_.on_deposed(shard, why, seen);
        };
      }
      seats.push_back(std::make_unique<internal::ShardSeat>(std::move(parts), core, clock_));
    }
    return seats;
  }
  internal::SeatsView::Parts ViewParts() {
    return {
        [this](std::function<void()> run) { asio::post(core_loop_, std::move(run)); },
        [this](std::function<void()> run) { asio::post(api_loop_, std::move(run)); },
        [this](std::shared_ptr<const Snapshot> snapshot) { return Metrics(std::move(snapshot)); }};
  }
  std::vector<internal::CoreDriver*> Drivers() {
    std::vector<internal::CoreDriver*> drivers;
    for (const auto& seat : seats_) drivers.push_back(&seat->driver());
    return drivers;
  }
  std::vector<internal::ChangeLanes::Lane> Lanes() {
    std::vector<internal::ChangeLanes::Lane> lanes;
    if (options_.operations == nullptr) return lanes;
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      Operations* const operations =
          seats_.size() == 1 ? options_.operations : options_.shard_operations.at(i);
      internal::ShardSeat* const seat = seats_[i].get();
      lanes.push_back({operations, seat, [seat] { return seat->leads(); }});
    }
    return lanes;
  }

  // The writers from this shard on; whoever stands by for one has no thread that waits for its
  // store. On the operator plane's thread, but for the writers' threads the next are asked there.
  void AskWriter(std::size_t shard, std::function<void()> answered) {
    while (shard < seats_.size() && seats_[shard]->writer() == nullptr) ++shard;
    if (shard == seats_.size()) return answered();
    const bool last = shard + 1 == seats_.size();
    if (last) return seats_[shard]->writer()->Ask(std::move(answered));
    seats_[shard]->writer()->Ask([this, shard, answered = std::move(answered)] {
      asio::post(api_loop_, [this, shard, answered] { AskWriter(shard + 1, answered); });
    });
  }

  std::string Metrics(std::shared_ptr<const Snapshot> snapshot) {
    internal::MetricsInput input;
    input.snapshot = std::move(snapshot);
    input.api = api_metrics_.Read();
    input.agent = agent_metrics_.Read();
    input.shards_owned = 0;
    for (const auto& seat : seats_) {
      if (seat->leads()) ++input.shards_owned;
      if (seat->writer() != nullptr) input.store_writes.Add(seat->writer()->durations());
    }
    input.leads = input.shards_owned > 0;
    input.shards = view_.shards();
    input.watch = operator_plane_.watch_counts();
    input.process = internal::ReadProcessFacts();
    input.version = options_.version;
    input.revision = options_.revision;
    input.config_hash = operator_plane_.config_hash();
    input.load = operator_plane_.load_facts();
    input.pairs_max = options_.metrics_pairs_max;
    return internal::ExportMetrics(input);
  }

  std::string ServerName() const { return absl::StrCat("plimsoll/", options_.version); }

  void Tick() {
    for (const auto& seat : seats_) seat->driver().Tick();
    next_tick_ = clock_.Now() + options_.tick;
    ScheduleWake();
  }

  // For the next tick, or before that for holds that are over: if they waited for the tick, a fleet
  // would be answered, and come back, in bursts.
  void ScheduleWake() {
    const Instant now = clock_.Now();
    Instant due = next_tick_;
    for (const auto& seat : seats_) due = std::min(due, seat->driver().next_due());
    due = std::max(due, now + kHoldsStep);
    const bool ticks = due >= next_tick_;
    tick_timer_.expires_after(absl::ToChronoNanoseconds(std::min(due, next_tick_) - now));
    tick_timer_.async_wait([this, ticks](const boost::system::error_code& error) {
      // A tick that is due already cannot be cancelled any more.
      if (error || !ticking_) return;
      if (ticks) return Tick();
      for (const auto& seat : seats_) seat->driver().AnswerDue();
      ScheduleWake();
    });
  }

  void ScheduleWatch() {
    watch_timer_.expires_after(absl::ToChronoNanoseconds(internal::UnheardWatch::kLookEvery));
    watch_timer_.async_wait([this](const boost::system::error_code& error) {
      if (error || !ticking_) return;
      LookWhoIsHeard();
      ScheduleWatch();
    });
  }

  void LookWhoIsHeard() {
    bool leads = false;
    bool store_answers = true;
    for (const auto& seat : seats_) {
      if (seat->driver().core() == nullptr) continue;
      leads = true;
      store_answers = store_answers && seat->store_answers();
    }
    const std::optional<Hearing> hearing = unheard_watch_.Look(clock_.Now(), leads, store_answers);
    if (hearing.has_value()) options_.on_hearing(*hearing);
  }

  void SchedulePoll() {
    poll_timer_.expires_after(absl::ToChronoNanoseconds(internal::OperatorPlane::kPollPeriod));
    poll_timer_.async_wait([this](const boost::system::error_code& error) {
      if (error || !polling_) return;
      if (!shutting_down_) operator_plane_.Poll();
      SchedulePoll();
    });
  }

  void ScheduleChangeTick() {
    change_timer_.expires_after(kChangeTick);
    change_timer_.async_wait([this](const boost::system::error_code& error) {
      if (error || !changing_) return;
      operator_plane_.TickChanges();
      ScheduleChangeTick();
    });
  }

  // Holds that end within this time are answered together.
  static constexpr absl::Duration kHoldsStep = absl::Milliseconds(5);
  // How late an override may end.
  static constexpr std::chrono::milliseconds kChangeTick{500};

  // Fixed at construction, or thread-safe.
  const ServerOptions options_;
  const Clock& clock_;
  internal::PlaneMetrics agent_metrics_;
  internal::PlaneMetrics api_metrics_;
  std::atomic<bool> shutting_down_ = false;
  asio::io_context core_loop_{1};
  asio::io_context api_loop_{1};
  internal::ShardSeats seats_;
  internal::SeatsView view_;
  // Confined to the core's thread while it runs.
  internal::UnheardWatch unheard_watch_;
  internal::AgentPlane agent_plane_;
  bool ticking_ = true;
  Instant next_tick_;
  // Confined to the operator plane's thread while it runs.
  internal::OperatorPlane operator_plane_;
  bool polling_ = true;
  bool changing_ = true;
  // Each confined to the thread of its plane.
  internal::HttpListener agent_listener_;
  internal::HttpListener api_listener_;
  asio::steady_timer tick_timer_;
  asio::steady_timer watch_timer_;
  asio::steady_timer poll_timer_;
  asio::steady_timer change_timer_;

  Store* const store_;
  std::thread core_thread_;
  std::thread api_thread_;
};

Server::Server(const ServerOptions& options, Core& core, Store& store, const Clock& clock)
    : impl_(std::make_unique<Impl>(options, &core, &store, clock)) {}
Server::Server(const ServerOptions& options, const Clock& clock)
    : impl_(std::make_unique<Impl>(options, nullptr, nullptr, clock)) {}
void Server::Lead(int shard, std::shared_ptr<Reign> reign,
                  std::function<std::unique_ptr<Core>()> make) {
  impl_->seat(shard).Lead(std::move(reign), std::move(make));
}
void Server::StandBy(int shard, std::function<void()> then) { impl_->seat(shard).StandBy(then); }
Server::~Server() = default;
absl::Status Server::Start() { return impl_->Start(); }
std::uint16_t Server::agent_port() const { return impl_->agent_port(); }
std::uint16_t Server::api_port() const { return impl_->api_port(); }
void Server::SetConfig(ConfigSettings facts) { impl_->SetConfig(std::move(facts)); }
void Server::Reload(std::string who, std::function<void()> done) {
  impl_->Reload(std::move(who), std::move(done));
}
void Server::AskThreads(std::function<void()> answered) { impl_->AskThreads(std::move(answered)); }
void Server::SetAccess(const AccessRules& rules, const RateLimit& api_rate_limit) {
  impl_->SetAccess(rules, api_rate_limit);
}
void Server::SetTls(const TlsMaterial& tls) { impl_->SetTls(tls); }
void Server::Stop(absl::Duration grace) { impl_->Stop(grace); }

}  // namespace plimsoll
