#include "tests/unit/controller/fault_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace plimsoll {

// A file of the VFS; the system's own file follows it in memory.
struct FaultFile {
  sqlite3_file base;
  FaultVfs* vfs;
  FaultVfs::FileLog* log;  // null for files without a name

  static FaultFile& Of(sqlite3_file* file) { return *reinterpret_cast<FaultFile*>(file); }
  static sqlite3_file* System(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<FaultFile*>(file) + 1);
  }
  static FaultVfs& VfsOf(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }

  static int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out);
  static int Delete(sqlite3_vfs* vfs, const char* name, int sync_directory);
  static int Close(sqlite3_file* file) {
    return System(file)->pMethods == nullptr ? SQLITE_OK
                                             : System(file)->pMethods->xClose(System(file));
  }
  static int Read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset);
  static int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset);
  static int Truncate(sqlite3_file* file, sqlite3_int64 size);
  static int Sync(sqlite3_file* file, int flags);
  // Writes what is said and remembers it.
  static int PassOn(sqlite3_file* file, std::string_view data, sqlite3_int64 offset);
};

namespace {

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <auto method, typename... Arguments>
int Forward(sqlite3_file* file, Arguments... arguments) {
  sqlite3_file* const system = FaultFile::System(file);
  return (system->pMethods->*method)(system, arguments...);
}

const sqlite3_io_methods* Methods() {
  using M = sqlite3_io_methods;
  static const M methods = [] {
    M m{};
    m.iVersion = 2;
    m.xClose = FaultFile::Close;
    m.xRead = FaultFile::Read;
    m.xWrite = FaultFile::Write;
    m.xTruncate = FaultFile::Truncate;
    m.xSync = FaultFile::Sync;
    m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
      return Forward<&M::xFileSize>(f, size);
    };
    m.xLock = [](sqlite3_file* f, int lock) { return Forward<&M::xLock>(f, lock); };
    m.xUnlock = [](sqlite3_file* f, int lock) { return Forward<&M::xUnlock>(f, lock); };
    m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
      return Forward<&M::xCheckReservedLock>(f, out);
    };
    m.xFileControl = [](sqlite3_file* f, int op, void* argument) {
      return Forward<&M::xFileControl>(f, op, argument);
    };
    m.xSectorSize = [](sqlite3_file* f) { return Forward<&M::xSectorSize>(f); };
    // The system may promise more than the disk of this test keeps.
    m.xDeviceCharacteristics = [](sqlite3_file* /*f*/) { return 0; };
    m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
      return Forward<&M::xShmMap>(f, page, size, extend, out);
    };
    m.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
      return Forward<&M::xShmLock>(f, offset, n, flags);
    };
    m.xShmBarrier = [](sqlite3_file* f) {
      FaultFile::System(f)->pMethods->xShmBarrier(FaultFile::System(f));
    };
    m.xShmUnmap = [](sqlite3_file* f, int remove) { return Forward<&M::xShmUnmap>(f, remove); };
    return m;
  }();
  return &methods;
}

}  // namespace

int FaultFile::Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  FaultVfs& owner = VfsOf(vfs);
  FaultFile& self = Of(file);
  self.base.pMethods = nullptr;
  if (owner.dead_) return SQLITE_CANTOPEN;
  self.vfs = &owner;
  self.log = nullptr;
  if (name != nullptr) {
    const auto [found, is_new] = owner.files_.try_emplace(name);
    if (is_new) found->second.base = ReadWhole(name);
    self.log = &found->second;
  }
  const int result = owner.system_->xOpen(owner.system_, name, System(file), flags, out);
  if (result == SQLITE_OK) self.base.pMethods = Methods();
  return result;
}

int FaultFile::Delete(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  FaultVfs& owner = VfsOf(vfs);
  if (owner.dead_) return SQLITE_IOERR_DELETE;
  owner.files_.erase(name);
  return owner.system_->xDelete(owner.system_, name, sync_directory);
}

int FaultFile::Read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  if (Of(file).vfs->dead_) return SQLITE_IOERR_READ;
  return System(file)->pMethods->xRead(System(file), data, size, offset);
}

int FaultFile::PassOn(sqlite3_file* file, std::string_view data, sqlite3_int64 offset) {
  FaultVfs::FileLog* const log = Of(file).log;
  if (log != nullptr) {
    FaultVfs::Change change;
    change.offset = offset;
    change.data = data;
    log->changes.push_back(std::move(change));
  }
  return System(file)->pMethods->xWrite(System(file), data.data(), static_cast<int>(data.size()),
                                        offset);
}

