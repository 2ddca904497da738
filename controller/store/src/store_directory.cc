#include "controller/store/src/store_directory.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/src/files.h"

namespace plimsoll::internal {
namespace {

using FoundRecord = absl::StatusOr<std::optional<WitnessRecord>>;

std::string DatabasePath(const std::string& directory) { return directory + "/plimsoll.db"; }

// The database and what SQLite may have left beside it.
constexpr const char* kParts[] = {"", "-wal", "-shm", "-journal"};

bool AnyPartExists(const std::string& path) {
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](const char* part) { return FileExists(path + part); });
}

// Renames all parts to a name that is free, and returns it. Nothing is deleted or overwritten: a
// person may still read it.
absl::StatusOr<std::string> MoveAside(const std::string& directory) {
  const std::string path = DatabasePath(directory);
  int number = 1;
  while (AnyPartExists(absl::StrCat(path, ".damaged-", number))) ++number;
  const std::string aside = absl::StrCat(path, ".damaged-", number);
  for (const char* part : kParts) {
    if (!FileExists(path + part)) continue;
    if (absl::Status moved = RenameFile(path + part, aside + part); !moved.ok()) return moved;
  }
  if (absl::Status synced = SyncDirectory(directory); !synced.ok()) return synced;
  return aside;
}

absl::StatusOr<SqliteDatabase> MakeDatabase(const std::string& path, const std::string& lost) {
  absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path);
  if (!database.ok()) return database.status();
  absl::Status made = SetDurability(*database);
  if (made.ok()) made = CreateTables(*database, lost);
  if (!made.ok()) return made;
  database->FoldLogOnClose();
  return database;
}

// The witness comes first: a current database without one counts as lost.
absl::Status Upgrade(const SqliteDatabase& database, Witness& witness, const FoundRecord& record) {
  if (record.ok() && !record->has_value()) {
    const absl::StatusOr<MetaRow> meta = ReadMeta(database, Contents::kVersion1);
    if (!meta.ok()) return meta.status();
    absl::Status done = witness.Replace(meta->Record());
    if (!done.ok()) return done;
  }
  return UpgradeTables(database, Contents::kVersion1);
}

// Opens a file that is there. kDataLoss if it is damaged; then nothing in it was changed.
absl::StatusOr<SqliteDatabase> OpenDatabase(const std::string& path, Witness& witness,
                                            const FoundRecord& record) {
  absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path);
  if (!database.ok()) return database.status();
  const absl::StatusOr<Contents> contents = Inspect(*database, path);
  if (!contents.ok()) return contents.status();
  if (*contents == Contents::kCurrent || *contents == Contents::kVersion2) {
    const absl::StatusOr<std::vector<Bound>> readable = ReadBounds(*database);
    if (!readable.ok()) return readable.status();
  }
  if (*contents == Contents::kCurrent) {
    const absl::StatusOr<std::vector<Document>> readable = ReadDocuments(*database);
    if (!readable.ok()) return readable.status();
  }
  absl::Status ready = SetDurability(*database);
  if (ready.ok() && *contents == Contents::kVersion1) ready = Upgrade(*database, witness, record);
  if (ready.ok() && *contents == Contents::kVersion2) ready = UpgradeTables(*database, *contents);
  if (ready.ok() && *contents == Contents::kNothing) {
    ready = CreateTables(*database, absl::StrCat("'", path, "' was empty"));
  }
  if (!ready.ok()) return ready;
  database->FoldLogOnClose();
  return database;
}

std::string WhyMissing(const std::string& directory, const FoundRecord& record) {
  if (record.ok() && !record->has_value()) {
    return absl::StrCat("No store was found in '", directory,
                        "'; if this fleet has never been granted anything, make one with --init");
  }
  return absl::StrCat("'", DatabasePath(directory), "' is missing, and '", directory,
                      "/plimsoll.witness' tells that it was there");
}

