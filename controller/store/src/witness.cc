#include "controller/store/src/witness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "controller/store/src/files.h"

namespace plimsoll::internal {
namespace {

constexpr char kTitle[] = "plimsoll witness 1";
// Numbers are padded, so that the last one can be written over.
constexpr std::size_t kDigits = 20;

std::string Format(const WitnessRecord& record) {
  return absl::StrFormat("%s\nstore %s\nepoch %020d\nlongest_hold_us %020d\ncommits %020d\n",
                         kTitle, record.store_id, record.epoch, record.longest_hold_us,
                         record.commits);
}

std::optional<std::int64_t> ParseNumber(const std::string& line, const std::string& name) {
  std::int64_t number = 0;
  const bool fits = line.size() == name.size() + 1 + kDigits && line.rfind(name + " ", 0) == 0 &&
                    absl::SimpleAtoi(line.substr(name.size() + 1), &number) && number >= 0;
  return fits ? std::optional(number) : std::nullopt;
}

std::optional<WitnessRecord> Parse(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (lines.size() != 6 || lines[0] != kTitle || lines[1].rfind("store ", 0) != 0) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> epoch = ParseNumber(lines[2], "epoch");
  const std::optional<std::int64_t> hold = ParseNumber(lines[3], "longest_hold_us");
  const std::optional<std::int64_t> commits = ParseNumber(lines[4], "commits");
  const bool complete = epoch.has_value() && hold.has_value() && commits.has_value();
  if (!complete || !lines[5].empty()) return std::nullopt;
  return WitnessRecord{lines[1].substr(6), *epoch, *hold, *commits};
}

absl::Status WriteAndSync(int descriptor, const std::string& path, const std::string& text) {
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  if (written < 0) return FileError(path, "write", errno);
  if (static_cast<std::size_t>(written) != text.size()) return FileError(path, "write", ENOSPC);
  return ::fsync(descriptor) == 0 ? absl::OkStatus() : FileError(path, "sync", errno);
}

}  // namespace

Witness::Witness(std::string directory)
    : directory_(std::move(directory)), path_(directory_ + "/plimsoll.witness") {}

Witness::Witness(Witness&& other) noexcept
    : directory_(std::move(other.directory_)),
      path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Witness::~Witness() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

absl::StatusOr<std::optional<WitnessRecord>> Witness::Read() const {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return std::nullopt;
  if (descriptor < 0) return FileError(path_, "open", errno);
  char text[512];
  const ssize_t length = ::read(descriptor, text, sizeof(text));
  const int error = errno;
  ::close(descriptor);
  if (length < 0) return FileError(path_, "read", error);
  std::optional<WitnessRecord> record = Parse({text, static_cast<std::size_t>(length)});
  if (record.has_value()) return record;
  return absl::DataLossError(absl::StrCat("'", path_, "' is damaged"));
}

absl::Status Witness::Replace(const WitnessRecord& record) {
  const std::string fresh = path_ + ".new";
  const int descriptor =
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return FileError(fresh, "make", errno);
  absl::Status done = WriteAndSync(descriptor, fresh, Format(record));
  if (done.ok()) done = RenameFile(fresh, path_);
  if (!done.ok()) {
    ::close(descriptor);
    return done;
  }
  // Even if the directory cannot be synced, the file that is there now is the new one.
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
  return SyncDirectory(directory_);
}

void Witness::NoteCommits(std::int64_t commits) {
  if (descriptor_ < 0) return;
  const std::string digits = absl::StrFormat("%020d\n", commits);
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  const auto length = static_cast<off_t>(digits.size());
  // A note that fails makes an old copy harder to tell, and nothing unsafe.
  if (end < length) return;
  if (::pwrite(descriptor_, digits.data(), digits.size(), end - length) < 0) return;
}

}  // namespace plimsoll::internal
