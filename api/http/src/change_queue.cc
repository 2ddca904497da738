#include "api/http/src/change_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

void RefuseUnwritten(const absl::Status& written, ChangePlan& plan) {
  plan.status = 503;
  plan.code = "STORE_UNAVAILABLE";
  plan.detail = absl::StrCat("nothing has changed, because it could not be made durable: ",
                             std::string(written.message()));
}

}  // namespace

void ChangeQueue::Submit(ChangeRequest request, Done done) {
  waiting_.push_back({std::move(request), std::move(done)});
  if (!busy_) Next();
}

void ChangeQueue::Tick() {
  if (busy_) return;
  std::optional<ChangePlan> plan = operations_.Expire(clock_.WallTime());
  if (!plan.has_value()) return;
  busy_ = true;
  Carry(std::make_shared<ChangePlan>(*std::move(plan)), [](const ChangePlan& /*plan*/) {});
}

void ChangeQueue::Next() {
  if (waiting_.empty()) return;
  busy_ = true;
  Change change = std::move(waiting_.front());
  waiting_.pop_front();
  Carry(std::make_shared<ChangePlan>(operations_.Plan(change.request, clock_.WallTime())),
        std::move(change.done));
}

void ChangeQueue::Carry(std::shared_ptr<ChangePlan> plan, Done done) {
  const auto settle = [this, plan, done = std::move(done),
                       generation = generation_](const absl::Status& written) {
    if (generation != generation_) {
      RefuseUnwritten(absl::FailedPreconditionError("leadership has changed meanwhile"), *plan);
      return Finish(plan, done);
    }
    operations_.Settle(written);
    if (!written.ok() && !plan->regardless) {
      RefuseUnwritten(written, *plan);
      return Finish(plan, done);
    }
    if (plan->events.empty()) return Finish(plan, done);
    host_.Tell(std::move(plan->events), [this, plan, done] { Finish(plan, done); });
  };
  if (plan->batch.empty()) return settle(absl::OkStatus());
  host_.Commit(std::move(plan->batch), settle);
}

void ChangeQueue::Finish(const std::shared_ptr<ChangePlan>& plan, const Done& done) {
  busy_ = false;
  done(*plan);
  if (!busy_) Next();
}

}  // namespace plimsoll::internal
