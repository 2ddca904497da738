#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace plimsoll::internal {

// What the database of a directory must at least know.
struct WitnessRecord {
  std::string store_id;
  std::int64_t epoch = 0;
  std::int64_t longest_hold_us = 0;  // at least: a lost database must not shorten learning
  std::int64_t commits = 0;

  friend bool operator==(const WitnessRecord&, const WitnessRecord&) = default;
};

// The file `plimsoll.witness` beside the database: it tells a database that is missing, another
// one, or an old copy from what was there last. Thread-compatible.
class Witness {
 public:
  explicit Witness(std::string directory);
  Witness(Witness&& other) noexcept;
  Witness& operator=(Witness&&) = delete;
  ~Witness();

  // Nothing if there is no file; kDataLoss if it is not one that Replace() wrote, kUnavailable if
  // it cannot be read.
  absl::StatusOr<std::optional<WitnessRecord>> Read() const;
  // Returns when the record is durable; after an error the old one or the new one is.
  absl::Status Replace(const WitnessRecord& record);
  // Notes a commit that is durable already. Survives a crash of the process, but perhaps not one of
  // the machine: then an older number stands there, which a whole database exceeds.
  void NoteCommits(std::int64_t commits);

  const std::string& path() const { return path_; }

 private:
  std::string directory_;
  std::string path_;
  int descriptor_ = -1;  // of the file that Replace() wrote last
};

}  // namespace plimsoll::internal
