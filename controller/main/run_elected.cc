#include "controller/main/run_elected.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/main/config_source.h"
#include "controller/main/etcd_config.h"
#include "controller/main/reign_loop.h"
#include "controller/main/run_log.h"
#include "controller/main/run_parts.h"
#include "controller/main/running_access.h"
#include "controller/main/shard_books.h"
#include "controller/main/shard_council.h"
#include "controller/main/stand_back.h"
#include "plimsoll/core/random.h"
#include "plimsoll/store/etcd_client.h"
#include "plimsoll/store/etcd_members.h"
#include "plimsoll/store/etcd_store.h"

namespace plimsoll {
namespace {

using EtcdFactory = std::function<std::unique_ptr<Etcd>()>;

std::string UrlOf(const Config& config, const std::string& advertised, const ListenAddress& listen,
                  std::uint16_t port) {
  if (!advertised.empty()) return advertised;
  const bool tls = config.server.tls.context != nullptr;
  return absl::StrCat(tls ? "https://" : "http://", Show(listen, port));
}

// Of this process: a restart at the same address is somebody else.
Leader SelfOf(const Config& config, const Server& server) {
  return {absl::StrFormat("%016x", Random::FromEntropy().Next()),
          UrlOf(config, config.advertise.agents, config.server.agents, server.agent_port()),
          UrlOf(config, config.advertise.api, config.server.api, server.api_port())};
}

EtcdFactory FactoryOf(const Config& config, const Clock& clock) {
  const EtcdSettings& etcd = config.etcd;
  const EtcdAccess access{etcd.endpoints, etcd.ca_file, etcd.cert_file,
                          etcd.key_file,  etcd.user,    config.etcd_password};
  return [access, call = EtcdCallTimeMax(etcd.lease), &clock] {
    return MakeEtcdClient(access, call, clock);
  };
}

// The books of all shards. The file is read once for all of them, by the first.
class Books {
 public:
  Books(const Config& config, const RunOptions& options, const ConfigSource& source,
        const Logger& logger, const Clock& clock)
      : config_(config),
        options_(options),
        source_(source),
        logger_(logger),
        clock_(clock),
        books_(config.etcd.shards, [this](int shard, const std::vector<Document>& documents) {
          return Make(shard, documents);
        }) {}

  ShardBooks& all() { return books_; }
  std::unique_ptr<Core> Begin(int shard, const StoreState& state) {
    books_.Renew(shard, state.documents);
    return MakeCore(config_, books_.book(shard), state, logger_, clock_);
  }
  void End(int shard) { books_.Renew(shard, {}); }

 private:
  std::unique_ptr<PolicyBook> Make(int shard, const std::vector<Document>& documents) {
    const int shards = config_.etcd.shards;
    PolicyBookOptions book = BookOptions(config_, options_, source_, logger_);
    const Config& accepted = source_.accepted();
    book.file_policies = OfShard(accepted.policies, shard, shards);
    book.file_templates = accepted.templates;
    book.observe_all = accepted.observe_all;
    if (book.reread) book.reread = [this, shard] { return Reread(shard); };
    if (shard > 0) {
      book.on_audit = [log = book.on_audit](const AuditRecord& record) {
        // Each shard keeps a record of a reload; the log needs one line.
        if (record.what != "RELOAD_CONFIG") log(record);
      };
    }
    return std::make_unique<PolicyBook>(std::move(book), documents, clock_.WallTime());
  }
  FileReading Reread(int shard) {
    FileReading reading = last_;
    if (shard == 0) {
      reading = source_.Reread();
      last_ = reading;
      last_.accept = nullptr;
    }
    if (reading.policies) {
      reading.policies = OfShard(*reading.policies, shard, config_.etcd.shards);
    }
    return reading;
  }

  const Config& config_;
  const RunOptions& options_;
  const ConfigSource& source_;
  const Logger& logger_;
  const Clock& clock_;
  FileReading last_;
  ShardBooks books_;
};

// The elections of one process: for each shard a leadership and a loop, and the council that says
// which of them stand. The server must be there before it, since others are told of its ports, and
// is asked by it from then on.
class Elections {
 public:
  Elections(const Config& config, const Logger& logger, const Clock& clock)
      : config_(config),
        shards_(config.etcd.shards),
        logger_(logger),
        clock_(clock),
        stand_back_(config.etcd.shards, config.core.lease) {}

  // Of the server's threads.
  std::optional<Leader> leader(int shard) const {
    return ready_ ? leaderships_[At(shard)]->leader() : std::nullopt;
  }
  void Deposed(int shard, const std::string& why, std::optional<Epoch> seen) {
    loops_[At(shard)]->Deposed(why, seen);
  }
  void Hear(Hearing hearing);

  // `server` and `books` must run, or live, until it has stopped.
  void Start(Server& server, Books& books, OperatorWord word);
  // Does not stand any more. The server goes on to lead what it leads.
  void Stop();
  // Gives everything back. When the server has stopped.
  void Resign();
  absl::Status failure() const;

 private:
  static std::size_t At(int shard) { return static_cast<std::size_t>(shard); }
  bool MayStand(int shard) {
    // Asked each time: it remembers since when nobody leads.
    const bool stands = stand_back_.MayStand(shard, clock_.Now());
    return stands && (council_ == nullptr || council_->MayStand(shard));
  }
  EtcdStoreOptions StoreOptions(int shard, const Leader& self, OperatorWord word);
  ShardDirectorOptions DirectorOptions(const Leader& self) const;

