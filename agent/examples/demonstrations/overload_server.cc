#include "agent/examples/demonstrations/overload_server.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "plimsoll/core/clock.h"

namespace plimsoll::demonstrations {
namespace {

constexpr auto kEndsLater = [](const auto& a, const auto& b) { return a.ends > b.ends; };

}  // namespace

QueueServer::QueueServer(const ServerModel& model, std::uint64_t seed,
                         std::function<void(Job)> done)
    : model_(model),
      done_(std::move(done)),
      random_(seed),
      free_at_(static_cast<std::size_t>(model.servers)),
      thread_([this] { Work(); }) {}

QueueServer::~QueueServer() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyOne();
  }
  thread_.join();
  const MutexLock lock(mutex_);
  for (Running& running : running_) {
    if (running.job.permit) running.job.permit->Ignore();
  }
}

void QueueServer::Submit(Job job) {
  const MutexLock lock(mutex_);
  Instant& server = *std::min_element(free_at_.begin(), free_at_.end());
  const double seconds = random_.Exponential(absl::ToDoubleSeconds(model_.mean_service));
  server = std::max(server, RealClock().Now()) + absl::Seconds(seconds);
  running_.push_back({server, std::move(job)});
  std::push_heap(running_.begin(), running_.end(), kEndsLater);
  changed_.NotifyOne();
}

void QueueServer::Work() {
  while (std::optional<Job> job = NextEnded()) done_(*std::move(job));
}

std::optional<Job> QueueServer::NextEnded() {
  const MutexLock lock(mutex_);
  while (!closed_) {
    if (running_.empty()) {
      changed_.Wait(mutex_);
      continue;
    }
    const absl::Duration left = running_.front().ends - RealClock().Now();
    if (left <= absl::ZeroDuration()) {
      std::pop_heap(running_.begin(), running_.end(), kEndsLater);
      std::optional<Job> job(std::move(running_.back().job));
      running_.pop_back();
      return job;
    }
    changed_.WaitFor(mutex_, left);
  }
  return std::nullopt;
}

}  // namespace plimsoll::demonstrations