absl::StatusOr<SqliteDatabase> FindDatabase(const std::string& directory, Witness& witness,
                                            const FoundRecord& record) {
  const std::string path = DatabasePath(directory);
  if (!FileExists(path)) {
    // SQLite would delete a log without its file.
    if (AnyPartExists(path)) {
      const absl::StatusOr<std::string> moved = MoveAside(directory);
      if (!moved.ok()) return moved.status();
    }
    return MakeDatabase(path, WhyMissing(directory, record));
  }
  absl::StatusOr<SqliteDatabase> database = OpenDatabase(path, witness, record);
  if (!absl::IsDataLoss(database.status())) return database;
  const std::string damage(database.status().message());
  const absl::StatusOr<std::string> aside = MoveAside(directory);
  if (!aside.ok()) return aside.status();
  return MakeDatabase(path, absl::StrCat(damage, "; it was moved to '", *aside, "'"));
}

// Why the database does not fit its witness; empty if it does.
std::string Compare(const MetaRow& meta, const FoundRecord& record, const Witness& witness) {
  if (!record.ok()) return std::string(record.status().message());
  if (!record->has_value()) {
    return absl::StrCat("'", witness.path(), "' is missing beside the database");
  }
  const WitnessRecord& known = **record;
  if (known.store_id != meta.store_id) {
    return absl::StrCat("The database is another one (", meta.store_id, ") than the one that '",
                        witness.path(), "' remembers (", known.store_id, ")");
  }
  if (meta.epoch >= known.epoch && meta.commits >= known.commits) return "";
  return absl::StrCat("The database is older than what was written last: it knows epoch ",
                      meta.epoch, " and ", meta.commits, " writes, '", witness.path(),
                      "' remembers epoch ", known.epoch, " and ", known.commits, " writes");
}

}  // namespace

absl::StatusOr<StoreDirectory> OpenStoreDirectory(const std::string& directory) {
  absl::StatusOr<DirectoryLock> lock = DirectoryLock::Take(directory);
  if (!lock.ok()) return lock.status();
  Witness witness(directory);
  FoundRecord record = witness.Read();
  if (!record.ok() && !absl::IsDataLoss(record.status())) return record.status();
  absl::StatusOr<SqliteDatabase> database = FindDatabase(directory, witness, record);
  if (!database.ok()) return database.status();
  // An upgrade has made one.
  if (record.ok() && !record->has_value()) record = witness.Read();
  if (!record.ok() && !absl::IsDataLoss(record.status())) return record.status();
  const absl::StatusOr<MetaRow> meta = ReadMeta(*database);
  if (!meta.ok()) return meta.status();
  const WitnessRecord known = record.ok() ? record->value_or(WitnessRecord{}) : WitnessRecord{};
  // A reason that is written down already is the first cause; the rest follows from it.
  std::string lost = meta->lost.empty() ? Compare(*meta, record, witness) : "";
  return StoreDirectory{*std::move(lock),
                        std::move(witness),
                        *std::move(database),
                        std::max(meta->epoch, known.epoch),
                        std::max(meta->longest_hold_us, known.longest_hold_us),
                        std::move(lost)};
}

absl::StatusOr<std::string> InitStoreDirectory(const std::string& directory) {
  const absl::StatusOr<DirectoryLock> lock = DirectoryLock::Take(directory);
  if (!lock.ok()) return lock.status();
  Witness witness(directory);
  const std::string path = DatabasePath(directory);
  const bool taken = AnyPartExists(path) || FileExists(witness.path());
  if (taken) {
    return absl::AlreadyExistsError(absl::StrCat(
        "store: there is a store in '", directory,
        "' already: start the controller with it, or give the new fleet a state.dir of its own"));
  }
  const absl::StatusOr<SqliteDatabase> database = MakeDatabase(path, "");
  if (!database.ok()) return database.status();
  const absl::StatusOr<MetaRow> meta = ReadMeta(*database);
  if (!meta.ok()) return meta.status();
  absl::Status done = witness.Replace(meta->Record());
  if (!done.ok()) return done;
  return meta->store_id;
}

}  // namespace plimsoll::internal
