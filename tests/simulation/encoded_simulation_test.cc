#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "controller/simulation/src/fleet.h"
#include "controller/simulation/src/sabotage.h"
#include "gtest/gtest.h"
#include "plimsoll/simulation/scenario.h"
#include "plimsoll/wire/codec.h"

namespace plimsoll::internal {
namespace {

// No saboteur, but the JSON that lies between agent and controller in production.
class Encoding final : public Sabotage {
 public:
  int messages() const { return messages_; }

 private:
  void OnSend(AgentMessage& message) override {
    ++messages_;
    FieldFaults faults;
    if (auto* registration = std::get_if<RegisterRequest>(&message)) {
      Replace(*registration, DecodeRegisterRequest(Encode(*registration), faults));
    } else if (auto* sync = std::get_if<SyncRequest>(&message)) {
      Replace(*sync, DecodeSyncRequest(Encode(*sync), sync->session, faults));
    }
    EXPECT_TRUE(faults.empty()) << faults[0].pointer << ": " << faults[0].detail;
  }

  void OnAnswer(Answer& answer, absl::Duration /*age*/) override {
    if (auto* registered = std::get_if<RegisterAnswer>(&answer)) {
      Replace(*registered, DecodeRegisterAnswer(Encode(*registered)));
    } else if (auto* synced = std::get_if<SyncAnswer>(&answer)) {
      Replace(*synced, DecodeSyncAnswer(Encode(*synced)));
    } else if (auto* refusal = std::get_if<Refusal>(&answer)) {
      Problem problem;
      problem.status = HttpStatus(refusal->code);
      problem.code = std::string(ToString(refusal->code));
      problem.detail = refusal->detail;
      problem.epoch = refusal->epoch;
      Replace(*refusal, DecodeRefusal(Encode(problem)));
    }
  }

  template <typename Message>
  static void Replace(Message& message, const absl::StatusOr<Message>& decoded) {
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    message = *decoded;
  }

  int messages_ = 0;
};

class EncodedSimulationTest : public testing::TestWithParam<const char*> {};

TEST_P(EncodedSimulationTest, EveryInvariantHoldsAndEveryMessageIsUnderstood) {
  Scenario scenario = *FindScenario(GetParam());
  scenario.length = absl::Seconds(60);
  Encoding encoding;
  const SimulationResult result = SimulateUntilBroken(scenario, 1, encoding);
  EXPECT_TRUE(result.ok()) << result.first_violation;
  EXPECT_GT(encoding.messages(), 500);
}

INSTANTIATE_TEST_SUITE_P(Days, EncodedSimulationTest, testing::Values("calm", "harsh"),
                         [](const auto& day) { return std::string(day.param); });

}  // namespace
}  // namespace plimsoll::internal
