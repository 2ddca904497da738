#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "plimsoll/store/sqlite_store.h"

namespace plimsoll {
namespace {

constexpr int kBoundsPerBatch = 8;

// Batch `number`: every bound of it carries the number as its limit.
WriteBatch MakeBatch(Calls number) {
  WriteBatch batch;
  for (int i = 0; i < kBoundsPerBatch; ++i) {
    Bound bound;
    bound.key = {DependencyId(absl::StrCat("dependency-", i)), SessionId("1-1")};
    bound.steps = {number, 0, 0};
    batch.put.push_back(bound);
  }
  return batch;
}

// Never returns: commits batch after batch, and tells the number of each one that is durable.
[[noreturn]] void CommitForEver(const std::string& directory, int acknowledgements) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory, 1);
  if (!store.ok() || !(*store)->TakeOver().ok()) ::_exit(1);
  for (Calls number = 1;; ++number) {
    if (!(*store)->Commit(MakeBatch(number)).ok()) ::_exit(2);
    if (::write(acknowledgements, &number, sizeof(number)) != sizeof(number)) ::_exit(3);
  }
}

// Kills a committing process once it has acknowledged `batches`; returns the last number it told.
Calls CommitAndKill(const std::string& directory, int batches) {
  int pipe_ends[2];
  EXPECT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) CommitForEver(directory, pipe_ends[1]);
  ::close(pipe_ends[1]);
  Calls last = 0;
  Calls number = 0;
  while (::read(pipe_ends[0], &number, sizeof(number)) == sizeof(number)) {
    last = number;
    if (batches-- == 0) ::kill(child, SIGKILL);
  }
  ::close(pipe_ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended with " << status;
  return last;
}

TEST(StoreCrashTest, AKilledControllerLosesNoAcknowledgedBatchAndLeavesNoHalfOfOne) {
  const std::string directory = ::testing::TempDir() + "store_crash";
  for (int round = 0; round < 10; ++round) {
    std::filesystem::remove_all(directory);
    const Calls acknowledged = CommitAndKill(directory, 5 + 7 * round);
    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory, 1);
    ASSERT_TRUE(store.ok()) << store.status();
    const absl::StatusOr<StoreState> state = (*store)->TakeOver();
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(state->epoch, Epoch(2));
    std::map<Calls, int> bounds_by_number;
    for (const Bound& bound : state->bounds) ++bounds_by_number[bound.steps.limit];
    ASSERT_EQ(bounds_by_number.size(), 1U) << "parts of several batches in round " << round;
    EXPECT_EQ(bounds_by_number.begin()->second, kBoundsPerBatch);
    EXPECT_GE(bounds_by_number.begin()->first, acknowledged);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace plimsoll
