#include "plimsoll/store/etcd_members.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/store/src/etcd_values.h"

namespace plimsoll {
namespace {

using internal::EtcdKeys;

// etcd makes no shorter ones.
constexpr absl::Duration kLeaseMin = absl::Seconds(2);

std::string ShardsKey(const std::string& prefix) { return prefix + "/shards"; }
std::string MembersKey(const std::string& prefix) { return prefix + "/member/"; }
std::string AllShardsKey(const std::string& prefix) { return prefix + "/shard/"; }

EtcdRange Below(const std::string& start, bool keys_only) {
  EtcdRange range{.key = start, .end = EtcdKeys::EndOf(start)};
  range.keys_only = keys_only;
  range.limit = keys_only ? 1 : 0;
  return range;
}

absl::Status OtherNumber(const std::string& prefix, const std::string& found, int shards) {
  return absl::FailedPreconditionError(
      absl::StrCat("etcd: the log below ", prefix, " was made for ", found,
                   ", and state.etcd.shards says ", shards,
                   ": the number is fixed when a log is made, since dependencies would be found in "
                   "other shards. Set state.etcd.shards to that, or another state.etcd.prefix"));
}

// Of what lies there already.
absl::Status Judge(const std::string& prefix, int shards, const EtcdTxnResult& found) {
  const std::vector<EtcdKeyValue>& said = found.ranges[0].kvs;
  const bool one = !found.ranges[1].kvs.empty();
  const bool several = !found.ranges[2].kvs.empty();
  int number = 0;
  if (!said.empty()) {
    if (!absl::SimpleAtoi(said[0].value, &number)) {
      return OtherNumber(prefix, absl::StrCat("'", said[0].value, "' shards"), shards);
    }
    if (number == shards) return absl::OkStatus();
    return OtherNumber(prefix, absl::StrCat(number, " shards"), shards);
  }
  if (several) {
    return absl::FailedPreconditionError(
        absl::StrCat("etcd: there are shards below ", prefix, ", and the key ", ShardsKey(prefix),
                     " that says how many is missing: put it back, with the number that it had"));
  }
  if (one && shards > 1) return OtherNumber(prefix, "one shard", shards);
  return absl::OkStatus();
}

}  // namespace

std::string ShardPrefix(const std::string& prefix, int shard, int shards) {
  return shards == 1 ? prefix : absl::StrCat(AllShardsKey(prefix), shard);
}

absl::Status CheckShards(Etcd& etcd, const std::string& prefix, int shards) {
  const EtcdKeys keys(prefix);
  EtcdTxn look;
  look.success = {EtcdRange{.key = ShardsKey(prefix)},
                  EtcdRange{.key = keys.Epoch(), .limit = 1, .keys_only = true},
                  Below(AllShardsKey(prefix), true)};
  const absl::StatusOr<EtcdTxnResult> found = etcd.Txn(look);
  if (!found.ok()) return found.status();
  if (found->ranges.size() != 3) return absl::InternalError("etcd: not all ranges were answered");
  if (absl::Status judged = Judge(prefix, shards, *found); !judged.ok()) return judged;
  if (shards == 1 || !found->ranges[0].kvs.empty()) return absl::OkStatus();
  EtcdTxn make;
  make.compare = {{ShardsKey(prefix), EtcdCompare::Target::kCreateRevision, 0},
                  {keys.Epoch(), EtcdCompare::Target::kCreateRevision, 0}};
  make.success = {EtcdPut{ShardsKey(prefix), absl::StrCat(shards)}};
  const absl::StatusOr<EtcdTxnResult> made = etcd.Txn(make);
  if (!made.ok()) return made.status();
  if (made->succeeded) return absl::OkStatus();
  return absl::UnavailableError("etcd: another controller has just made this log");
}

EtcdMembers::EtcdMembers(std::string prefix, int shards, Leader self, absl::Duration lease,
                         std::unique_ptr<Etcd> etcd, const Clock& clock)
    : prefix_(std::move(prefix)),
      shards_(shards),
      self_(std::move(self)),
      lease_time_(std::max(kLeaseMin, absl::Trunc(lease * 0.75, absl::Seconds(1)))),
      etcd_(std::move(etcd)),
      clock_(clock) {}

absl::Status EtcdMembers::Join() {
  const absl::StatusOr<std::int64_t> lease = etcd_->Grant(lease_time_);
  if (!lease.ok()) return lease.status();
  lease_ = *lease;
  EtcdTxn put;
  put.success = {EtcdPut{MembersKey(prefix_) + self_.id, internal::EncodeLeader(self_), lease_}};
  return etcd_->Txn(put).status();
}

absl::Status EtcdMembers::KeepAlive() {
  const Instant now = clock_.Now();
  if (lease_ != 0 && now < renew_at_) return absl::OkStatus();
  absl::Status kept;
  if (lease_ != 0) kept = etcd_->KeepAlive(lease_).status();
  if (absl::IsNotFound(kept)) lease_ = 0;
  if (lease_ == 0) {
    kept = Join();
    // Whether the key is there is not known: with a new lease it will be.
    if (!kept.ok()) lease_ = 0;
  }
  if (kept.ok()) renew_at_ = now + lease_time_ / 4;
  return kept;
}

absl::StatusOr<std::vector<EtcdRangeResult>> EtcdMembers::Read(
    const std::vector<EtcdRange>& ranges) {
  std::vector<EtcdRangeResult> results;
  while (results.size() < ranges.size()) {
    const std::size_t end = std::min(ranges.size(), results.size() + kEtcdOpsMax);
    EtcdTxn txn;
    for (std::size_t i = results.size(); i < end; ++i) txn.success.push_back(ranges[i]);
    absl::StatusOr<EtcdTxnResult> found = etcd_->Txn(txn);
    if (!found.ok()) return found.status();
    if (found->ranges.size() != txn.success.size()) {
      return absl::InternalError("etcd: not all ranges were answered");
    }
    std::move(found->ranges.begin(), found->ranges.end(), std::back_inserter(results));
  }
  return results;
}

absl::StatusOr<EtcdClusterView> EtcdMembers::Look() {
  EtcdClusterView view;
  view.joined = KeepAlive();
  if (absl::IsUnavailable(view.joined)) return view.joined;
  std::vector<EtcdRange> ranges = {Below(MembersKey(prefix_), false)};
  for (int shard = 0; shard < shards_; ++shard) {
    ranges.push_back(SightRange(ShardPrefix(prefix_, shard, shards_)));
  }
  const absl::StatusOr<std::vector<EtcdRangeResult>> found = Read(ranges);
  if (!found.ok()) return found.status();
  ReadMembers(found->front(), view);
  for (int shard = 0; shard < shards_; ++shard) {
    view.shards.push_back(ReadSight(ShardPrefix(prefix_, shard, shards_),
                                    (*found)[static_cast<std::size_t>(shard) + 1]));
  }
  return view;
}

void EtcdMembers::ReadMembers(const EtcdRangeResult& range, EtcdClusterView& view) {
  for (const EtcdKeyValue& kv : range.kvs) {
    absl::StatusOr<Leader> member = internal::DecodeLeader(kv.value);
    if (member.ok()) view.members.push_back(*std::move(member));
  }
  const bool there = std::any_of(view.members.begin(), view.members.end(),
                                 [this](const Leader& member) { return member.id == self_.id; });
  // The lease has ended, while this process was stopped: the next look joins anew.
  if (!there) lease_ = 0;
}

void EtcdMembers::Leave() {
  // It ends by itself if this fails.
  if (lease_ != 0) static_cast<void>(etcd_->Revoke(std::exchange(lease_, 0)));
}

}  // namespace plimsoll
