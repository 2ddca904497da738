#include "agent/src/law_settings.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "plimsoll/algorithms/law_settings.h"

namespace plimsoll::internal {
namespace {

std::optional<double> ParseNumber(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) ? std::optional(value) : std::nullopt;
}
std::optional<std::int32_t> ParseWhole(const std::string& text) {
  std::int32_t value = 0;
  return absl::SimpleAtoi(text, &value) ? std::optional(value) : std::nullopt;
}
std::optional<absl::Duration> ParseDuration(const std::string& text) {
  absl::Duration value;
  return absl::ParseDuration(text, &value) ? std::optional(value) : std::nullopt;
}
std::optional<bool> ParseBool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}
std::optional<VegasStep> ParseDecrease(const std::string& text) {
  for (const VegasStep step : {VegasStep::kSubtractLog10, VegasStep::kHalve}) {
    if (text == ToString(step)) return step;
  }
  return std::nullopt;
}
std::optional<LogRule> ParseRule(const std::string& text) { return ParseLogRule(text); }

// Hands out settings by name, and knows in the end which were not asked for.
class Reader {
 public:
  explicit Reader(const LawSettings& settings) : settings_(settings) {}

  void operator()(const std::string& name, double& into) {
    Read(name, ParseNumber, "a number", into);
  }
  void operator()(const std::string& name, std::int32_t& into) {
    Read(name, ParseWhole, "a whole number", into);
  }
  void operator()(const std::string& name, absl::Duration& into) {
    Read(name, ParseDuration, "a time with a unit, such as 250ms", into);
  }
  void operator()(const std::string& name, bool& into) {
    Read(name, ParseBool, "true or false", into);
  }
  void operator()(const std::string& name, LogRule& into) {
    Read(name, ParseRule, "a whole number, log10 or N*log10", into);
  }
  void operator()(const std::string& name, VegasStep& into) {
    Read(name, ParseDecrease, "limit-log10 or limit/2", into);
  }

  std::vector<std::string> Finish(const std::string& law) {
    for (const auto& [name, text] : settings_) {
      if (known_.contains(name)) continue;
      const std::string has = known_.empty() ? "none" : absl::StrJoin(known_, ", ");
      faults_.push_back(
          absl::StrCat("settings.", name, ": ", law, " has no such setting; it has: ", has));
    }
    return std::move(faults_);
  }

 private:
  template <typename T, typename Parse>
  void Read(const std::string& name, const Parse& parse, const std::string& expected, T& into) {
    known_.insert(name);
    const auto found = settings_.find(name);
    if (found == settings_.end()) return;
    if (const std::optional<T> value = parse(found->second)) {
      into = *value;
    } else {
      faults_.push_back(
          absl::StrCat("settings.", name, " is '", found->second, "': must be ", expected));
    }
  }

  const LawSettings& settings_;
  std::set<std::string> known_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> ReadLawSettings(const LawSettings& settings, AlgorithmConfig& config) {
  Reader reader(settings);
  VisitLaws(config, [&](AlgorithmKind kind, auto& law) {
    if (kind == config.kind) VisitSettings(law, reader);
  });
  return reader.Finish(std::string(ToString(config.kind)));
}

}  // namespace plimsoll::internal
