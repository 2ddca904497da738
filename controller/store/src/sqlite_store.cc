#include "plimsoll/store/sqlite_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/src/directory_lock.h"
#include "controller/store/src/sqlite_database.h"

namespace plimsoll {
namespace {

constexpr int kSchemaVersion = 1;

// In WAL mode only FULL syncs at each commit. The log is asked for before anything is written.
constexpr char kPragmas[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";

// `epoch` is 0 until the first reign begins. `log_id` tells two databases apart.
constexpr char kSchema[] = R"(
  BEGIN IMMEDIATE;
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema_version INTEGER NOT NULL,
    log_id TEXT NOT NULL,
    epoch INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE bound (
    dependency TEXT NOT NULL,
    session TEXT NOT NULL,
    service TEXT NOT NULL,
    instance TEXT NOT NULL,
    unique_instance INTEGER NOT NULL CHECK (unique_instance IN (0, 1)),
    steps_limit INTEGER NOT NULL CHECK (steps_limit BETWEEN 0 AND 2147483647),
    steps_base INTEGER NOT NULL CHECK (steps_base BETWEEN 0 AND 2147483647),
    steps_reserve INTEGER NOT NULL CHECK (steps_reserve BETWEEN 0 AND 2147483647),
    lease_us INTEGER NOT NULL CHECK (lease_us >= 0),
    base_lease_us INTEGER NOT NULL CHECK (base_lease_us >= 0),
    call_deadline_us INTEGER NOT NULL CHECK (call_deadline_us >= 0),
    PRIMARY KEY (dependency, session)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES (1, 1, lower(hex(randomblob(16))), 0);
  COMMIT;
)";

constexpr char kPut[] =
    "INSERT INTO bound VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) "
    "ON CONFLICT (dependency, session) DO UPDATE SET service = excluded.service, "
    "instance = excluded.instance, unique_instance = excluded.unique_instance, "
    "steps_limit = excluded.steps_limit, steps_base = excluded.steps_base, "
    "steps_reserve = excluded.steps_reserve, lease_us = excluded.lease_us, "
    "base_lease_us = excluded.base_lease_us, call_deadline_us = excluded.call_deadline_us";
constexpr char kErase[] = "DELETE FROM bound WHERE dependency = ?1 AND session = ?2";
constexpr char kRead[] =
    "SELECT dependency, session, service, instance, unique_instance, steps_limit, steps_base, "
    "steps_reserve, lease_us, base_lease_us, call_deadline_us FROM bound "
    "ORDER BY dependency, session";

// Up, because a hold that is too short by a fraction would be unsafe.
std::int64_t Microseconds(absl::Duration duration) {
  return absl::ToInt64Microseconds(absl::Ceil(duration, absl::Microseconds(1)));
}

Bound ReadBound(const SqliteStatement& row) {
  Bound bound;
  bound.key = {DependencyId(row.Text(0)), SessionId(row.Text(1))};
  bound.service = ServiceId(row.Text(2));
  bound.instance = InstanceId(row.Text(3));
  bound.unique_instance = row.Integer(4) != 0;
  bound.steps = {static_cast<Calls>(row.Integer(5)), static_cast<Calls>(row.Integer(6)),
                 static_cast<Calls>(row.Integer(7))};
  bound.lease = absl::Microseconds(row.Integer(8));
  bound.base_lease = absl::Microseconds(row.Integer(9));
  bound.call_deadline = absl::Microseconds(row.Integer(10));
  return bound;
}

// Thread-compatible.
class SqliteStore final : public Store {
 public:
  struct Statements {
    SqliteStatement put;
    SqliteStatement erase;
  };

  SqliteStore(std::int64_t first_epoch, DirectoryLock lock, SqliteDatabase database,
              Statements statements)
      : first_epoch_(first_epoch),
        lock_(std::move(lock)),
        database_(std::move(database)),
        statements_(std::move(statements)) {}

  absl::StatusOr<StoreState> TakeOver() override;
  absl::Status Commit(const WriteBatch& batch) override;

 private:
  // Runs `write` inside a transaction that is rolled back if anything fails.
  template <typename Write>
  absl::Status InTransaction(const Write& write);
  absl::Status WriteAll(const WriteBatch& batch);
  absl::Status Put(const Bound& bound);
  absl::StatusOr<std::vector<Bound>> ReadBounds() const;

  const std::int64_t first_epoch_;
  // In this order, so that the database is closed while the lock is still held.
  const DirectoryLock lock_;
  const SqliteDatabase database_;
  Statements statements_;
};

template <typename Write>
absl::Status SqliteStore::InTransaction(const Write& write) {
  absl::Status done = database_.Execute("BEGIN IMMEDIATE");
  if (done.ok()) done = write();
  if (done.ok()) done = database_.Execute("COMMIT");
  if (!done.ok()) database_.RollBack();
  return done;
}

absl::StatusOr<StoreState> SqliteStore::TakeOver() {
  StoreState state;
  const absl::Status done = InTransaction([&]() -> absl::Status {
    absl::StatusOr<SqliteStatement> meta = database_.Prepare("SELECT epoch FROM meta");
    if (!meta.ok()) return meta.status();
    const absl::StatusOr<bool> row = meta->Next();
    if (!row.ok()) return row.status();
    const std::int64_t last = *row ? meta->Integer(0) : 0;
    const bool first = last == 0;
    state.condition = first ? StoreCondition::kNew : StoreCondition::kWhole;
    state.epoch = Epoch(first ? std::max<std::int64_t>(1, first_epoch_) : last + 1);
    absl::StatusOr<std::vector<Bound>> bounds = ReadBounds();
    if (!bounds.ok()) return bounds.status();
    state.bounds = *std::move(bounds);
    return database_.Execute(absl::StrCat("UPDATE meta SET epoch = ", state.epoch.value));
  });
  if (!done.ok()) return done;
  return state;
}

absl::StatusOr<std::vector<Bound>> SqliteStore::ReadBounds() const {
  absl::StatusOr<SqliteStatement> rows = database_.Prepare(kRead);
  if (!rows.ok()) return rows.status();
  std::vector<Bound> bounds;
  absl::StatusOr<bool> row = rows->Next();
  for (; row.ok() && *row; row = rows->Next()) bounds.push_back(ReadBound(*rows));
  if (!row.ok()) return row.status();
  return bounds;
}

absl::Status SqliteStore::Commit(const WriteBatch& batch) {
  if (batch.empty()) return absl::OkStatus();
  return InTransaction([&] { return WriteAll(batch); });
}

absl::Status SqliteStore::WriteAll(const WriteBatch& batch) {
  for (const BoundKey& key : batch.erase) {
    absl::Status done = statements_.erase.Bind(key.dependency.value).Bind(key.session.value).Run();
    if (!done.ok()) return done;
  }
  for (const Bound& bound : batch.put) {
    if (absl::Status done = Put(bound); !done.ok()) return done;
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::Put(const Bound& bound) {
  return statements_.put.Bind(bound.key.dependency.value)
      .Bind(bound.key.session.value)
      .Bind(bound.service.value)
      .Bind(bound.instance.value)
      .Bind(std::int64_t{bound.unique_instance})
      .Bind(bound.steps.limit)
      .Bind(bound.steps.base)
      .Bind(bound.steps.reserve)
      .Bind(Microseconds(bound.lease))
      .Bind(Microseconds(bound.base_lease))
      .Bind(Microseconds(bound.call_deadline))
      .Run();
}

absl::Status CheckVersion(const SqliteDatabase& database, const std::string& path) {
  const absl::StatusOr<std::string> meta =
      database.Query("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'");
  if (!meta.ok()) return meta.status();
  if (*meta == "0") {
    return absl::FailedPreconditionError(
        absl::StrCat("store: '", path,
                     "' was written by another program; give the controller a state.dir of "
                     "its own"));
  }
  const absl::StatusOr<std::string> version = database.Query("SELECT schema_version FROM meta");
  if (!version.ok()) return version.status();
  if (*version == absl::StrCat(kSchemaVersion)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "store: '", path, "' was written by another version of plimsoll-controller (schema ",
      *version, ", this one knows ", kSchemaVersion,
      "); start that version, or give this one an empty state.dir"));
}

absl::Status Prepare(const SqliteDatabase& database, const std::string& path) {
  if (absl::Status set = database.Execute(kPragmas); !set.ok()) return set;
  if (absl::Status whole = database.CheckIntegrity(); !whole.ok()) return whole;
  const absl::StatusOr<std::string> tables = database.Query("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  if (*tables != "0") return CheckVersion(database, path);
  absl::Status made = database.Execute(kSchema);
  if (!made.ok()) database.RollBack();
  return made;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& directory,
                                                       std::int64_t first_epoch) {
  absl::StatusOr<DirectoryLock> lock = DirectoryLock::Take(directory);
  if (!lock.ok()) return lock.status();
  const std::string path = directory + "/plimsoll.db";
  absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path);
  if (!database.ok()) return database.status();
  if (absl::Status ready = Prepare(*database, path); !ready.ok()) return ready;
  absl::StatusOr<SqliteStatement> put = database->Prepare(kPut);
  if (!put.ok()) return put.status();
  absl::StatusOr<SqliteStatement> erase = database->Prepare(kErase);
  if (!erase.ok()) return erase.status();
  return std::make_unique<SqliteStore>(first_epoch, *std::move(lock), *std::move(database),
                                       SqliteStore::Statements{*std::move(put), *std::move(erase)});
}

}  // namespace plimsoll
