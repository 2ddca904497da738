#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/store/operator_word.h"

namespace plimsoll {

// The store of a single controller: a SQLite database in `directory`, which is made (mode 0700) if
// it is missing and must lie on a local file system. It holds `plimsoll.db` with its write-ahead
// log, `plimsoll.witness`, which remembers what the database must know, and `plimsoll.lock`, which
// stays locked as long as the store lives; the kernel frees the lock of a process that dies.
//
// What is missing, damaged or older than its witness is replaced, and the first TakeOver() reports
// kLost; so does each later one until a batch says `learned`. A damaged database is moved aside,
// never deleted.
//
// Epochs of a database that is new or lost start at `first_epoch` at least: hand in Unix time in
// milliseconds, so that they lie above any that has been forgotten. It is ignored otherwise.
//
// Returns kFailedPrecondition if another process holds the store, or if a newer version or another
// program wrote the file; kUnavailable if it cannot be opened. Each message says what to do.
// Commit() returns kInvalidArgument for an epoch that does not rise, kResourceExhausted for a full
// disk, kDataLoss for a damaged file, else kUnavailable; after each of these, nothing of the batch
// is in the store, save for a failed sync, of which the outcome is unknown.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& directory,
                                                       std::int64_t first_epoch,
                                                       OperatorWord word = OperatorWord::kNone);

// Makes an empty store in `directory` for a fleet that has never been granted anything: its first
// TakeOver() reports kNew. Returns its id. Returns kAlreadyExists if there is a store or a part of
// one, kFailedPrecondition if another process holds the directory, kUnavailable for I/O errors.
absl::StatusOr<std::string> InitSqliteStore(const std::string& directory);

// Writes a copy of the store in `directory`, be a controller running there or not, to the new file
// `target` (mode 0600), and returns when it is durable. The copy is of one instant. It has what
// operators have set and the audit records, but no bounds: those would be out of date the moment
// they are read. As `plimsoll.db` of a directory it counts as lost, for the reason `why`, so that a
// controller learns from agents whatever lies beside it. Returns kAlreadyExists if there is such a
// file, kNotFound if there is no store, kFailedPrecondition if another version wrote it, kDataLoss
// if it is damaged, else as of Commit(); no file is left then.
absl::Status BackUpSqliteStore(const std::string& directory, const std::string& target,
                               const std::string& why);

}  // namespace plimsoll
