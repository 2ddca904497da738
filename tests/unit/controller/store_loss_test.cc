// What a SQLite store says of a directory in which something is not as it was left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "plimsoll/store/sqlite_store.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kFirstEpoch = 1'000'000;
constexpr int kBounds = 100;

class StoreLossTest : public ::testing::Test {
 protected:
  StoreLossTest() { std::filesystem::remove_all(directory_); }
  ~StoreLossTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string database() const { return path("plimsoll.db"); }

  static WriteBatch ManyBounds() {
    WriteBatch batch;
    for (int i = 0; i < kBounds; ++i) {
      Bound bound;
      bound.key = {DependencyId("payments"), SessionId(absl::StrCat("5-", i))};
      bound.service = ServiceId("checkout");
      bound.instance = InstanceId(absl::StrCat("checkout-", i));
      bound.steps = {5, 2, 0};
      batch.put.push_back(bound);
    }
    batch.longest_hold = absl::Minutes(11);
    return batch;
  }

  // A store that was made, used in a reign with epoch 100, and closed.
  void MakeUsedStore() const {
    ASSERT_TRUE(InitSqliteStore(directory_).ok());
    UseStore(100);
  }
  void UseStore(std::int64_t first_epoch) const {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, first_epoch);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->TakeOver().ok());
    ASSERT_TRUE((*store)->Commit(ManyBounds()).ok());
  }

  // What the next controller finds.
  StoreState Next(OperatorWord word = OperatorWord::kNone) const {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, kFirstEpoch, word);
    EXPECT_TRUE(store.ok()) << store.status();
    if (!store.ok()) return {};
    absl::StatusOr<StoreState> state = (*store)->TakeOver();
    EXPECT_TRUE(state.ok()) << state.status();
    return state.value_or(StoreState{});
  }

  void ExpectLost(const StoreState& state, const std::string& why) const {
    EXPECT_EQ(state.condition, StoreCondition::kLost);
    EXPECT_THAT(state.why, HasSubstr(why));
    EXPECT_THAT(state.bounds, IsEmpty());
    EXPECT_GE(state.epoch.value, kFirstEpoch);
    EXPECT_EQ(Next().condition, StoreCondition::kLost) << "a restart while it learns";
  }

  void Tamper(const std::string& sql) const {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(raw);
    sqlite3_close(raw);
  }

  static std::string ReadFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string directory_ = ::testing::TempDir() + "store_loss_" +
                                 ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(StoreLossTest, AStoreThatWasLeftInOrderIsWhole) {
  MakeUsedStore();
  const StoreState state = Next();
  EXPECT_EQ(state.condition, StoreCondition::kWhole) << state.why;
  EXPECT_THAT(state.bounds, SizeIs(kBounds));
  EXPECT_EQ(state.epoch, Epoch(101));
}

TEST_F(StoreLossTest, AStoreMadeOnPurposeIsNewUntilItsFirstReign) {
  const absl::StatusOr<std::string> id = InitSqliteStore(directory_);
  ASSERT_TRUE(id.ok()) << id.status();
  EXPECT_THAT(*id, SizeIs(32));
  EXPECT_EQ(Next().condition, StoreCondition::kNew);
  EXPECT_EQ(Next().condition, StoreCondition::kWhole);
}

TEST_F(StoreLossTest, AnEmptyDirectoryIsALossAndTheReasonSaysHowToBegin) {
  const StoreState state = Next();
  EXPECT_THAT(state.why, HasSubstr(directory_));
  ExpectLost(state, "--init");
}

TEST_F(StoreLossTest, InitRefusesADirectoryWithAStoreOrAPartOfOne) {
  MakeUsedStore();
  EXPECT_EQ(InitSqliteStore(directory_).status().code(), absl::StatusCode::kAlreadyExists);
  std::filesystem::remove(database());
  EXPECT_EQ(InitSqliteStore(directory_).status().code(), absl::StatusCode::kAlreadyExists)
      << "the witness is still there";
  std::filesystem::remove(path("plimsoll.witness"));
  EXPECT_TRUE(InitSqliteStore(directory_).ok());
}

