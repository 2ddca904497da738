#include "plimsoll/http/server.h"

// <utility> comes first: <boost/asio/awaitable.hpp> 1.74 uses std::exchange without including it.
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "api/http/src/agent_plane.h"
#include "api/http/src/controller_view.h"
#include "api/http/src/core_driver.h"
#include "api/http/src/http_listener.h"
#include "api/http/src/metrics_exporter.h"
#include "api/http/src/operator_plane.h"
#include "api/http/src/reign_threads.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll {
namespace {

namespace asio = boost::asio;

// Lets one thread wait until others are done. Thread-safe.
class Countdown {
 public:
  explicit Countdown(int count) : count_(count) {}

  void Done() {
    const MutexLock lock(mutex_);
    --count_;
    changed_.NotifyAll();
  }
  void Wait() {
    const MutexLock lock(mutex_);
    while (count_ > 0) changed_.Wait(mutex_);
  }
  void WaitUntil(Instant deadline, const Clock& clock) {
    const MutexLock lock(mutex_);
    for (Instant now = clock.Now(); count_ > 0 && now < deadline; now = clock.Now()) {
      changed_.WaitFor(mutex_, deadline - now);
    }
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mutex_);
};

internal::Authenticator AgentAuthenticator(const AccessRules& rules) {
  return {std::make_shared<const AccessRules>(rules), rules.agents_anonymous};
}

internal::Authenticator ApiAuthenticator(const AccessRules& rules) {
  return {std::make_shared<const AccessRules>(rules), rules.api_anonymous};
}

absl::Status NotLeading() { return absl::FailedPreconditionError("this controller does not lead"); }

Role MetricsRole(const AccessRules& rules) {
  return rules.metrics_require_auth ? Role::kViewer : Role::kNone;
}

}  // namespace

class Server::Impl final : public internal::ControllerView, public internal::ChangeHost {
 public:
  // Without core and store, it stands by.
  Impl(const ServerOptions& options, Core* core, Store* store, const Clock& clock)
      : options_(options),
        clock_(clock),
        leads_(core != nullptr),
        driver_(core, clock, Host()),
        agent_plane_(driver_),
        operator_plane_(*this, internal::HostCheck(options.api.address, options.api_hosts),
                        {options.version, options.state_mode, options.config_hash, options.revision,
                         options.config_schema},
                        clock, {options.history_step, options.history_keep, options.watchers_max},
                        options.console, options.operations, this),
        agent_listener_(core_loop_, options.agent_limits, ServerName(), agent_plane_,
                        agent_metrics_, AgentAuthenticator(options.access), clock),
        api_listener_(api_loop_, options.api_limits, ServerName(), operator_plane_, api_metrics_,
                      ApiAuthenticator(options.access), clock),
        tick_timer_(core_loop_),
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

  ~Impl() override { Stop(absl::ZeroDuration()); }

