#include "controller/store/src/sqlite_schema.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

constexpr int kSchemaVersion = 3;

// In WAL mode only FULL syncs at each commit. The log is asked for before anything is written.
constexpr char kPragmas[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";

constexpr char kCreate[] = R"(
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema_version INTEGER NOT NULL,
    log_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    commits INTEGER NOT NULL DEFAULT 0,
    longest_hold_us INTEGER NOT NULL DEFAULT 0 CHECK (longest_hold_us >= 0),
    lost TEXT NOT NULL DEFAULT ''
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
    checksum INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (dependency, session)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO meta (id, schema_version, log_id, epoch)
    VALUES (1, 3, lower(hex(randomblob(16))), 0);
)";

// Since version 3.
constexpr char kCreateDocuments[] = R"(
  CREATE TABLE document (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT;
)";

// A reign of version 1 that never began leaves nothing that tells why the database is empty.
constexpr char kUpgradeFrom1[] = R"(
  ALTER TABLE meta ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE meta ADD COLUMN longest_hold_us INTEGER NOT NULL DEFAULT 0
    CHECK (longest_hold_us >= 0);
  ALTER TABLE meta ADD COLUMN lost TEXT NOT NULL DEFAULT '';
  ALTER TABLE bound ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
  UPDATE meta SET
    lost = CASE epoch WHEN 0 THEN 'An earlier version made the store, and never used it'
                      ELSE '' END;
)";

constexpr char kPut[] =
    "INSERT INTO bound VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) "
    "ON CONFLICT (dependency, session) DO UPDATE SET service = excluded.service, "
    "instance = excluded.instance, unique_instance = excluded.unique_instance, "
    "steps_limit = excluded.steps_limit, steps_base = excluded.steps_base, "
    "steps_reserve = excluded.steps_reserve, lease_us = excluded.lease_us, "
    "base_lease_us = excluded.base_lease_us, call_deadline_us = excluded.call_deadline_us, "
    "checksum = excluded.checksum";
constexpr char kErase[] = "DELETE FROM bound WHERE dependency = ?1 AND session = ?2";
constexpr char kEraseAll[] = "DELETE FROM bound";
constexpr char kPutDocument[] =
    "INSERT INTO document VALUES (?1, ?2, ?3, ?4) "
    "ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body, checksum = excluded.checksum";
constexpr char kEraseDocument[] = "DELETE FROM document WHERE kind = ?1 AND name = ?2";
constexpr char kReadDocuments[] =
    "SELECT kind, name, body, checksum FROM document ORDER BY kind, name";
constexpr char kAppendAudit[] = "INSERT INTO audit (record) VALUES (?1)";
constexpr char kTrimAudit[] = "DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?1";
constexpr char kReadAudit[] = "SELECT record FROM audit ORDER BY id DESC LIMIT ?1";
constexpr char kUpdate[] =
    "UPDATE meta SET epoch = ?1, commits = ?2, longest_hold_us = ?3, lost = ?4";
constexpr char kReadBounds[] =
    "SELECT dependency, session, service, instance, unique_instance, steps_limit, steps_base, "
    "steps_reserve, lease_us, base_lease_us, call_deadline_us";
constexpr char kFromBound[] = " FROM bound ORDER BY dependency, session";

