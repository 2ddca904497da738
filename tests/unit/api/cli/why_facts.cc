#include "tests/unit/api/cli/why_facts.h"

#include <fstream>
#include <iterator>

namespace plimsoll::cli {

std::string AnswerBody(const std::string& name) {
  std::ifstream file(std::string(PLIMSOLL_TESTS_DIR) + "/golden/answer_" + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

WhyFacts QuotaBinds() {
  WhyFacts facts;
  facts.dependency = Json::parse(AnswerBody("dependency"));
  facts.quota = Json::parse(AnswerBody("quota"));
  const Json limits = Json::parse(AnswerBody("limits"));
  facts.limits.assign(limits["items"].begin(), limits["items"].end());
  const Json events = Json::parse(AnswerBody("events"));
  facts.events.assign(events["items"].begin(), events["items"].end() - 1);
  facts.now = absl::FromUnixSeconds(1'795'972'823);
  return facts;
}

}  // namespace plimsoll::cli