TEST_F(StoreLossTest, InitIsRefusedWhileAControllerHoldsTheDirectory) {
  const absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 1);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(InitSqliteStore(directory_).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(StoreLossTest, AMissingDatabaseIsALoss) {
  MakeUsedStore();
  std::filesystem::remove(database());
  ExpectLost(Next(), "plimsoll.db' is missing");
}

TEST_F(StoreLossTest, TheEpochAfterALossLiesAboveTheWitnessEvenIfTheClockIsWrong) {
  ASSERT_TRUE(InitSqliteStore(directory_).ok());
  UseStore(kFirstEpoch + 5000);
  std::filesystem::remove(database());
  EXPECT_GT(Next().epoch, Epoch(kFirstEpoch + 5000));
}

TEST_F(StoreLossTest, AMissingWitnessIsALoss) {
  MakeUsedStore();
  std::filesystem::remove(path("plimsoll.witness"));
  ExpectLost(Next(), "plimsoll.witness' is missing");
}

TEST_F(StoreLossTest, ADamagedWitnessIsALoss) {
  MakeUsedStore();
  std::ofstream(path("plimsoll.witness")) << "plimsoll witness 1\nstore x\n";
  ExpectLost(Next(), "plimsoll.witness' is damaged");
}

TEST_F(StoreLossTest, ADatabaseOfAnotherStoreIsALoss) {
  MakeUsedStore();
  Tamper("UPDATE meta SET log_id = 'another'");
  ExpectLost(Next(), "The database is another one (another)");
}

TEST_F(StoreLossTest, ABackupOfAnEarlierReignIsALoss) {
  MakeUsedStore();
  std::filesystem::copy_file(database(), path("backup"));
  UseStore(1);
  std::filesystem::rename(path("backup"), database());
  ExpectLost(Next(), "older than what was written last");
}

TEST_F(StoreLossTest, ABackupOfTheSameReignIsALoss) {
  ASSERT_TRUE(InitSqliteStore(directory_).ok());
  {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 100);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE((*store)->TakeOver().ok());
    ASSERT_TRUE((*store)->Commit(ManyBounds()).ok());
    Tamper(absl::StrCat("VACUUM INTO '", path("backup"), "'"));
    ASSERT_TRUE((*store)->Commit({.put = {}, .erase = {ManyBounds().put[0].key}}).ok());
  }
  std::filesystem::rename(path("backup"), database());
  ExpectLost(Next(), "older than what was written last");
}

TEST_F(StoreLossTest, TheLongestHoldSurvivesTheLossOfTheWitness) {
  MakeUsedStore();
  std::filesystem::remove(path("plimsoll.witness"));
  EXPECT_EQ(Next().longest_hold, absl::Minutes(11));
}

TEST_F(StoreLossTest, TheLongestHoldSurvivesTheLossOfTheDatabase) {
  MakeUsedStore();
  std::filesystem::remove(database());
  EXPECT_EQ(Next().longest_hold, absl::Minutes(11));
  EXPECT_EQ(Next().longest_hold, absl::Minutes(11)) << "it is in the new database, too";
}

