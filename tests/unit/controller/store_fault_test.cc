// A disk that fails at every single write, truncation and sync of a scripted life of a store, one
// after the other: whatever fails, the next controller finds all that was confirmed, and nothing
// torn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plimsoll/store/sqlite_store.h"
#include "tests/unit/controller/fault_vfs.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kFirstEpoch = 1000;
constexpr Calls kQuota = 50;
constexpr std::uint64_t kSeeds = 4;

// What a successor may find: the bounds, or the knowledge that they are lost.
struct Books {
  std::map<BoundKey, Bound> bounds;
  bool lost = false;

  friend bool operator==(const Books&, const Books&) = default;
};

Books After(Books books, const WriteBatch& batch) {
  if (batch.learned) books.lost = false;
  if (batch.new_epoch.has_value()) books = {{}, true};
  for (const BoundKey& key : batch.erase) books.bounds.erase(key);
  for (const Bound& bound : batch.put) books.bounds[bound.key] = bound;
  return books;
}

// As a successor sees them.
Books Visible(const Books& books) { return books.lost ? Books{{}, true} : books; }

Calls SumOf(const Books& books) {
  Calls sum = 0;
  for (const auto& [key, bound] : books.bounds) sum += bound.steps.limit;
  return sum;
}

Bound MakeBound(int session, Calls limit) {
  Bound bound;
  bound.key = {DependencyId("payments"), SessionId(absl::StrCat("1-", session))};
  bound.service = ServiceId("checkout");
  bound.instance = InstanceId(std::string(200, 'x') + absl::StrCat(session));
  bound.steps = {limit, 0, 0};
  bound.lease = absl::Seconds(10);
  return bound;
}

// Batch after batch the quota moves on between three groups of twenty sessions: torn in two, the
// bounds would exceed it.
WriteBatch MoveQuota(int step) {
  WriteBatch batch;
  for (int session = 0; session < 60; ++session) {
    if (session / 20 != step % 3) {
      batch.erase.push_back(MakeBound(session, 0).key);
      continue;
    }
    const bool larger = session % 20 < 10 && (step + session) % 2 == 0;
    batch.put.push_back(MakeBound(session, larger ? 4 : 2));
  }
  batch.longest_hold = absl::Minutes(step);
  return batch;
}

// The life of a store under faults, and what the next controller may find.
class Life {
 public:
  explicit Life(std::string directory) : directory_(std::move(directory)) {}

  // Two reigns, each with some batches and an orderly end; the second learns of its own age.
  void Run() {
    if (!Reign({MoveQuota(1), MoveQuota(2), MoveQuota(3), MoveQuota(4)})) return;
    WriteBatch learned = MoveQuota(2);
    learned.learned = true;
    WriteBatch older = MoveQuota(1);
    older.new_epoch = Epoch(kFirstEpoch + 500);
    Reign({MoveQuota(5), MoveQuota(6), older, learned, MoveQuota(3)});
  }

  // Empty if the next controller finds what it may find.
  std::string CheckSuccessor() {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, kFirstEpoch);
    if (!store.ok()) return std::string(store.status().message());
    const absl::StatusOr<StoreState> state = (*store)->TakeOver();
    if (!state.ok()) return std::string(state.status().message());
    if (state->epoch.value <= last_epoch_) return "the epoch does not rise";
    Books found{{}, state->condition == StoreCondition::kLost};
    for (const Bound& bound : state->bounds) found.bounds[bound.key] = bound;
    if (SumOf(found) > kQuota) return "the bounds exceed the quota";
    if (found == Visible(sure_)) return "";
    for (const Books& other : possible_) {
      if (found == Visible(other)) return "";
    }
    return absl::StrCat("found ", found.bounds.size(), " bounds that nobody left, ", state->why);
  }

 private:
  // True if all went well enough to go on with another reign.
  bool Reign(const std::vector<WriteBatch>& batches) {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, kFirstEpoch);
    if (!store.ok()) return false;
    const absl::StatusOr<StoreState> state = (*store)->TakeOver();
    if (!state.ok()) return false;
    last_epoch_ = state->epoch.value;
    for (const WriteBatch& batch : batches) {
      const Books after = After(sure_, batch);
      const bool ok = (*store)->Commit(batch).ok();
      if (ok) {
        // What failed before cannot land any more.
        possible_.clear();
        sure_ = after;
        if (batch.new_epoch.has_value()) last_epoch_ = batch.new_epoch->value;
      } else {
        possible_.push_back(after);
        // A core would ask again and again, and do nothing else.
        if (batch.new_epoch.has_value()) return false;
      }
    }
    return true;
  }

  const std::string directory_;
  Books sure_;
  std::vector<Books> possible_;
  std::int64_t last_epoch_ = 0;
};

// Many small checkpoints instead of few large ones, so that faults strike them, too.
int CheckpointOften(sqlite3* database, const char** /*error*/, const void* /*api*/) {
  return sqlite3_wal_autocheckpoint(database, 16);
}

