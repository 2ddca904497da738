#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plimsoll/core/random.h"

struct sqlite3_vfs;

namespace plimsoll {

enum class DiskFault {
  kNone,
  kError,       // the operation does nothing and fails; what a failed sync covered may be lost
  kFull,        // from here on, writing fails for want of space
  kShortWrite,  // half of the write is done, then the disk is full, for this once
  kPowerCut,    // the machine stops: nothing works until RestartMachine()
};

// The default VFS of SQLite while it lives: passes everything on to the system's own, remembers
// what has been synced, and breaks one operation. Files may be used by one thread only.
class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // Strikes at the `at`-th write, truncation or sync from now, counted from 1. `seed` decides what
  // a power cut leaves of the write that it strikes.
  void Arm(DiskFault fault, int at, std::uint64_t seed);
  // Writes, truncations and syncs since Arm().
  int operations() const { return operations_; }

  // After a power cut: every file becomes what was synced, with any part of what was not. No file
  // may be open.
  void RestartMachine();

 private:
  friend struct FaultFile;

  struct Change {
    bool truncation = false;
    std::int64_t offset = 0;  // for a truncation, the new size
    std::string data;
    bool durable = false;
    bool doubtful = false;  // was under a sync that failed: later syncs do not save it
  };
  struct FileLog {
    std::string base;  // what is durable for sure, and no change below refers to
    std::vector<Change> changes;
  };

  // What is to happen to the operation that comes now.
  DiskFault Next();
  static void Apply(const Change& change, std::string& content);
  static void MarkSynced(FileLog& log);
  static void MarkDoubtful(FileLog& log);

  sqlite3_vfs* const system_;
  const std::string name_;
  sqlite3_vfs* vfs_;
  std::map<std::string, FileLog> files_;
  DiskFault fault_ = DiskFault::kNone;
  int at_ = 0;
  int operations_ = 0;
  bool dead_ = false;
  Random random_{1};
};

}  // namespace plimsoll
