#include "plimsoll/store/sqlite_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/src/store_directory.h"

namespace plimsoll {
namespace {

using internal::InTransaction;
using internal::MetaRow;
using internal::RowWriter;
using internal::StoreDirectory;

// Thread-compatible.
class SqliteStore final : public Store {
 public:
  SqliteStore(std::int64_t first_epoch, OperatorWord word, StoreDirectory directory,
              RowWriter writer)
      : first_epoch_(first_epoch),
        word_(word),
        last_epoch_(directory.last_epoch),
        longest_hold_us_(directory.longest_hold_us),
        found_lost_(std::move(directory.lost)),
        lock_(std::move(directory.lock)),
        witness_(std::move(directory.witness)),
        database_(std::move(directory.database)),
        writer_(std::move(writer)) {}

  absl::StatusOr<StoreState> TakeOver() override;
  absl::Status Commit(const WriteBatch& batch) override;
  absl::StatusOr<std::vector<std::string>> ReadAudit(int limit) override {
    return internal::ReadAudit(database_, limit);
  }

 private:
  std::string WhyLost(const MetaRow& meta) const;
  absl::Status Begin(StoreState& state, MetaRow& meta);
  absl::Status Witnessed(const MetaRow& meta);
  absl::Status WriteAll(const WriteBatch& batch, const MetaRow& meta);
  // The row as it is once the batch is written.
  MetaRow After(const WriteBatch& batch) const;

