#include "controller/store/src/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {

absl::Status FileError(const std::string& path, const std::string& action, int error) {
  return absl::UnavailableError(absl::StrCat("store: cannot ", action, " '", path,
                                             "': ", std::generic_category().message(error)));
}

bool FileExists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

absl::Status RenameFile(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return FileError(from, absl::StrCat("rename to '", to, "' the file"), errno);
}

absl::Status MakePrivateFile(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor >= 0) {
    ::close(descriptor);
    return absl::OkStatus();
  }
  if (errno != EEXIST) return FileError(path, "make", errno);
  return absl::AlreadyExistsError(
      absl::StrCat("store: '", path, "' exists already; nothing is overwritten: name another"));
}

absl::Status SyncDirectory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return FileError(directory, "open", errno);
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  return error == 0 ? absl::OkStatus() : FileError(directory, "sync", error);
}

}  // namespace plimsoll::internal