TEST_F(StoreLossTest, AFileThatIsNoDatabaseIsALossAndIsMovedAside) {
  std::filesystem::create_directories(directory_);
  const std::string garbage(10'000, 'x');
  std::ofstream(database()) << garbage;
  const StoreState state = Next();
  EXPECT_EQ(ReadFile(path("plimsoll.db.damaged-1")), garbage);
  EXPECT_THAT(state.why, AllOf(HasSubstr("damaged"), HasSubstr("plimsoll.db.damaged-1")));
  ExpectLost(state, "moved");
}

TEST_F(StoreLossTest, ADamagedPageIsALoss) {
  MakeUsedStore();
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(database()));
  std::fstream file(database(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(size - 4096);
  file << std::string(4096, '\xa5');
  file.close();
  const std::string damaged = ReadFile(database());
  ExpectLost(Next(), "is damaged");
  EXPECT_EQ(ReadFile(path("plimsoll.db.damaged-1")), damaged);
}

TEST_F(StoreLossTest, ATruncatedFileIsALoss) {
  MakeUsedStore();
  std::filesystem::resize_file(database(), std::filesystem::file_size(database()) / 2);
  ExpectLost(Next(), "is damaged");
}

TEST_F(StoreLossTest, AFileOfNoBytesIsALoss) {
  MakeUsedStore();
  std::filesystem::resize_file(database(), 0);
  ExpectLost(Next(), "was empty");
}

TEST_F(StoreLossTest, ANumberThatChangedByItselfIsALoss) {
  MakeUsedStore();
  Tamper("UPDATE bound SET steps_limit = 4 WHERE session = '5-42'");
  ExpectLost(Next(), "a bound is not as it was written");
}

TEST_F(StoreLossTest, DamagedFilesNeverReplaceEachOther) {
  std::filesystem::create_directories(directory_);
  for (const char c : {'1', '2', '3'}) {
    std::ofstream(database(), std::ios::trunc) << std::string(5000, c);
    Next();
  }
  for (const char c : {'1', '2', '3'}) {
    EXPECT_EQ(ReadFile(path(std::string("plimsoll.db.damaged-") + c)), std::string(5000, c));
  }
}

TEST_F(StoreLossTest, ALogWithoutItsDatabaseIsMovedAsideToo) {
  std::filesystem::create_directories(directory_);
  std::ofstream(path("plimsoll.db-wal")) << "frames";
  Next();
  EXPECT_EQ(ReadFile(path("plimsoll.db.damaged-1-wal")), "frames");
}

TEST_F(StoreLossTest, TheOperatorMayDeclareAWholeStoreLost) {
  MakeUsedStore();
  ExpectLost(Next(OperatorWord::kLost), "The operator");
}

TEST_F(StoreLossTest, TheOperatorMayTrustWhatCountsAsLost) {
  MakeUsedStore();
  std::filesystem::remove(path("plimsoll.witness"));
  const StoreState state = Next(OperatorWord::kTrust);
  EXPECT_EQ(state.condition, StoreCondition::kWhole);
  EXPECT_THAT(state.bounds, SizeIs(kBounds));
  EXPECT_GE(state.epoch.value, kFirstEpoch);
  EXPECT_EQ(Next().condition, StoreCondition::kWhole);
}

TEST_F(StoreLossTest, TheOperatorMayEndLearning) {
  Next();
  UseStore(1);
  EXPECT_EQ(Next(OperatorWord::kTrust).condition, StoreCondition::kWhole);
  EXPECT_EQ(Next().condition, StoreCondition::kWhole);
}

TEST_F(StoreLossTest, AnEmptyDirectoryThatIsTrustedIsNew) {
  EXPECT_EQ(Next(OperatorWord::kTrust).condition, StoreCondition::kNew);
  EXPECT_EQ(Next().condition, StoreCondition::kWhole);
}

// As the first version wrote it.
constexpr char kVersion1[] = R"(
  PRAGMA journal_mode = WAL;
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1), schema_version INTEGER NOT NULL,
    log_id TEXT NOT NULL, epoch INTEGER NOT NULL) STRICT;
  CREATE TABLE bound (
    dependency TEXT NOT NULL, session TEXT NOT NULL, service TEXT NOT NULL,
    instance TEXT NOT NULL, unique_instance INTEGER NOT NULL CHECK (unique_instance IN (0, 1)),
    steps_limit INTEGER NOT NULL CHECK (steps_limit BETWEEN 0 AND 2147483647),
    steps_base INTEGER NOT NULL CHECK (steps_base BETWEEN 0 AND 2147483647),
    steps_reserve INTEGER NOT NULL CHECK (steps_reserve BETWEEN 0 AND 2147483647),
    lease_us INTEGER NOT NULL CHECK (lease_us >= 0),
    base_lease_us INTEGER NOT NULL CHECK (base_lease_us >= 0),
    call_deadline_us INTEGER NOT NULL CHECK (call_deadline_us >= 0),
    PRIMARY KEY (dependency, session)) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES (1, 1, 'an-old-id', 77);
  INSERT INTO bound VALUES
    ('payments', '77-1', 'checkout', 'checkout-1', 1, 7, 2, 0, 10000000, 600000000, 1500000);
)";

TEST_F(StoreLossTest, AStoreOfVersion1IsUpgradedInPlaceAndWhole) {
  std::filesystem::create_directories(directory_);
  Tamper(kVersion1);
  const StoreState state = Next();
  EXPECT_EQ(state.condition, StoreCondition::kWhole) << state.why;
  EXPECT_EQ(state.epoch, Epoch(78));
  ASSERT_THAT(state.bounds, SizeIs(1));
  EXPECT_EQ(state.bounds[0].steps, (Steps{7, 2, 0}));
  EXPECT_EQ(state.bounds[0].base_lease, absl::Minutes(10));
  EXPECT_EQ(Next().epoch, Epoch(79));
}

