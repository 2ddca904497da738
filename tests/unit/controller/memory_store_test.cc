#include "plimsoll/store/memory_store.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(MemoryStoreTest, CommitBeforeTakeOverIsRefused) {
  const std::unique_ptr<Store> store = MakeMemoryStore(1);
  EXPECT_EQ(store->Commit({}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(MemoryStoreTest, StoresWithoutACommonDiskShareNothing) {
  const std::unique_ptr<Store> first = MakeMemoryStore(7);
  const std::unique_ptr<Store> second = MakeMemoryStore(7);
  ASSERT_TRUE(first->TakeOver().ok());
  const absl::StatusOr<StoreState> state = second->TakeOver();
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->condition, StoreCondition::kNew);
}

}  // namespace
}  // namespace plimsoll
