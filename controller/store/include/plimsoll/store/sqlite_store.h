#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "plimsoll/controller/store.h"

namespace plimsoll {

// The store of a single controller: a SQLite database in `directory`, which is made (mode 0700) if
// it is missing and must lie on a local file system. It holds `plimsoll.db` with its write-ahead
// log and `plimsoll.lock`, which stays locked as long as the store lives; the kernel frees the lock
// of a process that dies.
//
// The epochs of a new database start at `first_epoch`: hand in Unix time in milliseconds, so that
// they lie above those of any database that was lost. `first_epoch` is ignored otherwise.
//
// Returns kFailedPrecondition if another process holds the store, or if a newer version or another
// program wrote the file; kDataLoss if the file is damaged; kUnavailable if it cannot be opened.
// Each message says what to do. Commit() returns kResourceExhausted for a full disk, kDataLoss for
// a damaged file, else kUnavailable; after each of these, nothing of the batch is in the store,
// save for a failed sync, of which the outcome is unknown.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& directory,
                                                       std::int64_t first_epoch);

}  // namespace plimsoll
