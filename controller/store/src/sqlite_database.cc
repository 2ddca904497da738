#include "controller/store/src/sqlite_database.h"

#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

// A shell that somebody has left open in a transaction must not stop the controller at once.
constexpr int kBusyTimeoutMs = 2000;

absl::Status Damaged(const std::string& path, const std::string& what) {
  return absl::DataLossError(absl::StrCat("store: '", path, "' is damaged: ", what));
}

absl::Status Failure(sqlite3* database, const std::string& path) {
  const char* const what = database == nullptr ? "out of memory" : sqlite3_errmsg(database);
  const int code = database == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database) & 0xff;
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return Damaged(path, what);
  if (code == SQLITE_FULL) {
    return absl::ResourceExhaustedError(
        absl::StrCat("store: '", path, "': ", what, "; free space on its disk"));
  }
  return absl::UnavailableError(absl::StrCat("store: '", path, "': ", what));
}

}  // namespace

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteStatement::SqliteStatement(sqlite3_stmt* statement, const std::string* path)
    : statement_(statement), path_(path) {}

SqliteStatement& SqliteStatement::Bind(std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), ++bound_, value);
  return *this;
}

SqliteStatement& SqliteStatement::Bind(const std::string& value) {
  sqlite3_bind_text64(statement_.get(), ++bound_, value.data(), value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

absl::Status SqliteStatement::Run() {
  const absl::StatusOr<bool> row = Next();
  Reset();
  return row.status();
}

absl::StatusOr<bool> SqliteStatement::Next() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) {
    Reset();
    return false;
  }
  absl::Status failure = Failure(sqlite3_db_handle(statement_.get()), *path_);
  Reset();
  return failure;
}

std::int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::Text(int column) const {
  const unsigned char* const text = sqlite3_column_text(statement_.get(), column);
  const int length = sqlite3_column_bytes(statement_.get(), column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(length)};
}

void SqliteStatement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_ = 0;
}

void SqliteDatabase::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

SqliteDatabase::SqliteDatabase(sqlite3* database, const std::string& path)
    : path_(std::make_unique<std::string>(path)), database_(database) {}

absl::StatusOr<SqliteDatabase> SqliteDatabase::Open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int opened = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  SqliteDatabase database(raw, path);
  if (opened != SQLITE_OK) return Failure(raw, path);
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return database;
}

void SqliteDatabase::FoldLogOnClose() const {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

absl::Status SqliteDatabase::CheckIntegrity() const {
  const absl::StatusOr<std::string> result = Query("PRAGMA quick_check(1)");
  if (!result.ok()) return result.status();
  return *result == "ok" ? absl::OkStatus() : Damaged(*path_, *result);
}

absl::StatusOr<SqliteStatement> SqliteDatabase::Prepare(const std::string& sql) const {
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v3(database_.get(), sql.c_str(), -1,
                                          SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (prepared != SQLITE_OK) return Failure(database_.get(), *path_);
  return SqliteStatement(raw, path_.get());
}

absl::Status SqliteDatabase::Execute(const std::string& sql) const {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
    return absl::OkStatus();
  }
  return Failure(database_.get(), *path_);
}

absl::StatusOr<std::string> SqliteDatabase::Query(const std::string& sql) const {
  absl::StatusOr<SqliteStatement> statement = Prepare(sql);
  if (!statement.ok()) return statement.status();
  const absl::StatusOr<bool> row = statement->Next();
  if (!row.ok()) return row.status();
  return *row ? statement->Text(0) : "";
}

void SqliteDatabase::RollBack() const {
  if (sqlite3_get_autocommit(database_.get()) == 0) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

}  // namespace plimsoll
