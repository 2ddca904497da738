#pragma once

#include <string>

#include "absl/time/time.h"

namespace plimsoll {

// Who changed what. Before and after are JSON, or empty.
struct AuditRecord {
  absl::Time time;
  std::string who;
  std::string request_id;
  std::string what;    // "PUT_OVERRIDE"
  std::string target;  // the dependency or instance; empty for the whole controller
  std::string before = {};
  std::string after = {};
  std::string result = "OK";  // or the code of what went wrong
};

// One line of JSON. Pure.
std::string ToJson(const AuditRecord& record);

// "2026-11-29T18:20:00Z", with milliseconds if there are any. Pure.
std::string TimeText(absl::Time time);

}  // namespace plimsoll
