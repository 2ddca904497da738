#include "controller/main/law_keys.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plimsoll/algorithms/law_settings.h"

namespace plimsoll {
namespace {

// Turns a member of a law's configuration into a key.
class KeyMaker {
 public:
  KeyMaker(std::string section, std::vector<LawKey>& keys)
      : section_(std::move(section)), keys_(keys) {}

  void operator()(const std::string& name, absl::Duration value) {
    // A file wants a unit even of nothing, and cannot say "infinite".
    std::string text = value == absl::ZeroDuration() ? "0s" : absl::FormatDuration(value);
    if (value == absl::InfiniteDuration()) text.clear();
    Add(name, LawKey::Type::kDuration, std::move(text));
  }
  void operator()(const std::string& name, double value) {
    Add(name, LawKey::Type::kNumber, absl::StrCat(value));
  }
  void operator()(const std::string& name, int value) {
    Add(name, LawKey::Type::kWhole, absl::StrCat(value));
  }
  void operator()(const std::string& name, bool value) {
    Add(name, LawKey::Type::kFlag, value ? "true" : "false");
  }
  void operator()(const std::string& name, const LogRule& value) {
    Add(name, LawKey::Type::kText, ToString(value));
  }
  void operator()(const std::string& name, VegasStep value) {
    Add(name, LawKey::Type::kText, std::string(ToString(value)));
    keys_.back().words = {"limit-log10", "limit/2"};
  }

 private:
  void Add(const std::string& name, LawKey::Type type, std::string value) {
    keys_.push_back({absl::StrCat(section_, ".", name), type, std::move(value), {}});
  }

  const std::string section_;
  std::vector<LawKey>& keys_;
};

}  // namespace

const std::vector<LawKey>& LawKeys() {
  static const auto& keys = *[] {
    auto* all = new std::vector<LawKey>;
    const AlgorithmConfig laws;
    VisitLaws(laws, [all](AlgorithmKind kind, const auto& law) {
      VisitSettings(law, KeyMaker(std::string(ToString(kind)), *all));
    });
    return all;
  }();
  return keys;
}

}  // namespace plimsoll
