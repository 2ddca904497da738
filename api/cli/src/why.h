#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/cli/src/json.h"

namespace plimsoll::cli {

// What the controller answers about one dependency.
struct WhyFacts {
  Json dependency;           // GET /v1/dependencies/{d}
  Json quota;                // GET …/quota; null: it has none
  std::vector<Json> limits;  // GET /v1/limits?dependency={d}
  std::vector<Json> events;  // GET /v1/events?dependency={d}, newest first
  Json explanation;          // POST …:explain of the row of ChooseRow(); null: not answered
  absl::Time now;
  absl::Duration since = absl::Minutes(10);  // how far to look back
};

struct WhySection {
  std::string title;
  std::vector<std::string> lines;
};

// Why calls are refused, in sentences.
struct WhyStory {
  std::string verdict;
  std::vector<WhySection> sections;
};

// The row that is told of: that of `instance`; if it is empty, the one that is closest to its
// limit. Null if there is none. Pure.
const Json* ChooseRow(const std::vector<Json>& limits, const std::string& instance);

// What binds the limit of `row`, which is one of `facts.limits` or null, since when, why it changed
// last, what the law saw, who holds the quota, and what to do. Pure.
WhyStory TellWhy(const WhyFacts& facts, const Json* row);

// What decides, without steps, history and advice. Pure.
WhyStory Brief(WhyStory story);

std::string ToText(const WhyStory& story);
Json ToJson(const WhyStory& story, const WhyFacts& facts, const Json* row);

}  // namespace plimsoll::cli