// FNV-1a: finds bits that have flipped, which the checks of SQLite do not see inside a value.
class Checksum {
 public:
  void Add(const std::string& text) {
    for (const char c : text) Mix(static_cast<unsigned char>(c));
    Add(static_cast<std::int64_t>(text.size()));
  }
  void Add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      Mix(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> shift));
    }
  }
  std::int64_t value() const { return static_cast<std::int64_t>(hash_); }

 private:
  void Mix(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

// The columns of a bound in the order of the table.
struct Columns {
  std::string texts[4];
  std::int64_t numbers[7];

  std::int64_t checksum() const {
    Checksum sum;
    for (const std::string& text : texts) sum.Add(text);
    for (const std::int64_t number : numbers) sum.Add(number);
    return sum.value();
  }
};

Columns ToColumns(const Bound& bound) {
  return {{bound.key.dependency.value, bound.key.session.value, bound.service.value,
           bound.instance.value},
          {std::int64_t{bound.unique_instance}, bound.steps.limit, bound.steps.base,
           bound.steps.reserve, ToMicroseconds(bound.lease), ToMicroseconds(bound.base_lease),
           ToMicroseconds(bound.call_deadline)}};
}

Columns ReadColumns(const SqliteStatement& row) {
  Columns columns;
  int column = 0;
  for (std::string& text : columns.texts) text = row.Text(column++);
  for (std::int64_t& number : columns.numbers) number = row.Integer(column++);
  return columns;
}

Bound ToBound(Columns columns) {
  const std::int64_t* const number = columns.numbers;
  Bound bound;
  bound.key = {DependencyId(std::move(columns.texts[0])), SessionId(std::move(columns.texts[1]))};
  bound.service = ServiceId(std::move(columns.texts[2]));
  bound.instance = InstanceId(std::move(columns.texts[3]));
  bound.unique_instance = number[0] != 0;
  bound.steps = {static_cast<Calls>(number[1]), static_cast<Calls>(number[2]),
                 static_cast<Calls>(number[3])};
  bound.lease = FromMicroseconds(number[4]);
  bound.base_lease = FromMicroseconds(number[5]);
  bound.call_deadline = FromMicroseconds(number[6]);
  return bound;
}

std::int64_t ChecksumOf(const Document& document) {
  Checksum sum;
  for (const std::string& text : {document.key.kind, document.key.name, document.body}) {
    sum.Add(text);
  }
  return sum.value();
}

absl::Status Damaged(const std::string& what) {
  return absl::DataLossError(absl::StrCat("store: the database is damaged: ", what));
}

enum class Checksums { kNone, kCompare };

absl::StatusOr<std::vector<Bound>> ReadBoundsAs(const SqliteDatabase& database,
                                                Checksums checksums) {
  const char* const checksum = checksums == Checksums::kCompare ? ", checksum" : "";
  absl::StatusOr<SqliteStatement> rows =
      database.Prepare(absl::StrCat(kReadBounds, checksum, kFromBound));
  if (!rows.ok()) return rows.status();
  std::vector<Bound> bounds;
  absl::StatusOr<bool> row = rows->Next();
  for (; row.ok() && *row; row = rows->Next()) {
    Columns columns = ReadColumns(*rows);
    if (checksums == Checksums::kCompare && rows->Integer(11) != columns.checksum()) {
      return Damaged("a bound is not as it was written");
    }
    bounds.push_back(ToBound(std::move(columns)));
  }
  if (!row.ok()) return row.status();
  return bounds;
}

}  // namespace

std::int64_t ToMicroseconds(absl::Duration duration) {
  return absl::ToInt64Microseconds(absl::Ceil(duration, absl::Microseconds(1)));
}

absl::Duration FromMicroseconds(std::int64_t microseconds) {
  return microseconds == std::numeric_limits<std::int64_t>::max()
             ? absl::InfiniteDuration()
             : absl::Microseconds(microseconds);
}