  const std::int64_t first_epoch_;
  const OperatorWord word_;
  std::int64_t last_epoch_;
  const std::int64_t longest_hold_us_;
  std::string found_lost_;
  // In this order, so that the database is closed while the lock is still held.
  const DirectoryLock lock_;
  internal::Witness witness_;
  const SqliteDatabase database_;
  RowWriter writer_;
  MetaRow meta_;  // as it was written last
  bool reigns_ = false;
};

std::string SqliteStore::WhyLost(const MetaRow& meta) const {
  if (word_ == OperatorWord::kTrust) return "";
  if (word_ == OperatorWord::kLost) return "The operator declared the store lost";
  return meta.lost.empty() ? found_lost_ : meta.lost;
}

absl::Status SqliteStore::Begin(StoreState& state, MetaRow& meta) {
  absl::StatusOr<MetaRow> found = internal::ReadMeta(database_);
  if (!found.ok()) return found.status();
  meta = *std::move(found);
  const bool unused = meta.epoch == 0;
  meta.lost = WhyLost(meta);
  state.why = meta.lost;
  meta.longest_hold_us = std::max(meta.longest_hold_us, longest_hold_us_);
  state.longest_hold = internal::FromMicroseconds(meta.longest_hold_us);
  if (!meta.lost.empty()) {
    state.condition = StoreCondition::kLost;
    if (absl::Status erased = writer_.EraseAll(); !erased.ok()) return erased;
  } else {
    state.condition = unused ? StoreCondition::kNew : StoreCondition::kWhole;
    absl::StatusOr<std::vector<Bound>> bounds = internal::ReadBounds(database_);
    if (!bounds.ok()) return bounds.status();
    state.bounds = *std::move(bounds);
  }
  absl::StatusOr<std::vector<Document>> documents = internal::ReadDocuments(database_);
  if (!documents.ok()) return documents.status();
  state.documents = *std::move(documents);
  meta.epoch = std::max(last_epoch_, meta.epoch) + 1;
  // Otherwise there may have been reigns that neither database nor witness knows.
  const bool knows_all = !unused && meta.lost.empty() && word_ == OperatorWord::kNone;
  if (!knows_all) meta.epoch = std::max(meta.epoch, first_epoch_);
  state.epoch = Epoch(meta.epoch);
  return writer_.Update(meta);
}

absl::StatusOr<StoreState> SqliteStore::TakeOver() {
  StoreState state;
  MetaRow meta;
  absl::Status done = InTransaction(database_, [&] { return Begin(state, meta); });
  // After the database: a crash in between must not make a whole one look old.
  if (done.ok()) done = witness_.Replace(meta.Record());
  if (!done.ok()) return done;
  last_epoch_ = meta.epoch;
  found_lost_.clear();
  meta_ = std::move(meta);
  reigns_ = true;
  return state;
}

absl::Status SqliteStore::Commit(const WriteBatch& batch) {
  if (!reigns_) {
    return absl::FailedPreconditionError("the store has not been taken over: call TakeOver()");
  }
  if (batch.empty()) return absl::OkStatus();
  if (batch.new_epoch.has_value() && batch.new_epoch->value <= meta_.epoch) {
    return absl::InvalidArgumentError(absl::StrCat("store: epoch ", batch.new_epoch->value,
                                                   " does not follow epoch ", meta_.epoch));
  }
  MetaRow meta = After(batch);
  if (absl::Status witnessed = Witnessed(meta); !witnessed.ok()) return witnessed;
  absl::Status done = InTransaction(database_, [&] { return WriteAll(batch, meta); });
  if (!done.ok()) return done;
  meta_ = std::move(meta);
  witness_.NoteCommits(meta_.commits);
  return done;
}

// Before the database: if that fails, the loss must not be forgotten. The count of writes must not
// run ahead of it, though.
absl::Status SqliteStore::Witnessed(const MetaRow& meta) {
  const bool same = meta.epoch == meta_.epoch && meta.longest_hold_us == meta_.longest_hold_us;
  if (same) return absl::OkStatus();
  internal::WitnessRecord record = meta.Record();
  record.commits = meta_.commits;
  return witness_.Replace(record);
}

MetaRow SqliteStore::After(const WriteBatch& batch) const {
  MetaRow meta = meta_;
  ++meta.commits;
  if (batch.learned) meta.lost.clear();
  if (batch.longest_hold.has_value()) {
    meta.longest_hold_us =
        std::max(meta.longest_hold_us, internal::ToMicroseconds(*batch.longest_hold));
  }
  if (batch.new_epoch.has_value()) {
    meta.epoch = batch.new_epoch->value;
    meta.lost = absl::StrCat("Agents hold grants of a later reign than the store knew (",
                             meta_.epoch, "): it was older than the fleet");
  }
  return meta;
}

absl::Status SqliteStore::WriteAll(const WriteBatch& batch, const MetaRow& meta) {
  if (batch.new_epoch.has_value()) {
    if (absl::Status erased = writer_.EraseAll(); !erased.ok()) return erased;
  }
  for (const BoundKey& key : batch.erase) {
    if (absl::Status erased = writer_.Erase(key); !erased.ok()) return erased;
  }
  for (const Bound& bound : batch.put) {
    if (absl::Status put = writer_.Put(bound); !put.ok()) return put;
  }
  for (const DocumentKey& key : batch.erase_documents) {
    if (absl::Status erased = writer_.Erase(key); !erased.ok()) return erased;
  }
  for (const Document& document : batch.put_documents) {
    if (absl::Status put = writer_.Put(document); !put.ok()) return put;
  }
  if (absl::Status appended = writer_.Append(batch.audit); !appended.ok()) return appended;
  return writer_.Update(meta);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& directory,
                                                       std::int64_t first_epoch,
                                                       OperatorWord word) {
  absl::StatusOr<StoreDirectory> found = internal::OpenStoreDirectory(directory);
  if (!found.ok()) return found.status();
  absl::StatusOr<RowWriter> writer = RowWriter::Make(found->database);
  if (!writer.ok()) return writer.status();
  return std::make_unique<SqliteStore>(first_epoch, word, *std::move(found), *std::move(writer));
}

absl::StatusOr<std::string> InitSqliteStore(const std::string& directory) {
  return internal::InitStoreDirectory(directory);
}

}  // namespace plimsoll
