#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace plimsoll {

// A prepared statement. Parameters are bound from left to right; Run() ends a round, after which
// they are bound anew. Must not outlive its database. Thread-compatible.
class SqliteStatement {
 public:
  SqliteStatement& Bind(std::int64_t value);
  SqliteStatement& Bind(const std::string& value);

  // Runs a statement that gives no rows.
  absl::Status Run();
  // Moves to the next row; false after the last one, with which the round ends.
  absl::StatusOr<bool> Next();
  // Columns of the current row, counted from 0.
  std::int64_t Integer(int column) const;
  std::string Text(int column) const;

 private:
  friend class SqliteDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteStatement(sqlite3_stmt* statement, const std::string* path);
  void Reset();

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string* path_;
  int bound_ = 0;
};

// One connection. Every error names the file, and has the code kDataLoss (damaged, or not a
// database), kResourceExhausted (disk full) or kUnavailable. Thread-compatible.
class SqliteDatabase {
 public:
  // Makes the file if it is missing.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path);

  // Until now, closing leaves file and log as they are; from now on it folds the log into the file.
  // Call it once the file has proved to be whole and ours.
  void FoldLogOnClose() const;
  // Reads the whole file; kDataLoss if anything in it does not fit together.
  absl::Status CheckIntegrity() const;
  absl::StatusOr<SqliteStatement> Prepare(const std::string& sql) const;
  // Runs statements that give no rows that matter.
  absl::Status Execute(const std::string& sql) const;
  // The first column of the first row; empty if there is no row.
  absl::StatusOr<std::string> Query(const std::string& sql) const;
  // Ends the transaction under way without effect, if there is one.
  void RollBack() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit SqliteDatabase(sqlite3* database, const std::string& path);

  std::unique_ptr<std::string> path_;  // on the heap: statements point to it
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace plimsoll
