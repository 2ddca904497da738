#include "api/wire/src/plain_json.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/wire/src/json_tree.h"
#include "gtest/gtest.h"
#include "plimsoll/core/random.h"
#include "plimsoll/wire/codec.h"
#include "tests/unit/api/wire_samples.h"

namespace plimsoll {
namespace {

using internal::JsonNode;
using internal::JsonTree;
using internal::JsonType;
using internal::JsonValue;
using internal::ReadPlainJson;

bool IsPlain(std::string_view text) {
  std::vector<JsonNode> nodes;
  return ReadPlainJson(text, nodes);
}

// All that readers can see of a value, as text.
std::string Describe(const JsonValue& value) {
  std::string text =
      absl::StrCat("<", std::string(value.key()), ">", static_cast<int>(value.type()),
                   value.boolean() ? "t" : "f", value.integer(), "/", value.real(),
                   std::signbit(value.real()) ? "-" : "+", "'", std::string(value.text()), "'",
                   value.Pointer(), "(");
  for (const JsonValue& child : value) absl::StrAppend(&text, Describe(child));
  return text + ")";
}

// Whether it is plain. If it is, the full parser must read the same.
bool IsReadAlike(const std::string& text) {
  JsonTree full;
  const bool valid = full.ParseInFull(text).ok();
  JsonTree tree;
  const absl::Status parsed = tree.Parse(text);
  EXPECT_EQ(parsed.ok(), valid) << text;
  if (parsed.ok() && valid) {
    EXPECT_EQ(Describe(tree.root()), Describe(full.root())) << text;
  } else {
    EXPECT_EQ(parsed, full.ParseInFull(text)) << text;
  }
  return IsPlain(text);
}

std::vector<std::string> Samples() {
  return {Encode(SampleSyncRequest()), Encode(SampleRegisterRequest()), Encode(SampleSyncAnswer()),
          Encode(SampleRegisterAnswer())};
}

// What is said all the time; of breakers only when they change.
std::vector<std::string> Exchange() {
  SyncAnswer answer = SampleSyncAnswer();
  answer.settings.clear();
  return {Encode(SampleSyncRequest()), Encode(answer)};
}

TEST(PlainJsonTest, IsWhatAgentsAndControllersWrite) {
  for (const std::string& sample : Exchange()) EXPECT_TRUE(IsReadAlike(sample)) << sample;
  for (const std::string& sample : Samples()) IsReadAlike(sample);
}

TEST(PlainJsonTest, TakesWhatIsPlain) {
  for (const char* const text : {"{}",
                                 "[]",
                                 "[[]]",
                                 " { \"a\" : [ 1 , 2.5 , -3 ] } ",
                                 "true",
                                 "false",
                                 "null",
                                 "0",
                                 "-0",
                                 "-0.0",
                                 "0.125",
                                 "999999999999999999",
                                 "-999999999999999999",
                                 "0.00000000000001",
                                 "\"\"",
                                 "[\"a b\"]",
                                 "{\"a\":1,\"a\":2}",
                                 "\t[\r\n1]\n",
                                 "{\"\":{}}",
                                 "[0.1,0.2,0.3,12345.678901]",
                                 "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"}) {
    EXPECT_TRUE(IsReadAlike(text)) << text;
  }
}

TEST(PlainJsonTest, LeavesTheUnusualAndTheFaultyToTheFullParser) {
  for (const char* const text : {"",
                                 " ",
                                 "{",
                                 "}",
                                 "[1,]",
                                 "[,1]",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{\"a\":1,}",
                                 "{a:1}",
                                 "{,}",
                                 "01",
                                 "-",
                                 "-01",
                                 "+1",
                                 ".5",
                                 "1.",
                                 "1e3",
                                 "1E3",
                                 "1.5e-3",
                                 "1000000000000000000",
                                 "0.1234567890123456",
                                 "9223372036854775808",
                                 "tru",
                                 "truely",
                                 "nul",
                                 "True",
                                 "'a'",
                                 "\"a",
                                 "\"\\n\"",
                                 "\"\\u0041\"",
                                 "\"\xc3\xa4\"",
                                 "\"\x7f\"",
                                 "\"\x01\"",
                                 "1 2",
                                 "[1 2]",
                                 "{\"a\":1 \"b\":2}",
                                 "[1]]",
                                 "\xef\xbb\xbf[]",
                                 "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
                                 "NaN",
                                 "Infinity",
                                 "// a\n1",
                                 "{\"a\":1}x"}) {
    EXPECT_FALSE(IsReadAlike(text)) << text;
  }
  EXPECT_FALSE(IsReadAlike(std::string("[\0]", 3)));
  EXPECT_FALSE(IsReadAlike(std::string("\"a\0b\"", 5)));
}

TEST(PlainJsonTest, LeavesTooManyValuesToTheFullParser) {
  std::string text = "[0";
  for (std::size_t i = 2; i < JsonTree::kNodesMax; ++i) text += ",0";
  EXPECT_TRUE(IsPlain(text + "]"));
  EXPECT_FALSE(IsReadAlike(text + ",0]"));
}

std::string AnyNumber(Random& random) {
  std::string text = random.Chance(0.3) ? "-" : "";
  const auto digits = [&](std::uint64_t most) {
    for (std::uint64_t left = 1 + random.Below(most); left > 0; --left) {
      text += static_cast<char>('0' + random.Below(10));
    }
  };
  digits(10);
  if (random.Chance(0.7)) {
    text += '.';
    digits(10);
  }
  if (random.Chance(0.05)) text += "e5";
  return text;
}

TEST(PlainJsonTest, ReadsNumbersToTheLastBit) {
  Random random(3);
  int plain = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = AnyNumber(random);
    JsonTree full;
    if (!full.ParseInFull(text).ok()) continue;
    JsonTree tree;
    ASSERT_TRUE(tree.Parse(text).ok()) << text;
    ASSERT_EQ(tree.root().real(), full.root().real()) << text;
    ASSERT_EQ(tree.root().integer(), full.root().integer()) << text;
    ASSERT_EQ(tree.root().type(), full.root().type()) << text;
    plain += IsPlain(text);
  }
  EXPECT_GT(plain, 5'000);
}

TEST(PlainJsonProperty, ReadsMutatedMessagesLikeTheFullParser) {
  Random random(11);
  const std::vector<std::string> samples = Exchange();
  int plain = 0;
  int faulty = 0;
  for (int i = 0; i < 4'000; ++i) {
    std::string text = samples[random.Below(samples.size())];
    for (std::uint64_t edits = 1 + random.Below(3); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random.Below(text.size());
      if (random.Chance(0.2)) {
        text.erase(at, 1 + random.Below(8));
      } else if (random.Chance(0.3)) {
        text.insert(at, text.substr(random.Below(text.size()), 1 + random.Below(8)));
      } else if (random.Chance(0.2)) {
        text[at] = static_cast<char>(random.Below(256));
      } else {
        text[at] = "0123456789-.eE,:{}[]\"\\ntf "[random.Below(27)];
      }
    }
    const bool alike = IsReadAlike(text);
    if (HasFailure()) return;
    plain += alike;
    faulty += !alike;
  }
  EXPECT_GT(plain, 300);
  EXPECT_GT(faulty, 300);
}

}  // namespace
}  // namespace plimsoll