  const Config& config_;
  const int shards_;
  const Logger& logger_;
  const Clock& clock_;
  StandBack stand_back_;
  // Of all shards; null without.
  std::shared_ptr<EtcdRounds> rounds_;
  std::shared_ptr<EtcdBoard> board_;
  std::vector<std::unique_ptr<Leadership>> leaderships_;
  std::vector<std::unique_ptr<ReignLoop>> loops_;
  std::unique_ptr<ShardCouncil> council_;  // null without shards
  std::atomic<bool> ready_ = false;
};

EtcdStoreOptions Elections::StoreOptions(int shard, const Leader& self, OperatorWord word) {
  EtcdStoreOptions store;
  store.prefix = config_.etcd.prefix;
  store.shard = shard;
  store.shards = shards_;
  store.lease = config_.etcd.lease;
  store.word = word;
  store.self = self;
  store.rounds = rounds_;
  store.board = board_;
  const std::string which = shards_ == 1 ? "" : absl::StrCat("shard ", shard, ": ");
  store.on_trouble = [this, which](const std::string& line) {
    logger_.Warning(absl::StrCat(which, line));
  };
  store.may_stand = [this, shard] { return MayStand(shard); };
  return store;
}

ShardDirectorOptions Elections::DirectorOptions(const Leader& self) const {
  ShardDirectorOptions options;
  options.self = self.id;
  options.shards = shards_;
  // So long a controller may be away without being missed.
  options.settle = config_.etcd.lease;
  return options;
}

void Elections::Start(Server& server, Books& books, OperatorWord word) {
  const Leader self = SelfOf(config_, server);
  const EtcdFactory make_etcd = FactoryOf(config_, clock_);
  if (shards_ > 1) {
    rounds_ = std::make_shared<EtcdRounds>(make_etcd());
    board_ = std::make_shared<EtcdBoard>(shards_);
    council_ = std::make_unique<ShardCouncil>(
        std::make_unique<EtcdMembers>(config_.etcd.prefix, shards_, self, config_.etcd.lease,
                                      make_etcd(), clock_),
        DirectorOptions(self), board_,
        [this](int shard) { loops_[At(shard)]->HandOver(ReignLoop::Reason::kUneven); }, clock_);
  }
  for (int shard = 0; shard < shards_; ++shard) {
    leaderships_.push_back(MakeEtcdLeadership(StoreOptions(shard, self, word), make_etcd, clock_,
                                              Random::FromEntropy()));
    const ReignLoop::Parts parts = {
        .shard = shard,
        .shards = shards_,
        .begin = [&books, shard](const StoreState& state) { return books.Begin(shard, state); },
        .end = [&books, shard] { books.End(shard); },
        .api = self.api};
    loops_.push_back(
        std::make_unique<ReignLoop>(*leaderships_.back(), server, parts, logger_, clock_));
  }
  ready_ = true;
  for (const auto& loop : loops_) loop->Start();
  if (council_ != nullptr) council_->Start();
}

// It gives up all that it leads: what keeps agents from one shard keeps them from all. First it
// stands back, so that it does not win what it gives up.
void Elections::Hear(Hearing hearing) {
  if (hearing == Hearing::kHeardAgain) {
    stand_back_.Heard();
    return logger_.Info("agents are heard again: this controller stands as others do");
  }
  stand_back_.Unheard(clock_.Now());
  const ReignLoop::Reason reason =
      hearing == Hearing::kUnheard ? ReignLoop::Reason::kUnheard : ReignLoop::Reason::kStillUnheard;
  for (const auto& loop : loops_) loop->HandOver(reason);
}

void Elections::Stop() {
  // First of all, so that others stand at once for what is given up.
  if (council_ != nullptr) council_->Stop();
  for (const auto& loop : loops_) loop->AskToStop();
  for (const auto& loop : loops_) loop->Stop();
}

// All at the same time: each may have to wait for an etcd that does not answer.
void Elections::Resign() {
  std::vector<std::thread> threads;
  for (const auto& loop : loops_) threads.emplace_back([&loop = *loop] { loop.Resign(); });
  for (std::thread& thread : threads) thread.join();
}

absl::Status Elections::failure() const {
  for (const auto& loop : loops_) {
    if (absl::Status failure = loop->failure(); !failure.ok()) return failure;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunElected(const Config& config, const RunOptions& options,
                        const ServiceNotifier& service, const Logger& logger, const Clock& clock) {
  RunningAccess access(config, logger);
  const ConfigSource source(config, options.config_name, options.load, options.parse, access,
                            logger);
  Books books(config, options, source, logger, clock);
  Elections elections(config, logger, clock);
  ServerOptions server_options = ServerOptionsOf(config, books.all(), logger);
  server_options.shards = config.etcd.shards;
  server_options.shard_operations = books.all().all();
  server_options.leader = [&elections](int shard) { return elections.leader(shard); };
  server_options.on_deposed = [&elections](int shard, const std::string& why,
                                           std::optional<Epoch> seen) {
    elections.Deposed(shard, why, seen);
  };
  server_options.on_hearing = [&elections](Hearing hearing) { elections.Hear(hearing); };
  server_options.unheard_after = UnheardAfter(config.core);
  server_options.hold_max = config.core.hold_max;
  Server server(server_options, clock);
  access.Attach(server);
  if (absl::Status started = StartServer(server); !started.ok()) return started;
  elections.Start(server, books, options.word);
  LogStart(config, server, logger);
  const absl::Status served = Serve(
      config, options, server, access, [&elections] { return elections.failure(); }, service,
      logger, clock);
  elections.Stop();
  server.Stop();
  elections.Resign();
  return served;
}

}  // namespace plimsoll
