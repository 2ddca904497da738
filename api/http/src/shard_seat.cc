#include "api/http/src/shard_seat.h"

#include <utility>

#include "api/http/src/countdown.h"

namespace plimsoll::internal {
namespace {

absl::Status NotLeading() { return absl::FailedPreconditionError("this controller does not lead"); }

}  // namespace

ShardSeat::ShardSeat(Parts parts, Core* core, const Clock& clock)
    : parts_(std::move(parts)),
      clock_(clock),
      leads_(core != nullptr),
      epoch_(core == nullptr ? 0 : core->epoch().value),
      driver_(core, clock, Host()) {}

CoreDriver::Host ShardSeat::Host() {
  CoreDriver::Host host;
  host.write = [this](WriteAction action) { core_threads_->writer().Submit(std::move(action)); };
  host.notice = parts_.notice;
  if (!parts_.leader) return host;
  host.confirm = [this](ConfirmAction action) { core_threads_->Submit(action); };
  host.deposed = parts_.deposed;
  host.leader = parts_.leader;
  return host;
}

void ShardSeat::Use(Store& store) {
  core_threads_ = std::make_shared<ReignThreads>(store, clock_, Written(0));
  api_threads_ = core_threads_;
}

void ShardSeat::Lead(std::shared_ptr<Reign> reign, std::function<std::unique_ptr<Core>()> make) {
  parts_.on_api([this, reign = std::move(reign), make = std::move(make)] {
    const std::int64_t number = ++last_reign_;
    auto threads =
        std::make_shared<ReignThreads>(reign, clock_, Written(number), Confirmed(number));
    // What the loops run must be copyable.
    const auto core = std::make_shared<std::unique_ptr<Core>>(make());
    parts_.restart();
    api_threads_ = threads;
    epoch_ = (*core)->epoch().value;
    leads_ = true;
    parts_.on_core([this, number, threads, core] {
      core_threads_ = threads;
      reign_ = number;
      store_answers_ = true;
      driver_.Lead(std::move(*core));
    });
  });
}

void ShardSeat::StandBy(const std::function<void()>& then) {
  // Here, and not on a plane's thread, they are waited for.
  std::shared_ptr<ReignThreads> kept[2];
  Countdown left(2);
  parts_.on_api([this, &then, &kept, &left] {
    leads_ = false;
    kept[0] = std::move(api_threads_);
    parts_.restart();
    then();
    parts_.on_core([this, &kept, &left] {
      reign_ = 0;
      driver_.StandBy();
      kept[1] = std::move(core_threads_);
      left.Done();
    });
    left.Done();
  });
  left.Wait();
}

void ShardSeat::Stop() {
  core_threads_.reset();
  api_threads_.reset();
}

void ShardSeat::Commit(WriteBatch batch, std::function<void(absl::Status)> done) {
  if (api_threads_ == nullptr) {
    parts_.on_api([done = std::move(done)] { done(NotLeading()); });
    return;
  }
  // What waits when the reign ends is not written: `done` says so, and ChangeQueue refuses it.
  api_threads_->writer().Submit(
      std::move(batch), [this, done = std::move(done)](absl::Status status) {
        parts_.on_api([done, status = std::move(status)] { done(status); });
      });
}

void ShardSeat::Tell(std::vector<Event> events, std::function<void()> done) {
  parts_.on_core([this, events = std::move(events), done = std::move(done)] {
    driver_.Tell(events);
    parts_.on_api(done);
  });
}

void ShardSeat::ReadAudit(int limit,
                          std::function<void(absl::StatusOr<std::vector<std::string>>)> then) {
  const auto answer = [this, then = std::move(then)](auto records) {
    parts_.on_api([then, records = std::move(records)] { then(records); });
  };
  if (api_threads_ == nullptr)
    return answer(absl::StatusOr<std::vector<std::string>>(NotLeading()));
  api_threads_->writer().ReadAudit(limit, answer);
}

// What comes of a reign that is over is of no interest to the next.
ReignThreads::Written ShardSeat::Written(std::int64_t number) {
  return [this, number](WriteId write, absl::Status status) {
    parts_.on_core([this, number, write, status = std::move(status)] {
      if (number != reign_) return;
      store_answers_ = status.ok();
      driver_.Written(write, status);
    });
  };
}

Confirmer::Confirmed ShardSeat::Confirmed(std::int64_t number) {
  return [this, number](ConfirmId confirm, absl::Status status) {
    parts_.on_core([this, number, confirm, status = std::move(status)] {
      if (number != reign_) return;
      store_answers_ = status.ok();
      driver_.Confirmed(confirm, status);
    });
  };
}

}  // namespace plimsoll::internal