  absl::Status Start() {
    absl::Status bound = agent_listener_.Bind(options_.agents);
    if (bound.ok()) bound = api_listener_.Bind(options_.api);
    if (!bound.ok()) return bound;
    if (store_ != nullptr) {
      core_threads_ = std::make_shared<internal::ReignThreads>(*store_, clock_, Written(0));
      api_threads_ = core_threads_;
    }
    agent_listener_.Start();
    api_listener_.Start();
    ScheduleTick();
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
        // Who stands by has no thread that waits for the store.
        if (api_threads_ == nullptr) return answered();
        api_threads_->writer().Ask(std::move(answered));
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
    Countdown drained(2);
    asio::post(core_loop_, [this, &drained] {
      driver_.Shutdown();
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
    core_threads_.reset();
    api_threads_.reset();
  }

  void Lead(std::shared_ptr<Reign> reign, std::function<std::unique_ptr<Core>()> make) {
    asio::post(api_loop_, [this, reign = std::move(reign), make = std::move(make)] {
      const std::int64_t number = ++last_reign_;
      auto threads = std::make_shared<internal::ReignThreads>(reign, clock_, Written(number),
                                                              Confirmed(number));
      std::unique_ptr<Core> core = make();
      operator_plane_.Restart();
      api_threads_ = threads;
      leads_ = true;
      asio::post(core_loop_, [this, number, threads, core = std::move(core)]() mutable {
        core_threads_ = std::move(threads);
        reign_ = number;
        driver_.Lead(std::move(core));
      });
    });
  }

  void StandBy(const std::function<void()>& then) {
    // Here, and not on a plane's thread, they are waited for.
    std::shared_ptr<internal::ReignThreads> kept[2];
    Countdown left(2);
    asio::post(api_loop_, [this, &then, &kept, &left] {
      leads_ = false;
      kept[0] = std::move(api_threads_);
      operator_plane_.Restart();
      then();
      asio::post(core_loop_, [this, &kept, &left] {
        reign_ = 0;
        driver_.StandBy();
        kept[1] = std::move(core_threads_);
        left.Done();
      });
      left.Done();
    });
    left.Wait();
  }

  void GetSnapshot(std::function<void(std::shared_ptr<const Snapshot>)> then) override {
    Ask([this] { return driver_.GetSnapshot(); }, std::move(then));
  }
  void FindEvents(EventLog::Filter filter, int limit,
                  std::function<void(std::vector<LogEvent>)> then) override {
    Ask([this, filter = std::move(filter), limit] { return driver_.log().Find(filter, limit); },
        std::move(then));
  }
  void GetEvent(std::string id, std::function<void(std::optional<LogEvent>)> then) override {
    Ask([this, id = std::move(id)] { return driver_.log().Get(id); }, std::move(then));
  }
  void Try(DependencyId dependency, SessionId session, std::vector<TrialWindow> windows,
           std::function<void(absl::StatusOr<std::vector<TrialDecision>>)> then) override {
    Ask(
        [this, dependency = std::move(dependency), session = std::move(session),
         windows = std::move(windows)]() -> absl::StatusOr<std::vector<TrialDecision>> {
          if (driver_.core() == nullptr) return NotLeading();
          return driver_.core()->Try(dependency, session, windows);
        },
        std::move(then));
  }
  void ReadAudit(int limit,
                 std::function<void(absl::StatusOr<std::vector<std::string>>)> then) override {
    const auto answer = [this, then = std::move(then)](auto records) {
      asio::post(api_loop_, [then, records = std::move(records)] { then(records); });
    };
    if (api_threads_ == nullptr) return answer(NotLeading());
    api_threads_->writer().ReadAudit(limit, answer);
  }
  void Commit(WriteBatch batch, std::function<void(absl::Status)> done) override {
    if (api_threads_ == nullptr) {
      asio::post(api_loop_, [done = std::move(done)] { done(NotLeading()); });
      return;
    }
    // What waits when the reign ends is not written: `done` says so, and ChangeQueue refuses it.
    api_threads_->writer().Submit(
        std::move(batch), [this, done = std::move(done)](absl::Status status) {
          asio::post(api_loop_, [done, status = std::move(status)] { done(status); });
        });
  }
  void Tell(std::vector<Event> events, std::function<void()> done) override {
    asio::post(core_loop_, [this, events = std::move(events), done = std::move(done)] {
      driver_.Tell(events);
      asio::post(api_loop_, done);
    });
  }
  std::string Metrics(std::shared_ptr<const Snapshot> snapshot) override {
    internal::MetricsInput input;
    input.snapshot = std::move(snapshot);
    input.api = api_metrics_.Read();
    input.agent = agent_metrics_.Read();
    input.leads = leads_;
    if (api_threads_ != nullptr) input.store_writes = api_threads_->writer().durations();
    input.watch = operator_plane_.watch_counts();
    input.process = internal::ReadProcessFacts();
    input.version = options_.version;
    input.revision = options_.revision;
    input.config_hash = operator_plane_.config_hash();
    input.load = operator_plane_.load_facts();
    input.pairs_max = options_.metrics_pairs_max;
    return internal::ExportMetrics(input);
  }
  bool shutting_down() const override { return shutting_down_; }
  Leading leading() const override {
    if (!options_.leader) return {};
    return {leads_, options_.leader()};
  }

 private:
  internal::CoreDriver::Host Host() {
    internal::CoreDriver::Host host;
    host.write = [this](WriteAction action) { core_threads_->writer().Submit(std::move(action)); };
    host.notice = options_.on_notice;
    if (!options_.leader) return host;
    host.confirm = [this](ConfirmAction action) { core_threads_->Submit(action); };
    host.deposed = options_.on_deposed;
    host.leader = options_.leader;
    return host;
  }

  // What comes of a reign that is over is of no interest to the next.
  internal::ReignThreads::Written Written(std::int64_t number) {
    return [this, number](WriteId write, absl::Status status) {
      asio::post(core_loop_, [this, number, write, status = std::move(status)] {
        if (number == reign_) driver_.Written(write, status);
      });
    };
  }
  internal::Confirmer::Confirmed Confirmed(std::int64_t number) {
    return [this, number](ConfirmId confirm, absl::Status status) {
      asio::post(core_loop_, [this, number, confirm, status = std::move(status)] {
        if (number == reign_) driver_.Confirmed(confirm, status);
      });
    };
  }

  std::string ServerName() const { return absl::StrCat("plimsoll/", options_.version); }

  // Runs `question` on the core's thread and `then` on the operator plane's.
  template <typename Question, typename Then>
  void Ask(Question question, Then then) {
    asio::post(core_loop_, [this, question = std::move(question), then = std::move(then)] {
      asio::post(api_loop_, [then, answer = question()]() mutable { then(std::move(answer)); });
    });
  }

  void ScheduleTick() {
    tick_timer_.expires_after(absl::ToChronoNanoseconds(options_.tick));
    tick_timer_.async_wait([this](const boost::system::error_code& error) {
      // A tick that is due already cannot be cancelled any more.
      if (error || !ticking_) return;
      driver_.Tick();
      ScheduleTick();
    });
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
      if (leads_) operator_plane_.TickChanges();
      ScheduleChangeTick();
    });
  }

  // How late an override may end.
  static constexpr std::chrono::milliseconds kChangeTick{500};

  // Fixed at construction, or thread-safe.
  const ServerOptions options_;
  const Clock& clock_;
  internal::PlaneMetrics agent_metrics_;
  internal::PlaneMetrics api_metrics_;
  std::atomic<bool> shutting_down_ = false;
  std::atomic<bool> leads_;
  asio::io_context core_loop_{1};
  asio::io_context api_loop_{1};
  // Confined to the core's thread while it runs.
  std::shared_ptr<internal::ReignThreads> core_threads_;
  std::int64_t reign_ = 0;
  internal::CoreDriver driver_;
  internal::AgentPlane agent_plane_;
  bool ticking_ = true;
  // Confined to the operator plane's thread while it runs.
  std::shared_ptr<internal::ReignThreads> api_threads_;
  std::int64_t last_reign_ = 0;
  internal::OperatorPlane operator_plane_;
  bool polling_ = true;
  bool changing_ = true;
  // Each confined to the thread of its plane.
  internal::HttpListener agent_listener_;
  internal::HttpListener api_listener_;
  asio::steady_timer tick_timer_;
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
void Server::Lead(std::shared_ptr<Reign> reign, std::function<std::unique_ptr<Core>()> make) {
  impl_->Lead(std::move(reign), std::move(make));
}
void Server::StandBy(std::function<void()> then) { impl_->StandBy(then); }
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
