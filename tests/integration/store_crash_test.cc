// kill -9 at random instants, again and again on the same store: every reign finds what the one
// before has confirmed, and nothing torn.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/random.h"
#include "plimsoll/store/sqlite_store.h"

namespace plimsoll {
namespace {

constexpr int kKills = 60;
constexpr Calls kQuota = 48;
constexpr int kSessions = 24;

using Books = std::map<BoundKey, Bound>;

Bound MakeBound(const std::string& dependency, int session, Calls limit) {
  Bound bound;
  bound.key = {DependencyId(dependency), SessionId(absl::StrCat("1-", session))};
  bound.steps = {limit, 0, 0};
  return bound;
}

// Who holds the quota after batch `number`: a third of the sessions, another one each time. The
// dependency "number" tells how far the books have come.
Books BooksAfter(Calls number) {
  Books books;
  const auto put = [&books](const Bound& bound) { books[bound.key] = bound; };
  if (number == 0) return books;
  put(MakeBound("number", 0, number));
  for (int session = number % 3; session < kSessions; session += 3) {
    put(MakeBound("payments", session, kQuota * 3 / kSessions));
  }
  return books;
}

// From the books before to those after `number`, in one transaction.
WriteBatch BatchTo(Calls number) {
  WriteBatch batch;
  for (const auto& [key, bound] : BooksAfter(number - 1)) batch.erase.push_back(key);
  for (const auto& [key, bound] : BooksAfter(number)) batch.put.push_back(bound);
  return batch;
}

Calls NumberOf(const Books& books) {
  const auto found = books.find(MakeBound("number", 0, 0).key);
  return found == books.end() ? 0 : found->second.steps.limit;
}

Books ToBooks(const StoreState& state) {
  Books books;
  for (const Bound& bound : state.bounds) books[bound.key] = bound;
  return books;
}

// What a child tells: that it reigns, and then each batch that is durable.
struct Word {
  std::int64_t epoch = 0;
  Calls number = 0;
};

// Never returns: reigns, and commits batch after batch.
[[noreturn]] void CommitForEver(const std::string& directory, int words) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory, 1);
  if (!store.ok()) ::_exit(1);
  const absl::StatusOr<StoreState> state = (*store)->TakeOver();
  if (!state.ok() || state->condition == StoreCondition::kLost) ::_exit(2);
  Word word{state->epoch.value, NumberOf(ToBooks(*state))};
  for (;;) {
    if (::write(words, &word, sizeof(word)) != sizeof(word)) ::_exit(3);
    if (!(*store)->Commit(BatchTo(++word.number)).ok()) ::_exit(4);
  }
}

// Kills a committing process after `patience`; returns the last thing it told.
Word CommitAndKill(const std::string& directory, std::chrono::microseconds patience) {
  int pipe_ends[2];
  EXPECT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) CommitForEver(directory, pipe_ends[1]);
  ::close(pipe_ends[1]);
  std::this_thread::sleep_for(patience);
  ::kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended with " << WEXITSTATUS(status);
  Word last;
  Word word;
  while (::read(pipe_ends[0], &word, sizeof(word)) == sizeof(word)) last = word;
  ::close(pipe_ends[0]);
  return last;
}

Calls Sum(const Books& books) {
  Calls sum = 0;
  for (const auto& [key, bound] : books) {
    if (key.dependency.value == "payments") sum += bound.steps.limit;
  }
  return sum;
}

TEST(StoreCrashTest, AControllerKilledAtAnyInstantLosesNothingConfirmedAndTearsNothing) {
  const std::string directory = ::testing::TempDir() + "store_crash";
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(InitSqliteStore(directory).ok());
  Random random(20);
  Calls confirmed = 0;
  std::int64_t epoch = 0;
  int killed_while_committing = 0;
  for (int round = 0; round < kKills; ++round) {
    // Some die while they open the store, most while they commit.
    const auto patience =
        std::chrono::microseconds(static_cast<int>(random.Uniform(0, round % 4 == 0 ? 2e4 : 2e5)));
    const Word told = CommitAndKill(directory, patience);
    killed_while_committing += told.number > confirmed;
    confirmed = std::max(confirmed, told.number);
    epoch = std::max(epoch, told.epoch);

    absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(directory, 1);
    ASSERT_TRUE(store.ok()) << store.status();
    const absl::StatusOr<StoreState> state = (*store)->TakeOver();
    ASSERT_TRUE(state.ok()) << state.status();
    ASSERT_NE(state->condition, StoreCondition::kLost) << state->why;
    EXPECT_GT(state->epoch.value, epoch) << "round " << round;
    epoch = state->epoch.value;
    const Books found = ToBooks(*state);
    EXPECT_LE(Sum(found), kQuota) << "round " << round;
    const Calls number = NumberOf(found);
    ASSERT_GE(number, confirmed) << "a confirmed batch is gone in round " << round;
    ASSERT_LE(number, confirmed + 1) << "round " << round;
    ASSERT_EQ(found, BooksAfter(number)) << "parts of several batches in round " << round;
    confirmed = number;
  }
  EXPECT_GT(killed_while_committing, kKills / 4) << "the kills came too early to prove much";
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace plimsoll
