#include "controller/store/src/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

absl::Status CannotUse(const std::string& path, int error) {
  return absl::UnavailableError(absl::StrCat(
      "store: cannot use '", path, "': ", std::generic_category().message(error),
      "; state.dir must be a directory that this user may write, on a local file system"));
}

absl::Status MakeDirectory(const std::string& directory) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(directory).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return CannotUse(parent.string(), error.value());
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return CannotUse(directory, errno);
  return absl::OkStatus();
}

std::string Holder(int descriptor) {
  char text[32];
  const ssize_t length = ::pread(descriptor, text, sizeof(text), 0);
  if (length <= 0) return "another process";
  std::string number(text, static_cast<std::size_t>(length));
  number.resize(number.find_last_of("0123456789") + 1);
  return absl::StrCat("process ", number);
}

// For people only: the lock itself does not depend on it.
void WriteHolder(int descriptor) {
  const std::string number = absl::StrCat(::getpid(), "\n");
  if (::ftruncate(descriptor, 0) != 0) return;
  if (::pwrite(descriptor, number.data(), number.size(), 0) < 0) return;
}

}  // namespace

absl::StatusOr<DirectoryLock> DirectoryLock::Take(const std::string& directory) {
  if (absl::Status made = MakeDirectory(directory); !made.ok()) return made;
  const std::string path = directory + "/plimsoll.lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return CannotUse(path, errno);
  DirectoryLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return CannotUse(path, errno);
    return absl::FailedPreconditionError(
        absl::StrCat("store: '", directory, "' is held by ", Holder(descriptor), " (lock file '",
                     path, "'); stop that controller, or give this one another state.dir"));
  }
  WriteHolder(descriptor);
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace plimsoll
