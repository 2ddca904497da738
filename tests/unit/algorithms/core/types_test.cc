#include "plimsoll/core/types.h"

#include <string>
#include <type_traits>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(IsValidNameTest, AcceptsWhatTheRuleAllows) {
  const std::string longest(63, 'a');
  for (const std::string& name : {std::string("a"), std::string("7"), std::string("payments-api"),
                                  std::string("Orders.DB_2~x"), std::string("a--b"), longest}) {
    EXPECT_TRUE(IsValidName(name)) << name;
  }
}

TEST(IsValidNameTest, RefusesEverythingElse) {
  const std::string too_long(64, 'a');
  const std::string with_nul("a\0b", 3);
  for (const std::string& name :
       {std::string(), std::string("-a"), std::string("a-"), std::string(".a"), std::string("a."),
        std::string("_a"), std::string("~"), std::string("a b"), std::string("a/b"),
        std::string("a\n"), std::string("a%20b"), std::string("caf\xc3\xa9"), with_nul, too_long}) {
    EXPECT_FALSE(IsValidName(name)) << name;
  }
}

TEST(StrongStringTest, HasOneMeaning) {
  static_assert(!std::is_convertible_v<DependencyId, ServiceId>);
  static_assert(!std::is_convertible_v<std::string, DependencyId>);
  EXPECT_EQ(DependencyId("a"), DependencyId("a"));
  EXPECT_LT(DependencyId("a"), DependencyId("b"));
  EXPECT_TRUE(DependencyId().empty());
}

TEST(StrongIntTest, HasOneMeaning) {
  static_assert(!std::is_convertible_v<Epoch, Seq>);
  static_assert(!std::is_convertible_v<int, Epoch>);
  EXPECT_EQ(Epoch(3), Epoch(3));
  EXPECT_LT(Epoch(), Epoch(1));
}

}  // namespace
}  // namespace plimsoll
