#include "plimsoll/agent/bulkhead_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

struct Fault {
  std::string message;
  std::function<void(BulkheadOptions&)> make;
};

TEST(BulkheadOptionsTest, TheDefaultsAreValid) { EXPECT_TRUE(Validate(BulkheadOptions()).ok()); }

TEST(BulkheadOptionsTest, WhatMakesSenseIsValid) {
  BulkheadOptions options;
  options.classes = {{"critical", 1.0}, {"default", 0.9}, {"batch", 0.9}, {"spare_2", 0.01}};
  options.queue = {.capacity = 100, .codel_target = std::chrono::milliseconds(5)};
  options.tenants = {.share = 0.1, .tracked = 8192};
  options.permit_age_max = std::chrono::minutes(5);
  EXPECT_TRUE(Validate(options).ok()) << Validate(options);
}

TEST(BulkheadOptionsTest, EveryFaultIsNamed) {
  const Fault faults[] = {
      {"classes has 0 elements", [](auto& o) { o.classes.clear(); }},
      {"classes has 9 elements",
       [](auto& o) {
         o.classes.resize(9, {"same", 1.0});
       }},
      {"classes[0].name is ''", [](auto& o) { o.classes[0].name = ""; }},
      {"classes[0].name is 'A'", [](auto& o) { o.classes[0].name = "A"; }},
      {"must be 1 to 32 of", [](auto& o) { o.classes[0].name = std::string(33, 'a'); }},
      {"classes[1].name is 'default': must differ",
       [](auto& o) {
         o.classes.push_back({"default", 0.5});
       }},
      {"classes[0].share is 0.5: must be 1", [](auto& o) { o.classes[0].share = 0.5; }},
      {"classes[1].share is 0:",
       [](auto& o) {
         o.classes.push_back({"b", 0});
       }},
      {"classes[1].share is 1.5:",
       [](auto& o) {
         o.classes.push_back({"b", 1.5});
       }},
      {"classes[1].share is nan:",
       [](auto& o) {
         o.classes.push_back({"b", 0.0 / 0.0});
       }},
      {"classes[2].share is 0.6: must be at most",
       [](auto& o) {
         o.classes.insert(o.classes.end(), {{"b", 0.5}, {"c", 0.6}});
       }},
      {"queue.capacity is -1", [](auto& o) { o.queue.capacity = -1; }},
      {"queue.codel_target is -1 ns",
       [](auto& o) { o.queue.codel_target = std::chrono::nanoseconds(-1); }},
      {"queue.codel_interval is 0 ns",
       [](auto& o) { o.queue.codel_interval = std::chrono::nanoseconds(0); }},
      {"must be at most queue.codel_interval",
       [](auto& o) { o.queue.codel_target = std::chrono::seconds(1); }},
      {"tenants.share is 0:", [](auto& o) { o.tenants.share = 0; }},
      {"tenants.share is 1.01:", [](auto& o) { o.tenants.share = 1.01; }},
      {"tenants.tracked is 0:", [](auto& o) { o.tenants.tracked = 0; }},
      {"tenants.tracked is 8193:", [](auto& o) { o.tenants.tracked = 8193; }},
      {"permit_age_max is -1 ns", [](auto& o) { o.permit_age_max = std::chrono::nanoseconds(-1); }},
  };
  for (const Fault& fault : faults) {
    BulkheadOptions options;
    fault.make(options);
    const absl::Status status = Validate(options);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << fault.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(fault.message));
  }
}

TEST(BulkheadOptionsTest, AllFaultsAreListedAtOnce) {
  BulkheadOptions options;
  options.tenants = {.share = 2, .tracked = 0};
  const std::string message(Validate(options).message());
  EXPECT_THAT(message, HasSubstr("tenants.share"));
  EXPECT_THAT(message, HasSubstr("tenants.tracked"));
}

}  // namespace
}  // namespace plimsoll
