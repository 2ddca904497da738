#include "tests/lint/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::lint {
namespace {

using ::testing::ElementsAre;

TEST(SourceTextTest, LinesAreSplitWithAndWithoutALastBreak) {
  EXPECT_THAT(SplitLines("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(SplitLines("a\n"), ElementsAre("a"));
}

TEST(SourceTextTest, CommentsAndStringsAreBlankedInPlace) {
  EXPECT_THAT(CodeOnly({"a = \"b\\\"c\"; // d", "e /* f", "g */ h"}),
              ElementsAre("a = \"    \";     ", "e /*  ", "  */ h"));
}

TEST(SourceTextTest, RawStringsEndWithTheirOwnDelimiter) {
  EXPECT_THAT(CodeOnly({"x(R\"q(a)\" b", "c)q\"); d"}), ElementsAre("x(R\"q(     ", " )q\"); d"));
}

TEST(SourceTextTest, DigitSeparatorsAreNoCharacters) {
  EXPECT_THAT(CodeOnly({"f(1'000, 'x', y)"}), ElementsAre("f(1'000, ' ', y)"));
}

TEST(SourceTextTest, IncludesOfBothKindsAreRead) {
  EXPECT_EQ(IncludedPath("#include <a/b.h>  // why"), "a/b.h");
  EXPECT_EQ(IncludedPath("  #include \"c.h\""), "c.h");
  EXPECT_EQ(IncludedPath("// #include <d.h>"), "");
}

}  // namespace
}  // namespace plimsoll::lint
