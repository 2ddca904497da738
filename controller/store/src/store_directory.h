#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "controller/store/src/directory_lock.h"
#include "controller/store/src/sqlite_database.h"
#include "controller/store/src/sqlite_schema.h"
#include "controller/store/src/witness.h"

namespace plimsoll::internal {

// What was found in a directory, or made there because nothing that can be used was.
struct StoreDirectory {
  // In this order, so that the database is closed while the lock is still held.
  DirectoryLock lock;
  Witness witness;
  SqliteDatabase database;
  // The highest that database or witness knows.
  std::int64_t last_epoch = 0;
  std::int64_t longest_hold_us = 0;
  // Why the bounds cannot be trusted, as seen now. The row in the database may know a reason from
  // before; empty if neither does.
  std::string lost;
};

// Takes the lock, and finds or makes the database. Errors as of OpenSqliteStore().
absl::StatusOr<StoreDirectory> OpenStoreDirectory(const std::string& directory);

// Makes a store where there is none, and returns its id. Errors as of InitSqliteStore().
absl::StatusOr<std::string> InitStoreDirectory(const std::string& directory);

}  // namespace plimsoll::internal
