#include "plimsoll/core/violations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ViolationsTest, WithoutOneAllIsWell) {
  Violations violations;
  violations.Require(true, "floor", 1, "must be at least 1");
  violations.Add(absl::OkStatus());
  violations.AddAll({});
  EXPECT_THAT(violations.lines(), IsEmpty());
  EXPECT_TRUE(violations.ToStatus("settings").ok());
}

TEST(ViolationsTest, EachIsNameValueAndRuleInTheOrderOfAsking) {
  Violations violations;
  violations.Require(false, "floor", 0, "must be at least 1");
  violations.Require(false, "kind", "none", "must be the kind of a law");
  EXPECT_EQ(violations.ToStatus(),
            absl::InvalidArgumentError(
                "floor = 0: must be at least 1; kind = none: must be the kind of a law"));
  EXPECT_EQ(violations.ToStatus("settings").message(),
            "settings: floor = 0: must be at least 1; kind = none: must be the kind of a law");
}

TEST(ViolationsTest, OptionsOfAProgramAreToldInWords) {
  Violations violations(Violations::Form::kWords);
  violations.Require(false, "ratio", 1.5, "must be 0 to 1");
  EXPECT_EQ(violations.ToStatus("options").message(), "options: ratio is 1.5: must be 0 to 1");
}

TEST(ViolationsTest, WhatOthersFoundIsKept) {
  Violations violations;
  violations.Add("zone has 300 characters: at most 63 are allowed");
  violations.Add(absl::InvalidArgumentError("floor = 0: must be at least 1"));
  violations.AddAll({"window = 0: must be 100ms to 10m"}, "breaker.");
  EXPECT_THAT(violations.lines(), ElementsAre("zone has 300 characters: at most 63 are allowed",
                                              "floor = 0: must be at least 1",
                                              "breaker.window = 0: must be 100ms to 10m"));
}

TEST(ViolationsTest, AValueIsShownAsItsKindIsWritten) {
  const auto text = [](const Violations::Value& value) { return value.text(); };
  EXPECT_EQ(text(-3), "-3");
  EXPECT_EQ(text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text(0.30), "0.3");
  EXPECT_EQ(text(1.0 / 3), "0.333333");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(text(absl::Milliseconds(1500)), "1.5s");
  EXPECT_EQ(text(absl::InfiniteDuration()), "inf");
  EXPECT_EQ(text(std::chrono::nanoseconds(-1)), "-1 ns");
  EXPECT_EQ(text(std::chrono::milliseconds(0)), "0 ms");
  EXPECT_EQ(text(std::string("a b")), "a b");
}

}  // namespace
}  // namespace plimsoll