// As the second version wrote it: without documents.
TEST_F(StoreLossTest, AStoreOfVersion2KeepsItsBoundsAndTakesDocuments) {
  MakeUsedStore();
  Tamper("DROP TABLE document; DROP TABLE audit; UPDATE meta SET schema_version = 2");
  const StoreState state = Next();
  EXPECT_EQ(state.condition, StoreCondition::kWhole) << state.why;
  EXPECT_THAT(state.bounds, SizeIs(kBounds));
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 1);
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->TakeOver().ok());
  const Document document{{"override", "db"}, "{}"};
  ASSERT_TRUE((*store)->Commit({.put_documents = {document}, .audit = {"first"}}).ok());
  store->reset();
  EXPECT_THAT(Next().documents, ElementsAre(document));
}

TEST_F(StoreLossTest, ADocumentThatWasChangedByAnotherHandIsDamage) {
  ASSERT_TRUE(InitSqliteStore(directory_).ok());
  {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 1);
    ASSERT_TRUE(store.ok() && (*store)->TakeOver().ok());
    ASSERT_TRUE((*store)->Commit({.put_documents = {{{"override", "db"}, "{}"}}}).ok());
  }
  Tamper("UPDATE document SET body = '{ }'");
  ExpectLost(Next(), "a document is not as it was written");
}

TEST_F(StoreLossTest, DocumentsOutliveALossThatLeavesThemReadable) {
  ASSERT_TRUE(InitSqliteStore(directory_).ok());
  const Document document{{"override", "db"}, "{}"};
  {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 1);
    ASSERT_TRUE(store.ok() && (*store)->TakeOver().ok());
    ASSERT_TRUE((*store)->Commit({.put_documents = {document}}).ok());
  }
  const StoreState lost = Next(OperatorWord::kLost);
  EXPECT_EQ(lost.condition, StoreCondition::kLost);
  EXPECT_THAT(lost.documents, ElementsAre(document));
}

TEST_F(StoreLossTest, ACopyIsMadeWhileTheStoreIsInUseAndTrustsNothingItKnew) {
  MakeUsedStore();
  const std::string copy = path("copy");
  const Document document{{"override", "db"}, "{}"};
  {
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory_, 1);
    ASSERT_TRUE(store.ok() && (*store)->TakeOver().ok());
    ASSERT_TRUE((*store)->Commit({.put_documents = {document}}).ok());
    const absl::Status made = BackUpSqliteStore(directory_, copy, "It was restored");
    ASSERT_TRUE(made.ok()) << made;
    EXPECT_TRUE((*store)->Commit(ManyBounds()).ok()) << "the store goes on";
  }
  EXPECT_EQ(std::filesystem::status(copy).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_FALSE(std::filesystem::exists(copy + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(copy + ".part"));
  // Even beside the witness of the very same instant.
  std::filesystem::rename(copy, database());
  const StoreState restored = Next();
  ExpectLost(restored, "It was restored");
  EXPECT_THAT(restored.documents, ElementsAre(document));
  EXPECT_EQ(restored.longest_hold, absl::Minutes(11));
}

TEST_F(StoreLossTest, NothingIsOverwrittenOrMadeUpByACopy) {
  const auto code = [this](const std::string& target) {
    return BackUpSqliteStore(directory_, path(target), "why").code();
  };
  EXPECT_EQ(code("copy"), absl::StatusCode::kNotFound);
  MakeUsedStore();
  std::ofstream(path("taken")) << "precious";
  EXPECT_EQ(code("taken"), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(std::filesystem::file_size(path("taken")), 8U);
  std::ofstream(database()) << std::string(9000, 'x');
  EXPECT_EQ(code("copy"), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(path("copy")));
}

TEST_F(StoreLossTest, AnUpgradeThatWasCutOffAfterItsWitnessIsRepeated) {
  std::filesystem::create_directories(directory_);
  Tamper(kVersion1);
  std::ofstream(path("plimsoll.witness"))
      << "plimsoll witness 1\nstore an-old-id\nepoch 00000000000000000077\n"
      << "longest_hold_us 00000000000000000000\ncommits 00000000000000000000\n";
  EXPECT_EQ(Next().condition, StoreCondition::kWhole);
}

TEST_F(StoreLossTest, AStoreOfVersion1ThatNeverReignedIsALoss) {
  std::filesystem::create_directories(directory_);
  Tamper(kVersion1);
  Tamper("UPDATE meta SET epoch = 0");
  ExpectLost(Next(), "An earlier version");
}

}  // namespace
}  // namespace plimsoll