absl::StatusOr<Contents> Inspect(const SqliteDatabase& database, const std::string& path) {
  if (absl::Status whole = database.CheckIntegrity(); !whole.ok()) return whole;
  const absl::StatusOr<std::string> tables = database.Query("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  if (*tables == "0") return Contents::kNothing;
  const absl::StatusOr<std::string> ours = database.Query(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('meta', 'bound')");
  if (!ours.ok()) return ours.status();
  if (*ours != "2") {
    return absl::FailedPreconditionError(
        absl::StrCat("store: '", path,
                     "' was written by another program; give the controller a state.dir of "
                     "its own"));
  }
  const absl::StatusOr<std::string> version = database.Query("SELECT schema_version FROM meta");
  if (!version.ok()) return version.status();
  if (version->empty()) return Damaged("its table meta is empty");
  if (*version == "1") return Contents::kVersion1;
  if (*version == "2") return Contents::kVersion2;
  if (*version == absl::StrCat(kSchemaVersion)) return Contents::kCurrent;
  return absl::FailedPreconditionError(absl::StrCat(
      "store: '", path, "' was written by another version of plimsoll-controller (schema ",
      *version, ", this one knows ", kSchemaVersion,
      "); start that version, or give this one an empty state.dir"));
}

absl::Status SetDurability(const SqliteDatabase& database) { return database.Execute(kPragmas); }

absl::Status CreateTables(const SqliteDatabase& database, const std::string& lost) {
  return InTransaction(database, [&]() -> absl::Status {
    absl::Status made = database.Execute(kCreate);
    if (made.ok()) made = database.Execute(kCreateDocuments);
    if (!made.ok()) return made;
    absl::StatusOr<RowWriter> writer = RowWriter::Make(database);
    if (!writer.ok()) return writer.status();
    MetaRow meta;
    meta.lost = lost;
    return writer->Update(meta);
  });
}

absl::Status UpgradeTables(const SqliteDatabase& database, Contents contents) {
  return InTransaction(database, [&]() -> absl::Status {
    absl::Status altered = database.Execute(kCreateDocuments);
    if (altered.ok()) {
      altered = database.Execute(absl::StrCat("UPDATE meta SET schema_version = ", kSchemaVersion));
    }
    if (!altered.ok() || contents != Contents::kVersion1) return altered;
    altered = database.Execute(kUpgradeFrom1);
    if (!altered.ok()) return altered;
    const absl::StatusOr<std::vector<Bound>> bounds = ReadBoundsAs(database, Checksums::kNone);
    if (!bounds.ok()) return bounds.status();
    absl::StatusOr<RowWriter> writer = RowWriter::Make(database);
    if (!writer.ok()) return writer.status();
    for (const Bound& bound : *bounds) {
      if (absl::Status put = writer->Put(bound); !put.ok()) return put;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<MetaRow> ReadMeta(const SqliteDatabase& database, Contents contents) {
  const char* const since_version_2 =
      contents == Contents::kVersion1 ? "0, 0, ''" : "commits, longest_hold_us, lost";
  absl::StatusOr<SqliteStatement> row =
      database.Prepare(absl::StrCat("SELECT log_id, epoch, ", since_version_2, " FROM meta"));
  if (!row.ok()) return row.status();
  const absl::StatusOr<bool> found = row->Next();
  if (!found.ok()) return found.status();
  if (!*found) return Damaged("its table meta is empty");
  return MetaRow{row->Text(0), row->Integer(1), row->Integer(2), row->Integer(3), row->Text(4)};
}

absl::StatusOr<std::vector<Bound>> ReadBounds(const SqliteDatabase& database) {
  return ReadBoundsAs(database, Checksums::kCompare);
}

absl::StatusOr<std::vector<Document>> ReadDocuments(const SqliteDatabase& database) {
  absl::StatusOr<SqliteStatement> rows = database.Prepare(kReadDocuments);
  if (!rows.ok()) return rows.status();
  std::vector<Document> documents;
  absl::StatusOr<bool> row = rows->Next();
  for (; row.ok() && *row; row = rows->Next()) {
    Document document{{rows->Text(0), rows->Text(1)}, rows->Text(2)};
    if (rows->Integer(3) != ChecksumOf(document)) {
      return Damaged("a document is not as it was written");
    }
    documents.push_back(std::move(document));
  }
  if (!row.ok()) return row.status();
  return documents;
}

absl::StatusOr<std::vector<std::string>> ReadAudit(const SqliteDatabase& database, int limit) {
  absl::StatusOr<SqliteStatement> rows = database.Prepare(kReadAudit);
  if (!rows.ok()) return rows.status();
  rows->Bind(std::int64_t{limit});
  std::vector<std::string> records;
  absl::StatusOr<bool> row = rows->Next();
  for (; row.ok() && *row; row = rows->Next()) records.push_back(rows->Text(0));
  if (!row.ok()) return row.status();
  return records;
}

RowWriter::RowWriter(std::vector<SqliteStatement> statements)
    : statements_(std::move(statements)) {}

absl::StatusOr<RowWriter> RowWriter::Make(const SqliteDatabase& database) {
  std::vector<SqliteStatement> statements;
  // In the order of the enumeration.
  for (const char* const sql :
       {kPut, kErase, kEraseAll, kUpdate, kPutDocument, kEraseDocument, kAppendAudit, kTrimAudit}) {
    absl::StatusOr<SqliteStatement> statement = database.Prepare(sql);
    if (!statement.ok()) return statement.status();
    statements.push_back(*std::move(statement));
  }
  return RowWriter(std::move(statements));
}

absl::Status RowWriter::Put(const Bound& bound) {
  const Columns columns = ToColumns(bound);
  for (const std::string& text : columns.texts) At(kPutBound).Bind(text);
  for (const std::int64_t number : columns.numbers) At(kPutBound).Bind(number);
  return At(kPutBound).Bind(columns.checksum()).Run();
}

absl::Status RowWriter::Erase(const BoundKey& key) {
  return At(kEraseBound).Bind(key.dependency.value).Bind(key.session.value).Run();
}

absl::Status RowWriter::EraseAll() { return At(kEraseBounds).Run(); }

absl::Status RowWriter::Put(const Document& document) {
  return At(kWriteDocument)
      .Bind(document.key.kind)
      .Bind(document.key.name)
      .Bind(document.body)
      .Bind(ChecksumOf(document))
      .Run();
}

absl::Status RowWriter::Erase(const DocumentKey& key) {
  return At(kDropDocument).Bind(key.kind).Bind(key.name).Run();
}

absl::Status RowWriter::Append(const std::vector<std::string>& audit) {
  for (const std::string& record : audit) {
    if (absl::Status put = At(kWriteAudit).Bind(record).Run(); !put.ok()) return put;
  }
  return audit.empty() ? absl::OkStatus() : At(kBoundAudit).Bind(std::int64_t{kAuditKeep}).Run();
}

absl::Status RowWriter::Update(const MetaRow& meta) {
  return At(kUpdateMeta)
      .Bind(meta.epoch)
      .Bind(meta.commits)
      .Bind(meta.longest_hold_us)
      .Bind(meta.lost)
      .Run();
}

}  // namespace plimsoll::internal
