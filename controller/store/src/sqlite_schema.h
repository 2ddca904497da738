#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/src/sqlite_database.h"
#include "controller/store/src/witness.h"
#include "plimsoll/controller/store.h"

namespace plimsoll::internal {

// The one row of the table `meta`.
struct MetaRow {
  std::string store_id;      // tells two databases apart
  std::int64_t epoch = 0;    // of the last reign; 0 until the first one begins
  std::int64_t commits = 0;  // batches since the database was made
  std::int64_t longest_hold_us = 0;
  std::string lost;  // why the bounds cannot be trusted yet; empty once they can

  WitnessRecord Record() const { return {store_id, epoch, longest_hold_us, commits}; }
};

// What the file holds, as far as it can be told without changing it.
enum class Contents { kNothing, kVersion1, kVersion2, kCurrent };
// Returns kFailedPrecondition for a file of another program or of a newer version, kDataLoss for a
// damaged one.
absl::StatusOr<Contents> Inspect(const SqliteDatabase& database, const std::string& path);

// Makes commits durable one by one. Call it before anything is written.
absl::Status SetDurability(const SqliteDatabase& database);
// Makes the tables, in one transaction.
absl::Status CreateTables(const SqliteDatabase& database, const std::string& lost);
// Makes tables of version 1 or 2 current, in one transaction.
absl::Status UpgradeTables(const SqliteDatabase& database, Contents contents);

// Runs `write` inside a transaction that is rolled back if anything fails.
template <typename Write>
absl::Status InTransaction(const SqliteDatabase& database, const Write& write) {
  absl::Status done = database.Execute("BEGIN IMMEDIATE");
  if (done.ok()) done = write();
  if (done.ok()) done = database.Execute("COMMIT");
  if (!done.ok()) database.RollBack();
  return done;
}

// Reads the rows; kDataLoss if one is not as it was written.
absl::StatusOr<MetaRow> ReadMeta(const SqliteDatabase& database,
                                 Contents contents = Contents::kCurrent);
absl::StatusOr<std::vector<Bound>> ReadBounds(const SqliteDatabase& database);
absl::StatusOr<std::vector<Document>> ReadDocuments(const SqliteDatabase& database);
// The newest first.
absl::StatusOr<std::vector<std::string>> ReadAudit(const SqliteDatabase& database, int limit);

// Writes rows. Thread-compatible.
class RowWriter {
 public:
  // `database` must outlive the writer.
  static absl::StatusOr<RowWriter> Make(const SqliteDatabase& database);

  absl::Status Put(const Bound& bound);
  absl::Status Erase(const BoundKey& key);
  // All bounds.
  absl::Status EraseAll();
  absl::Status Put(const Document& document);
  absl::Status Erase(const DocumentKey& key);
  // Drops the oldest beyond kAuditKeep.
  absl::Status Append(const std::vector<std::string>& audit);
  // The id stays as it is.
  absl::Status Update(const MetaRow& meta);

 private:
  enum Which : std::size_t {
    kPutBound,
    kEraseBound,
    kEraseBounds,
    kUpdateMeta,
    kWriteDocument,
    kDropDocument,
    kWriteAudit,
    kBoundAudit
  };
  explicit RowWriter(std::vector<SqliteStatement> statements);
  SqliteStatement& At(Which which) { return statements_[which]; }

  std::vector<SqliteStatement> statements_;
};

// Whole microseconds; an infinite duration is kept as such. Up, because a hold that is too short by
// a fraction would be unsafe.
std::int64_t ToMicroseconds(absl::Duration duration);
absl::Duration FromMicroseconds(std::int64_t microseconds);

}  // namespace plimsoll::internal
