#include "controller/config/read_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace plimsoll {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int error = errno;
    const std::string message =
        absl::StrCat(path, ": cannot be read: ", std::generic_category().message(error));
    return error == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
  }
  if (std::filesystem::is_directory(path)) {
    return absl::UnavailableError(absl::StrCat(path, ": cannot be read: it is a directory"));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace plimsoll
