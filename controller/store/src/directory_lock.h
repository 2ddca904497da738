#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace plimsoll {

// An exclusive lock on a directory, held from construction to destruction by way of the file
// `plimsoll.lock` in it. The file stays, and tells the number of the process that holds the lock.
// Thread-compatible.
class DirectoryLock {
 public:
  // Makes the directory (mode 0700) if it is missing. Returns kFailedPrecondition if somebody holds
  // the lock, kUnavailable if directory or file cannot be made. Never waits.
  static absl::StatusOr<DirectoryLock> Take(const std::string& directory);

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;  // -1 once moved from
};

}  // namespace plimsoll