int FaultFile::Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const std::string_view bytes(static_cast<const char*>(data), static_cast<std::size_t>(size));
  switch (Of(file).vfs->Next()) {
    case DiskFault::kNone:
      return PassOn(file, bytes, offset);
    case DiskFault::kFull:
      return SQLITE_FULL;
    case DiskFault::kShortWrite:
      PassOn(file, bytes.substr(0, bytes.size() / 2), offset);
      return SQLITE_FULL;
    case DiskFault::kPowerCut:
      PassOn(file, bytes.substr(0, Of(file).vfs->random_.Next() % (bytes.size() + 1)), offset);
      return SQLITE_IOERR_WRITE;
    case DiskFault::kError:
      return SQLITE_IOERR_WRITE;
  }
  return SQLITE_IOERR_WRITE;
}

int FaultFile::Truncate(sqlite3_file* file, sqlite3_int64 size) {
  const DiskFault fault = Of(file).vfs->Next();
  if (fault == DiskFault::kError || fault == DiskFault::kPowerCut) return SQLITE_IOERR_TRUNCATE;
  FaultVfs::FileLog* const log = Of(file).log;
  if (log != nullptr) {
    FaultVfs::Change change;
    change.truncation = true;
    change.offset = size;
    log->changes.push_back(std::move(change));
  }
  return System(file)->pMethods->xTruncate(System(file), size);
}

int FaultFile::Sync(sqlite3_file* file, int /*flags*/) {
  FaultVfs::FileLog* const log = Of(file).log;
  const DiskFault fault = Of(file).vfs->Next();
  const bool fails = fault != DiskFault::kNone && fault != DiskFault::kShortWrite;
  if (fails && log != nullptr && fault != DiskFault::kPowerCut) FaultVfs::MarkDoubtful(*log);
  if (fails) return SQLITE_IOERR_FSYNC;
  if (log != nullptr) FaultVfs::MarkSynced(*log);
  return SQLITE_OK;
}

FaultVfs::FaultVfs()
    : system_(sqlite3_vfs_find(nullptr)),
      name_("plimsoll-faults"),
      vfs_(new sqlite3_vfs(*system_)) {
  vfs_->szOsFile = static_cast<int>(sizeof(FaultFile)) + system_->szOsFile;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->pNext = nullptr;
  vfs_->xOpen = FaultFile::Open;
  vfs_->xDelete = FaultFile::Delete;
  sqlite3_vfs_register(vfs_, 1);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(vfs_);
  sqlite3_vfs_register(system_, 1);
  delete vfs_;
}

void FaultVfs::Arm(DiskFault fault, int at, std::uint64_t seed) {
  fault_ = fault;
  at_ = at;
  operations_ = 0;
  random_ = Random(seed);
}

DiskFault FaultVfs::Next() {
  if (dead_) return DiskFault::kPowerCut;
  ++operations_;
  const bool strikes =
      fault_ == DiskFault::kFull ? at_ > 0 && operations_ >= at_ : operations_ == at_;
  if (!strikes) return DiskFault::kNone;
  dead_ = fault_ == DiskFault::kPowerCut;
  return fault_;
}

void FaultVfs::Apply(const Change& change, std::string& content) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (change.truncation) {
    content.resize(offset);
    return;
  }
  content.resize(std::max(content.size(), offset + change.data.size()));
  content.replace(offset, change.data.size(), change.data);
}

void FaultVfs::MarkSynced(FileLog& log) {
  bool all = true;
  for (Change& change : log.changes) {
    change.durable = !change.doubtful;
    all = all && change.durable;
  }
  if (!all) return;
  for (const Change& change : log.changes) Apply(change, log.base);
  log.changes.clear();
}

void FaultVfs::MarkDoubtful(FileLog& log) {
  for (Change& change : log.changes) change.doubtful = change.doubtful || !change.durable;
}

void FaultVfs::RestartMachine() {
  constexpr std::size_t kSector = 512;
  for (auto& [path, log] : files_) {
    std::string content = log.base;
    for (Change& change : log.changes) {
      const std::uint64_t fate = random_.Next() % 4;
      if (!change.durable && fate == 0) continue;
      if (!change.durable && fate == 1) {
        const std::size_t sectors = change.data.size() / kSector;
        change.data.resize(kSector * (random_.Next() % (sectors + 1)));
      }
      Apply(change, content);
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  files_.clear();
  fault_ = DiskFault::kNone;
  dead_ = false;
}

}  // namespace plimsoll
