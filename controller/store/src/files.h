#pragma once

#include <string>

#include "absl/status/status.h"

namespace plimsoll::internal {

// Something is there under this name, be it a broken link.
bool FileExists(const std::string& path);

// Renames a file within its directory; an existing `to` is replaced.
absl::Status RenameFile(const std::string& from, const std::string& to);

// Makes an empty file that only its owner may read. kAlreadyExists if there is something.
absl::Status MakePrivateFile(const std::string& path);

// Makes what was created or renamed in a directory survive a crash of the machine.
absl::Status SyncDirectory(const std::string& directory);

// kUnavailable, with the path, what could not be done, and the system's reason.
absl::Status FileError(const std::string& path, const std::string& action, int error);

}  // namespace plimsoll::internal
