#include "plimsoll/store/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SqliteStoreTest : public ::testing::Test {
 protected:
  SqliteStoreTest() { std::filesystem::remove_all(directory_); }
  ~SqliteStoreTest() override { std::filesystem::remove_all(directory_); }

  std::string database() const { return directory_ + "/plimsoll.db"; }

  // A store that was used once and closed.
  void MakeUsedStore() const {
    ASSERT_TRUE(InitSqliteStore(directory_).ok());
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 100);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->TakeOver().ok());
    WriteBatch batch;
    for (int i = 0; i < 100; ++i) batch.put.push_back(MakeBound(absl::StrCat("5-", i)));
    ASSERT_TRUE((*store)->Commit(batch).ok());
  }

  // Changes the file as no controller would.
  void Tamper(const std::string& sql) const {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(raw);
    sqlite3_close(raw);
  }

  static Bound MakeBound(const std::string& session) {
    Bound bound;
    bound.key = {DependencyId("payments"), SessionId(session)};
    bound.service = ServiceId("checkout");
    bound.instance = InstanceId("checkout-1");
    bound.steps = {5, 2, 0};
    return bound;
  }

  const std::string directory_ = ::testing::TempDir() + "sqlite_store_" +
                                 ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SqliteStoreTest, MakesItsDirectoryForItselfAlone) {
  ASSERT_TRUE(OpenSqliteStore(directory_ + "/a/b", 1).ok());
  struct stat status {};
  ASSERT_EQ(::stat((directory_ + "/a/b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(SqliteStoreTest, TheRefusalOfASecondControllerNamesDirectoryAndHolder) {
  const absl::StatusOr<std::unique_ptr<Store>> first = OpenSqliteStore(directory_, 1);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(std::string(OpenSqliteStore(directory_, 1).status().message()),
              AllOf(HasSubstr(directory_), HasSubstr(absl::StrCat("process ", ::getpid(), " "))));
}

TEST_F(SqliteStoreTest, ALockFileOfADeadProcessIsNoObstacle) {
  std::filesystem::create_directories(directory_);
  std::ofstream(directory_ + "/plimsoll.lock") << "1\n";
  EXPECT_TRUE(OpenSqliteStore(directory_, 1).ok());
}

TEST_F(SqliteStoreTest, AFileOfANewerVersionIsRefusedAndLeftAlone) {
  MakeUsedStore();
  Tamper("UPDATE meta SET schema_version = 4, epoch = 4711");
  const absl::Status status = OpenSqliteStore(directory_, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("schema 4, this one knows 3"));
  Tamper("UPDATE meta SET schema_version = 3");
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 1);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->TakeOver()->epoch, Epoch(4712));
}

TEST_F(SqliteStoreTest, ADatabaseOfAnotherProgramIsRefused) {
  std::filesystem::create_directories(directory_);
  Tamper("CREATE TABLE recipe (name TEXT)");
  EXPECT_EQ(OpenSqliteStore(directory_, 1).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(SqliteStoreTest, AFileInPlaceOfTheDirectoryIsUnavailable) {
  std::ofstream(directory_) << "a file";
  EXPECT_EQ(OpenSqliteStore(directory_, 1).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(OpenSqliteStore(directory_ + "/x", 1).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(SqliteStoreTest, FractionsOfAMicrosecondAreRoundedUp) {
  Bound bound = MakeBound("5-1");
  bound.lease = absl::Nanoseconds(1'500);
  ASSERT_TRUE(InitSqliteStore(directory_).ok());
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 1);
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->TakeOver().ok());
  ASSERT_TRUE((*store)->Commit({.put = {bound}, .erase = {}}).ok());
  bound.lease = absl::Microseconds(2);
  EXPECT_THAT((*store)->TakeOver()->bounds, ElementsAre(bound));
}

TEST_F(SqliteStoreTest, ABatchWithOneBadBoundWritesNothing) {
  ASSERT_TRUE(InitSqliteStore(directory_).ok());
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 1);
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->TakeOver().ok());
  const Bound kept = MakeBound("5-1");
  ASSERT_TRUE((*store)->Commit({.put = {kept}, .erase = {}}).ok());
  Bound bad = MakeBound("5-3");
  bad.steps.limit = -1;
  EXPECT_FALSE((*store)->Commit({.put = {MakeBound("5-2"), bad}, .erase = {kept.key}}).ok());
  EXPECT_THAT((*store)->TakeOver()->bounds, ElementsAre(kept));
}

// Runs in a process of its own: the limit on file sizes stands in for a full disk.
int CommitBeyondTheFileSizeLimit(const std::string& directory, const WriteBatch& batch) {
  if (!InitSqliteStore(directory).ok()) return 1;
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory, 1);
  if (!store.ok() || !(*store)->TakeOver().ok()) return 1;
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit {};
  getrlimit(RLIMIT_FSIZE, &limit);
  const struct rlimit small { .rlim_cur = 4096, .rlim_max = limit.rlim_max };
  setrlimit(RLIMIT_FSIZE, &small);
  if ((*store)->Commit(batch).ok()) return 2;
  setrlimit(RLIMIT_FSIZE, &limit);
  if (!(*store)->TakeOver()->bounds.empty()) return 3;
  if (!(*store)->Commit(batch).ok()) return 4;
  return (*store)->TakeOver()->bounds.size() == batch.put.size() ? 0 : 5;
}

TEST_F(SqliteStoreTest, AFailedWriteLeavesNothingBehindAndTheNextOneWorks) {
  const WriteBatch batch{.put = {MakeBound("5-1"), MakeBound("5-2")}, .erase = {}};
  EXPECT_EXIT(std::exit(CommitBeyondTheFileSizeLimit(directory_, batch)),
              ::testing::ExitedWithCode(0), "");
}

// Runs in a process of its own, without the powers of root.
int OpenWithoutPermission(const std::string& directory) {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0 && ::setuid(kNobody) != 0) return 1;
  const absl::Status status = OpenSqliteStore(directory, 1).status();
  if (status.code() != absl::StatusCode::kUnavailable) return 2;
  return std::string(status.message()).find("may write") != std::string::npos ? 0 : 3;
}

TEST_F(SqliteStoreTest, AReadOnlyDirectoryIsUnavailableAndTheMessageSaysSo) {
  std::filesystem::create_directories(directory_);
  std::filesystem::permissions(directory_, std::filesystem::perms(0555));
  EXPECT_EXIT(std::exit(OpenWithoutPermission(directory_)), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace plimsoll