const char* weaker_synchronous = "";

int KeepWeaker(void* /*unused*/, int action, const char* name, const char* value,
               const char* /*database*/, const char* /*trigger*/) {
  const bool sets = action == SQLITE_PRAGMA && std::strcmp(name, "synchronous") == 0 &&
                    value != nullptr && std::strcmp(value, weaker_synchronous) != 0;
  return sets ? SQLITE_IGNORE : SQLITE_OK;
}

// The mutant: the store asks for FULL, and does not get it.
int Weaken(sqlite3* database, const char** /*error*/, const void* /*api*/) {
  sqlite3_set_authorizer(database, KeepWeaker, nullptr);
  const std::string pragma = absl::StrCat("PRAGMA synchronous = ", weaker_synchronous);
  sqlite3_exec(database, pragma.c_str(), nullptr, nullptr, nullptr);
  return SQLITE_OK;
}

template <typename Hook>
void OnEachOpen(Hook hook) {
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(hook));
}

class StoreFaultTest : public ::testing::Test {
 protected:
  StoreFaultTest() {
    OnEachOpen(CheckpointOften);
    std::filesystem::remove_all(root_);
    EXPECT_TRUE(InitSqliteStore(fresh()).ok());
  }
  ~StoreFaultTest() override {
    sqlite3_reset_auto_extension();
    std::filesystem::remove_all(root_);
  }

  // In memory where there is such a thing: what survives is up to FaultVfs, not to the disk.
  static std::string Root() {
    const std::string parent =
        std::filesystem::exists("/dev/shm") ? "/dev/shm/" : ::testing::TempDir();
    return parent + absl::StrCat("plimsoll_faults_", ::getpid());
  }
  std::string fresh() const { return root_ + "/fresh"; }

  // One life with one fault; what is wrong afterwards, and how many operations there were.
  std::string Live(DiskFault fault, int at, std::uint64_t seed, int* operations = nullptr) const {
    const std::string directory = root_ + "/life";
    std::filesystem::remove_all(directory);
    std::filesystem::copy(fresh(), directory);
    FaultVfs vfs;
    Life life(directory);
    vfs.Arm(fault, at, seed);
    life.Run();
    if (operations != nullptr) *operations = vfs.operations();
    vfs.Arm(DiskFault::kNone, 0, seed);
    vfs.RestartMachine();
    return life.CheckSuccessor();
  }

  // How many lives end badly; the first one is described.
  int Violations(DiskFault fault, std::uint64_t seeds, std::string* first) const {
    int violations = 0;
    int operations = 0;
    Live(DiskFault::kNone, 0, 1, &operations);
    EXPECT_GT(operations, 50);
    for (int at = 1; at <= operations; ++at) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const std::string wrong = Live(fault, at, seed);
        if (wrong.empty()) continue;
        if (violations++ == 0) *first = absl::StrCat("at ", at, ", seed ", seed, ": ", wrong);
      }
    }
    RecordProperty("operations", operations);
    return violations;
  }

  const std::string root_ = Root();
};

TEST_F(StoreFaultTest, WithoutAFaultTheNextControllerFindsTheLastBatch) {
  EXPECT_EQ(Live(DiskFault::kNone, 0, 1), "");
}

TEST_F(StoreFaultTest, AnErrorAtAnyOperationLosesNothingAndTearsNothing) {
  std::string first;
  EXPECT_EQ(Violations(DiskFault::kError, 1, &first), 0) << first;
}

TEST_F(StoreFaultTest, ADiskThatIsFullFromAnyOperationOnLosesNothingAndTearsNothing) {
  std::string first;
  EXPECT_EQ(Violations(DiskFault::kFull, 1, &first), 0) << first;
}

TEST_F(StoreFaultTest, AShortWriteAnywhereLosesNothingAndTearsNothing) {
  std::string first;
  EXPECT_EQ(Violations(DiskFault::kShortWrite, 1, &first), 0) << first;
}

TEST_F(StoreFaultTest, APowerCutAtAnyOperationLosesNothingAndTearsNothing) {
  std::string first;
  EXPECT_EQ(Violations(DiskFault::kPowerCut, kSeeds, &first), 0) << first;
}

TEST_F(StoreFaultTest, WithSynchronousNormalAPowerCutLosesWhatWasConfirmed) {
  weaker_synchronous = "NORMAL";
  OnEachOpen(Weaken);
  std::string first;
  EXPECT_GT(Violations(DiskFault::kPowerCut, 1, &first), 0);
}

TEST_F(StoreFaultTest, WithSynchronousOffAPowerCutLosesWhatWasConfirmed) {
  weaker_synchronous = "OFF";
  OnEachOpen(Weaken);
  std::string first;
  EXPECT_GT(Violations(DiskFault::kPowerCut, 1, &first), 0);
}

}  // namespace
}  // namespace plimsoll
