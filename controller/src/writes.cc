// What must be durable before it is sent, and what else the store is told.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/src/core_impl.h"
#include "plimsoll/core/check.h"

namespace plimsoll {

using internal::BoundValue;

namespace {

// Lowered bounds that no raise takes along are written after this long: it only frees what a
// successor would otherwise have to wait for.
constexpr absl::Duration kFlushAfter = absl::Seconds(30);
constexpr absl::Duration kFlushSoon = absl::Seconds(1);

}  // namespace

bool Core::Impl::IsDurable(const SessionState& session) const {
  return std::all_of(session.dependencies.begin(), session.dependencies.end(),
                     [&](const Membership& joined) {
                       const DependencyState& dependency = *joined.dependency;
                       const auto wanted = WantedBound(dependency, session.id);
                       return !wanted.has_value() ||
                              durable_.Covers({dependency.policy.name, session.id}, *wanted);
                     });
}

bool Core::Impl::NeedsWrite(const Event& event) const {
  if (writing_ || deposed_ || successor_.has_value()) return false;
  // A failing store is asked once a tick.
  if (!store_ok_ && !std::holds_alternative<TickEvent>(event)) return false;
  if (!unwritten_.empty() || extra_.learned || extra_.new_epoch.has_value()) return true;
  const std::optional<Instant> touched = durable_.touched_at();
  const absl::Duration flush_after = now_ < hasty_until_ ? kFlushSoon : kFlushAfter;
  return touched.has_value() && (!store_ok_ || now_ - *touched >= flush_after);
}

void Core::Impl::StartWrite() {
  internal::DurableBounds::Write write;
  if (extra_.new_epoch.has_value()) {
    while (!unwritten_.empty()) write.sessions.push_back(unwritten_.Pop());
  } else {
    write = durable_.Start(
        [this](const BoundKey& key) { return WantedBound(key); },
        [this](const BoundKey& key, const BoundValue& value) { return Named(key, value); },
        unwritten_);
  }
  WriteBatch& batch = write.batch;
  extra_under_way_ = std::exchange(extra_, {});
  batch.learned = extra_under_way_.learned;
  batch.new_epoch = extra_under_way_.new_epoch;
  batch.longest_hold = extra_under_way_.longest_hold;
  if (batch.empty()) {
    for (const SessionId& id : write.sessions) SendPrepared(sessions_.at(id));
    return;
  }
  writing_ = true;
  last_write_ = WriteId(last_write_.value + 1);
  ++writes_total_;
  for (const SessionId& id : write.sessions) sessions_.at(id).prepared->write = last_write_;
  covered_ = std::move(write.sessions);
  write_confirms_ = AwaitConfirmation();
  // Before the answers, which take time to encode: the disk works meanwhile.
  actions_.insert(actions_.begin(), WriteAction{last_write_, std::move(batch)});
}

void Core::Impl::On(const WrittenEvent& event) {
  PLIMSOLL_CHECK(event.write == last_write_, "writes end in order, each once");
  if (deposed_) return;
  if (absl::IsFailedPrecondition(event.status)) return Depose(std::string(event.status.message()));
  const bool ok = event.status.ok();
  writing_ = false;
  if (durable_.writing()) durable_.Finish(ok, now_);
  FinishExtra(ok);
  if (ok != store_ok_) {
    Log(ok ? EventType::kStoreRecovered : EventType::kStoreFailed, nullptr, DependencyId(),
        ok ? "The store works again."
           : absl::StrCat("The store failed, no limit is raised until it works: ",
                          std::string(event.status.message())));
  }
  store_ok_ = ok;
  if (!ok) ++write_failures_total_;
  for (const SessionId& id : std::exchange(covered_, {})) {
    SessionState* const found = sessions_.Find(id);
    if (found == nullptr || !found->prepared.has_value()) continue;
    SessionState& session = *found;
    if (session.prepared->write != event.write) continue;  // a newer sync has taken its place
    if (ok) {
      SendPrepared(session);
    } else {
      session.prepared->write.reset();
      unwritten_.Insert(id);
    }
  }
  if (ok) ConfirmByWrite();
}

// What failed is asked for again with the next write.
void Core::Impl::FinishExtra(bool ok) {
  const WriteBatch done = std::exchange(extra_under_way_, {});
  if (ok) {
    successor_ = done.new_epoch;
    durable_longest_hold_ =
        std::max(durable_longest_hold_, done.longest_hold.value_or(absl::ZeroDuration()));
    return;
  }
  extra_.learned = extra_.learned || done.learned;
  if (!extra_.new_epoch.has_value()) extra_.new_epoch = done.new_epoch;
  if (longest_hold_ > durable_longest_hold_) extra_.longest_hold = longest_hold_;
}

std::optional<BoundValue> Core::Impl::WantedBound(const BoundKey& key) const {
  const auto dependency = dependencies_.find(key.dependency);
  if (dependency == dependencies_.end()) return std::nullopt;
  return WantedBound(dependency->second, key.session);
}

std::optional<BoundValue> Core::Impl::WantedBound(const DependencyState& dependency,
                                                  const SessionId& session) const {
  const std::optional<Steps> steps = dependency.ledger.Bound(session);
  if (!steps.has_value() || *steps == Steps{}) return std::nullopt;
  const internal::LedgerTerms terms = dependency.ledger.Terms();
  return BoundValue{*steps, terms.lease, terms.base_lease, terms.call_deadline};
}

Bound Core::Impl::Named(const BoundKey& key, const BoundValue& value) const {
  const SessionState& session = sessions_.at(key.session);
  return {key,         session.service, session.instance, session.unique,
          value.steps, value.lease,     value.base_lease, value.call_deadline};
}

void Core::Impl::Touch(const DependencyId& dependency, const SessionId& session) {
  durable_.Touch({dependency, session}, now_);
}

}  // namespace plimsoll
