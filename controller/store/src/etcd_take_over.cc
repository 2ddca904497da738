#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/src/etcd_values.h"
#include "plimsoll/core/check.h"
#include "plimsoll/store/etcd_plan.h"

namespace plimsoll {
namespace {

using internal::EtcdKeys;
using internal::EtcdMeta;

// Of bounds and documents, a few hundred bytes each.
constexpr std::int64_t kPageSize = 1000;

// The ranges of a look, in order.
enum LookRange { kLookLeader, kLookEpoch, kLookLogId, kLookAll, kLookAudit, kLookRanges };

void ReadEpoch(const EtcdRangeResult& range, EtcdLook& look) {
  if (range.kvs.empty()) return;
  look.epoch_revision = range.kvs[0].mod_revision;
  const absl::StatusOr<EtcdMeta> meta = internal::DecodeMeta(range.kvs[0].value);
  if (!meta.ok()) {
    look.fault = absl::StrCat(range.kvs[0].key, " ", std::string(meta.status().message()));
    return;
  }
  look.epoch = meta->epoch;
  look.lost = meta->lost;
  look.longest_hold = meta->longest_hold;
}

Leader LeaderIn(const std::string& value) {
  return internal::DecodeLeader(value).value_or(Leader{"unknown", "", ""});
}

}  // namespace

EtcdTxn LookTxn(const std::string& prefix) {
  const EtcdKeys keys(prefix);
  EtcdTxn txn;
  txn.success = {
      EtcdRange{.key = keys.Leader()}, EtcdRange{.key = keys.Epoch()},
      EtcdRange{.key = keys.LogId()},
      EtcdRange{
          .key = keys.All(), .end = EtcdKeys::EndOf(keys.All()), .limit = 1, .keys_only = true},
      EtcdRange{.key = keys.Audits(),
                .end = EtcdKeys::EndOf(keys.Audits()),
                .limit = 1,
                .descending = true,
                .keys_only = true}};
  return txn;
}

absl::StatusOr<EtcdLook> ReadLook(const std::string& prefix, const EtcdTxnResult& result) {
  if (result.ranges.size() != kLookRanges) {
    return absl::InternalError("etcd: an answer to a look has another number of ranges");
  }
  const EtcdKeys keys(prefix);
  EtcdLook look;
  const EtcdRangeResult& leader = result.ranges[kLookLeader];
  if (!leader.kvs.empty()) {
    look.leader = LeaderIn(leader.kvs[0].value);
  }
  ReadEpoch(result.ranges[kLookEpoch], look);
  const EtcdRangeResult& log_id = result.ranges[kLookLogId];
  if (!log_id.kvs.empty()) look.log_id = log_id.kvs[0].value;
  look.empty = result.ranges[kLookAll].kvs.empty();
  const EtcdRangeResult& audit = result.ranges[kLookAudit];
  if (!audit.kvs.empty()) look.audits = keys.AuditNumber(audit.kvs[0].key).value_or(0);
  return look;
}

// No other key lies between these three: epoch, leader, log_id.
EtcdRange SightRange(const std::string& prefix) {
  const EtcdKeys keys(prefix);
  return {.key = keys.Epoch(), .end = EtcdKeys::EndOf(keys.LogId())};
}

EtcdSight ReadSight(const std::string& prefix, const EtcdRangeResult& range) {
  const EtcdKeys keys(prefix);
  EtcdSight sight;
  for (const EtcdKeyValue& kv : range.kvs) {
    if (kv.key == keys.Leader()) sight.leader = LeaderIn(kv.value);
    if (kv.key == keys.LogId()) sight.log_id = kv.value;
    if (kv.key != keys.Epoch()) continue;
    const absl::StatusOr<EtcdMeta> meta = internal::DecodeMeta(kv.value);
    if (meta.ok()) sight.epoch = meta->epoch;
  }
  return sight;
}

EtcdTakeOver::EtcdTakeOver(const EtcdLook& look, EtcdTakeOverOptions options)
    : options_(std::move(options)), epoch_revision_(look.epoch_revision) {
  PLIMSOLL_CHECK(!look.leader.has_value(), "who leads is not overthrown");
  start_.prefix = options_.prefix;
  start_.audits = look.audits;
  start_.log_id = look.log_id.empty() ? options_.fresh_log_id : look.log_id;
  writes_log_id_ = look.log_id.empty();
  start_.state.exclusive = false;
  start_.state.longest_hold = look.longest_hold;
  Judge(look);
}

// What is missing, or older than what this process has seen, is never taken for whole. Only what
// nobody has ever used is new.
void EtcdTakeOver::Judge(const EtcdLook& look) {
  const EtcdMemory& memory = options_.memory;
  const bool used = !look.empty || !memory.log_id.empty() || memory.epoch > 0;
  std::string why;
  if (!used) {
    start_.state.condition = StoreCondition::kNew;
  } else if (!look.fault.empty()) {
    why = look.fault;
  } else if (look.log_id.empty()) {
    why = absl::StrCat("the key ", EtcdKeys(options_.prefix).LogId(), " is missing");
  } else if (!memory.log_id.empty() && memory.log_id != look.log_id) {
    why = absl::StrCat("etcd holds log ", look.log_id, ", and this controller knows log ",
                       memory.log_id);
  } else if (look.epoch < memory.epoch) {
    why = absl::StrCat("etcd knows epoch ", look.epoch, ", and there was an epoch ", memory.epoch);
  } else {
    why = look.lost;
  }
  if (options_.word == OperatorWord::kTrust) why.clear();
  if (options_.word == OperatorWord::kLost) why = "The operator declared the store lost";
  if (!why.empty()) Lose(why);
  const bool knows_all = used && why.empty() && options_.word == OperatorWord::kNone;
  std::int64_t epoch = std::max(look.epoch, memory.epoch) + 1;
  // Otherwise there may have been reigns that etcd does not know.
  if (!knows_all) epoch = std::max(epoch, options_.first_epoch);
  start_.state.epoch = Epoch(std::max<std::int64_t>(epoch, 1));
}

void EtcdTakeOver::Lose(const std::string& why) {
  start_.lost = why;
  start_.state.why = why;
  start_.state.condition = StoreCondition::kLost;
  start_.state.bounds.clear();
}

std::optional<EtcdTakeOver::Request> EtcdTakeOver::Next() const {
  const EtcdKeys keys(options_.prefix);
  switch (phase_) {
    case Phase::kTake:
      return TakeTxn();
    case Phase::kBounds:
      return Page(keys.Bounds());
    case Phase::kMark:
      return MarkTxn();
    case Phase::kDocuments:
      return Page(keys.Documents());
    case Phase::kDone:
      break;
  }
  return std::nullopt;
}

EtcdTxn EtcdTakeOver::TakeTxn() const {
  const EtcdKeys keys(options_.prefix);
  const EtcdMeta meta{start_.state.epoch.value, start_.lost, start_.state.longest_hold};
  EtcdTxn txn;
  txn.compare = {{keys.Leader(), EtcdCompare::Target::kCreateRevision, 0},
                 {keys.Epoch(), EtcdCompare::Target::kModRevision, epoch_revision_}};
  txn.success = {EtcdPut{keys.Leader(), internal::EncodeLeader(options_.self), options_.lease},
                 EtcdPut{keys.Epoch(), internal::EncodeMeta(meta)},
                 EtcdPut{keys.Writes(), absl::StrCat(start_.writes)}};
  if (writes_log_id_) txn.success.push_back(EtcdPut{keys.LogId(), start_.log_id});
  if (!start_.lost.empty()) {
    txn.success.push_back(EtcdDelete{keys.Bounds(), EtcdKeys::EndOf(keys.Bounds())});
  }
  return txn;
}

// Under the guard of a reign that has begun: its first write.
EtcdTxn EtcdTakeOver::MarkTxn() const {
  const EtcdKeys keys(options_.prefix);
  const EtcdMeta meta{start_.state.epoch.value, start_.lost, start_.state.longest_hold};
  EtcdTxn txn;
  txn.compare = {{keys.Leader(), EtcdCompare::Target::kCreateRevision, start_.token},
                 {keys.Writes(), EtcdCompare::Target::kValue, 0, absl::StrCat(start_.writes)}};
  txn.success = {EtcdPut{keys.Epoch(), internal::EncodeMeta(meta)},
                 EtcdPut{keys.Writes(), absl::StrCat(start_.writes + 1)},
                 EtcdDelete{keys.Bounds(), EtcdKeys::EndOf(keys.Bounds())}};
  return txn;
}

EtcdRange EtcdTakeOver::Page(const std::string& start) const {
  return {.key = from_.empty() ? start : from_,
          .end = EtcdKeys::EndOf(start),
          .limit = kPageSize,
          .revision = at_revision_};
}

void EtcdTakeOver::On(const absl::StatusOr<EtcdTxnResult>& result) {
  if (!result.ok()) return End(result.status());
  if (!result->succeeded) {
    return End(phase_ == Phase::kTake
                   ? absl::AbortedError("another controller took over first")
                   : absl::UnavailableError("leadership was lost while taking over"));
  }
  if (phase_ == Phase::kMark) {
    ++start_.writes;
    phase_ = Phase::kDocuments;
    return;
  }
  start_.token = result->revision;
  phase_ = start_.lost.empty() ? Phase::kBounds : Phase::kDocuments;
}

void EtcdTakeOver::On(const absl::StatusOr<EtcdRangeResult>& result) {
  if (absl::IsOutOfRange(result.status())) {
    // The revision of the first page has been compacted away: from the start, as of now.
    from_.clear();
    at_revision_ = 0;
    (phase_ == Phase::kBounds ? void(start_.state.bounds.clear())
                              : void(start_.state.documents.clear()));
    return;
  }
  if (!result.ok()) return End(result.status());
  ReadPage(*result);
}

void EtcdTakeOver::ReadPage(const EtcdRangeResult& page) {
  // Each page tells the revision that there is when it is read.
  if (at_revision_ == 0) at_revision_ = page.revision;
  for (const EtcdKeyValue& kv : page.kvs) {
    if (phase_ == Phase::kDocuments) {
      absl::StatusOr<Document> document = internal::DecodeDocument(kv.value);
      if (document.ok()) start_.state.documents.push_back(*std::move(document));
    } else if (!ReadBound(kv)) {
      phase_ = Phase::kMark;
      break;
    }
  }
  const bool more = page.more && !page.kvs.empty() && phase_ != Phase::kMark;
  // The smallest key that is larger.
  from_ = more ? page.kvs.back().key + std::string(1, '\0') : "";
  if (more) return;
  at_revision_ = 0;
  if (phase_ == Phase::kDocuments) End(absl::OkStatus());
  if (phase_ == Phase::kBounds) phase_ = Phase::kDocuments;
}

bool EtcdTakeOver::ReadBound(const EtcdKeyValue& kv) {
  absl::StatusOr<Bound> bound = internal::DecodeBound(kv.value);
  std::string fault;
  if (!bound.ok()) {
    fault = std::string(bound.status().message());
  } else if (EtcdKeys(options_.prefix).Of(bound->key) != kv.key) {
    fault = "says that it belongs elsewhere";
  }
  if (fault.empty()) {
    start_.state.bounds.push_back(*std::move(bound));
    return true;
  }
  Lose(absl::StrCat("the value of ", kv.key, " ", fault));
  return false;
}

// Bounds and documents are in the order of their escaped keys.
void EtcdTakeOver::End(absl::Status outcome) {
  phase_ = Phase::kDone;
  outcome_ = std::move(outcome);
  StoreState& state = start_.state;
  std::sort(state.bounds.begin(), state.bounds.end(),
            [](const Bound& a, const Bound& b) { return a.key < b.key; });
  std::sort(state.documents.begin(), state.documents.end(),
            [](const Document& a, const Document& b) { return a.key < b.key; });
}

}  // namespace plimsoll
