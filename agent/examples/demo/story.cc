#include "agent/examples/demo/story.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/scoreboard.h"

namespace plimsoll::demo {
namespace {

// The lane `plimsoll` gets the rest of the time, and needs at least 8 s for its acts.
constexpr double kUnlimitedPart = 0.3;

ScreenMode ModeOf(const DemoOptions& options) {
  if (options.json) return ScreenMode::kQuiet;
  const bool live = !options.plain && isatty(STDERR_FILENO) == 1;
  return live ? ScreenMode::kLive : ScreenMode::kPlain;
}

// Somebody looks on: the fleet lives until they have seen enough.
double KeepSeconds(const DemoOptions& options) {
  if (options.json) return 0;
  if (options.keep_seconds >= 0) return options.keep_seconds;
  const bool watched = isatty(STDOUT_FILENO) == 1 && ModeOf(options) == ScreenMode::kLive &&
                       std::getenv("CI") == nullptr;
  return watched ? std::numeric_limits<double>::infinity() : 0;
}

std::string Beside(const std::string& given, const char* program) {
  return given.empty() ? OwnFolder() + "/" + program : given;
}

}  // namespace

Story::Story(const DemoOptions& options)
    : options_(options),
      screen_(ModeOf(options)),
      controller_(Beside(options.controller, "plimsoll-controller"), folder_.path(),
                  StoryConfig()) {}

absl::StatusOr<std::vector<LaneResult>> Story::Tell() {
  absl::Status status = controller_.Start();
  if (!status.ok()) return status;
  places_ = {Beside(options_.cli, "plimsoll"),
             absl::StrCat("http://127.0.0.1:", controller_.api_port())};
  screen_.set_console(places_.api_url + "/ui/");
  screen_.Say(absl::StrCat("console: ", places_.api_url, "/ui/\n"));
  if (options_.unlimited_lane) status = TellOfUnlimited();
  if (status.ok() && options_.plimsoll_lane) status = TellOfPlimsoll();
  if (!status.ok()) return status;
  return results_;
}

LaneOptions Story::Lane(double part) const {
  LaneOptions lane;
  lane.program = OwnFolder() + "/plimsoll-demo";
  lane.seconds = part * options_.seconds;
  lane.seed = options_.seed;
  return lane;
}

absl::Status Story::TellOfUnlimited() {
  screen_.Say("eight replicas, each with a hand-set limit of 20:");
  absl::StatusOr<LaneResult> result =
      RunUnlimitedLane(Lane(options_.plimsoll_lane ? kUnlimitedPart : 1), controller_, screen_);
  if (!result.ok()) return result.status();
  results_.push_back(*std::move(result));
  return absl::OkStatus();
}

absl::Status Story::TellOfPlimsoll() {
  screen_.Say("the same replicas, with a controller and a quota of 50:");
  LaneOptions lane = Lane(options_.unlimited_lane ? 1 - kUnlimitedPart : 1);
  lane.keep_seconds = KeepSeconds(options_);
  absl::StatusOr<LaneResult> result = RunPlimsollLane(
      lane, controller_, screen_,
      [this, &lane](const LaneResult& so_far, const std::vector<Replica>& replicas) {
        results_.push_back(so_far);
        if (!options_.json) Conclude(replicas, lane.keep_seconds > 0);
      });
  if (!result.ok()) return result.status();
  results_.back() = *std::move(result);
  return absl::OkStatus();
}

void Story::Conclude(const std::vector<Replica>& replicas, bool goes_on) {
  screen_.EndLane();
  std::printf("\n%s", ScoreboardText(results_).c_str());
  const std::string& instance = MostRefused(replicas).name;
  const absl::StatusOr<std::string> why = WhySentences(places_, instance);
  if (why.ok()) {
    std::printf("%s", why->c_str());
  } else {
    screen_.Say(absl::StrCat("why is not told: ", std::string(why.status().message())));
  }
  if (goes_on) {
    std::printf("%s\nThe fleet goes on, and so does the console. Ctrl-C ends them.\n\n",
                NextSteps(places_, instance).c_str());
  }
  std::fflush(stdout);
}

}  // namespace plimsoll::demo
