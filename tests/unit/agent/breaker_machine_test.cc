// What the steps of a breaker must do, as properties, and deliberately broken machines, each of
// which must break one of them. Numbers in brackets are failures that were reported of other
// breakers, as agent/README.md lists them.
#include "agent/src/breaker_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace plimsoll::internal {
namespace {

using Phase = BreakerWord::Phase;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kUnit = std::int64_t{1} << BreakerWord::kUnitLog2;
constexpr std::int64_t kStart = 1'000'000'000;

BreakerSettings Settings() {
  BreakerSettings settings;
  settings.cool_off = absl::Milliseconds(100);
  settings.cool_off_max = absl::Milliseconds(800);
  settings.cool_off_growth = 2;
  settings.cool_off_jitter = 0.2;
  settings.probe_deadline = absl::Milliseconds(50);
  return settings;
}

// The machine, or one that was tampered with.
struct Steps {
  std::function<std::optional<BreakerWord>(const BreakerWord&, std::int64_t now)> enter;
  std::function<BreakerWord(const BreakerWord&, ProbeResult, std::int64_t now)> probe_ended;
  std::function<BreakerWord(const BreakerWord&, std::int64_t now)> trip;
};
Steps Faithful(const BreakerSettings& settings, std::uint64_t seed) {
  const auto machine = std::make_shared<BreakerMachine>(settings, seed);
  return {
      [machine](const BreakerWord& word, std::int64_t now) { return machine->Enter(word, now); },
      [machine](const BreakerWord& word, ProbeResult result, std::int64_t now) {
        return machine->ProbeEnded(word, result, now);
      },
      [machine](const BreakerWord& word, std::int64_t now) { return machine->Trip(word, now); }};
}
using Make = std::function<Steps(const BreakerSettings& settings, std::uint64_t seed)>;

// When the first call is let in, looked at every half a millisecond; -1 if never within `until`.
std::int64_t FirstEntry(const Steps& steps, const BreakerWord& word, std::int64_t now,
                        std::int64_t until) {
  for (; now <= until; now += kMs / 2) {
    if (steps.enter(word, now).has_value()) return now;
  }
  return -1;
}

struct Out {  // a probe that is out
  BreakerWord word;
  std::int64_t now = 0;
};
Out FirstProbe(const Steps& steps) {
  const BreakerWord open = steps.trip(BreakerWord(), kStart);
  const std::int64_t now = FirstEntry(steps, open, kStart, kStart + 1000 * kMs);
  return {steps.enter(open, now).value_or(BreakerWord()), now};
}

// [31] [35] While a probe is out and in time, nobody else is let in.
bool OneProbeAtATime(const Make& make) {
  const Steps steps = make(Settings(), 1);
  const Out out = FirstProbe(steps);
  if (out.word.phase != Phase::kProbing) return false;
  return FirstEntry(steps, out.word, out.now, out.now + 49 * kMs) == -1;
}

// [28] [36] A probe that never reports frees its place at its deadline.
bool ASilentProbeFreesItsPlace(const Make& make) {
  const Steps steps = make(Settings(), 1);
  const Out out = FirstProbe(steps);
  const std::int64_t next = FirstEntry(steps, out.word, out.now, out.now + 60 * kMs);
  return next >= out.now + 50 * kMs && next <= out.now + 52 * kMs;
}

// [28] [41] Nothing learnt: the place is free at once.
bool NothingGivesThePlaceBack(const Make& make) {
  const Steps steps = make(Settings(), 1);
  const Out out = FirstProbe(steps);
  const BreakerWord after = steps.probe_ended(out.word, ProbeResult::kNothing, out.now);
  const auto next = steps.enter(after, out.now);
  return next.has_value() && next->phase == Phase::kProbing;
}

// [29] Half-open is left by a result only: what comes after a deadline is another probe.
bool OnlyAResultEndsHalfOpen(const Make& make) {
  const Steps steps = make(Settings(), 1);
  Out out = FirstProbe(steps);
  for (int i = 0; i < 20; ++i) {
    out.now += 60 * kMs;
    const auto next = steps.enter(out.word, out.now);
    if (!next.has_value() || next->phase != Phase::kProbing) return false;
    out.word = *next;
  }
  return true;
}

// [26] However long the outage was, a call is let in after cool_off_max at the latest.
bool RecoveryTimeIsBounded(const Make& make) {
  const Steps steps = make(Settings(), 1);
  Out out = FirstProbe(steps);
  for (int i = 0; i < 100; ++i) {
    const BreakerWord open = steps.probe_ended(out.word, ProbeResult::kFailed, out.now);
    if (open.phase != Phase::kOpen) return false;
    const std::int64_t next = FirstEntry(steps, open, out.now, out.now + 802 * kMs);
    if (next == -1) return false;
    out = {*steps.enter(open, next), next};
  }
  return true;
}

// The cool-off grows while probes fail, or a fleet would ask a dead dependency for ever.
bool TheCoolOffGrows(const Make& make) {
  const Steps steps = make(Settings(), 1);
  Out out = FirstProbe(steps);
  std::int64_t last = out.now - kStart;
  for (int i = 0; i < 3; ++i) {
    const BreakerWord open = steps.probe_ended(out.word, ProbeResult::kFailed, out.now);
    const std::int64_t next = FirstEntry(steps, open, out.now, out.now + 1000 * kMs);
    if (next - out.now < last * 3 / 2) return false;
    last = next - out.now;
    out = {*steps.enter(open, next), next};
  }
  return true;
}

bool NobodyIsLetInDuringTheCoolOff(const Make& make) {
  const Steps steps = make(Settings(), 1);
  const BreakerWord open = steps.trip(BreakerWord(), kStart);
  return FirstEntry(steps, open, kStart, kStart + 79 * kMs) == -1;
}

// A fleet that opened at one moment does not probe at one moment.
bool TheCoolOffIsJittered(const Make& make) {
  std::set<std::int64_t> entries;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    entries.insert(FirstProbe(make(Settings(), seed)).now / (2 * kMs));
  }
  return entries.size() > 5;
}

// [33] [34] A breaker nobody used is not open for ever, whenever the next call comes: the end is
// kept modulo three days.
bool AnOldEndHasPassed(const Make& make) {
  const Steps steps = make(Settings(), 1);
  const BreakerWord open = steps.trip(BreakerWord(), kStart);
  const std::int64_t wrap = kUnit << BreakerWord::kEndBits;
  for (int i = 1; i < 1000; ++i) {
    if (!steps.enter(open, kStart + 200 * kMs + wrap / 1024 * i).has_value()) return false;
  }
  return true;
}

// [37] As many successes as asked for, one after the other, and never two at once.
bool ClosesAfterAsManySuccesses(const Make& make) {
  BreakerSettings settings = Settings();
  settings.probes_to_close = 3;
  const Steps steps = make(settings, 1);
  Out out = FirstProbe(steps);
  for (int i = 0; i < 2; ++i) {
    const BreakerWord after = steps.probe_ended(out.word, ProbeResult::kPassed, out.now);
    const auto next = steps.enter(after, out.now);
    if (after.phase != Phase::kFree || !next.has_value()) return false;
    if (steps.enter(*next, out.now).has_value()) return false;
    out.word = *next;
  }
  return steps.probe_ended(out.word, ProbeResult::kPassed, out.now).phase == Phase::kClosed;
}

// [32] One flaky probe of several does not open it again, if that is asked for.
bool ForgivesAFlakyProbe(const Make& make) {
  BreakerSettings settings = Settings();
  settings.probes_to_close = 2;
  settings.probe_failures_to_open = 2;
  const Steps steps = make(settings, 1);
  Out out = FirstProbe(steps);
  for (const ProbeResult result : {ProbeResult::kPassed, ProbeResult::kFailed}) {
    const auto next = steps.enter(steps.probe_ended(out.word, result, out.now), out.now);
    if (!next.has_value()) return false;
    out.word = *next;
  }
  return steps.probe_ended(out.word, ProbeResult::kPassed, out.now).phase == Phase::kClosed &&
         steps.probe_ended(out.word, ProbeResult::kFailed, out.now).phase == Phase::kOpen;
}

// The word that a ticket carries is never current again: a probe that was given up cannot report,
// and a call that began before an outage says nothing about what came after it.
bool EveryStepMakesANewWord(const Make& make) {
  const Steps steps = make(Settings(), 1);
  std::set<std::uint64_t> words;
  BreakerWord word;
  std::int64_t now = kStart;
  for (int i = 0; i < 200; ++i) {
    const BreakerWord open = steps.trip(word, now);
    const auto probe = steps.enter(open, now + 200 * kMs);
    if (!probe.has_value()) return false;
    const auto other = steps.enter(*probe, now + 300 * kMs);
    if (!other.has_value()) return false;
    word = steps.probe_ended(*other, ProbeResult::kPassed, now + 300 * kMs);
    for (const BreakerWord& each : {open, *probe, *other, word}) {
      if (!words.insert(each.Pack()).second) return false;
    }
  }
  return true;
}

const std::map<std::string, std::function<bool(const Make&)>>& Properties() {
  static const std::map<std::string, std::function<bool(const Make&)>> properties = {
      {"OneProbeAtATime", OneProbeAtATime},
      {"ASilentProbeFreesItsPlace", ASilentProbeFreesItsPlace},
      {"NothingGivesThePlaceBack", NothingGivesThePlaceBack},
      {"OnlyAResultEndsHalfOpen", OnlyAResultEndsHalfOpen},
      {"RecoveryTimeIsBounded", RecoveryTimeIsBounded},
      {"TheCoolOffGrows", TheCoolOffGrows},
      {"NobodyIsLetInDuringTheCoolOff", NobodyIsLetInDuringTheCoolOff},
      {"TheCoolOffIsJittered", TheCoolOffIsJittered},
      {"AnOldEndHasPassed", AnOldEndHasPassed},
      {"ClosesAfterAsManySuccesses", ClosesAfterAsManySuccesses},
      {"ForgivesAFlakyProbe", ForgivesAFlakyProbe},
      {"EveryStepMakesANewWord", EveryStepMakesANewWord},
  };
  return properties;
}

TEST(BreakerMachineTest, HasAllProperties) {
  for (const auto& [name, holds] : Properties()) EXPECT_TRUE(holds(Faithful)) << name;
}

struct Mutant {
  std::string name;
  std::string caught_by;
  std::function<void(Steps& steps, const BreakerSettings& settings)> tamper;
};

const std::vector<Mutant>& Mutants() {
  static const std::vector<Mutant> mutants = {
      {"half-open admits all", "OneProbeAtATime",
       [](Steps& steps, const BreakerSettings&) {
         steps.enter = [faithful = steps.enter](const BreakerWord& word, std::int64_t now) {
           return word.phase == Phase::kProbing ? std::optional(word) : faithful(word, now);
         };
       }},
      {"a probe has no deadline", "ASilentProbeFreesItsPlace",
       [](Steps& steps, const BreakerSettings&) {
         steps.enter = [faithful = steps.enter](const BreakerWord& word, std::int64_t now) {
           return word.phase == Phase::kProbing ? std::nullopt : faithful(word, now);
         };
       }},
      {"ignoring keeps the place", "NothingGivesThePlaceBack",
       [](Steps& steps, const BreakerSettings&) {
         steps.probe_ended = [faithful = steps.probe_ended](const BreakerWord& word,
                                                            ProbeResult result, std::int64_t now) {
           return result == ProbeResult::kNothing ? word : faithful(word, result, now);
         };
       }},
      {"a deadline opens it again", "OnlyAResultEndsHalfOpen",
       [](Steps& steps, const BreakerSettings&) {
         steps.enter = [faithful = steps.enter](const BreakerWord& word, std::int64_t now) {
           std::optional<BreakerWord> next = faithful(word, now);
           if (next.has_value() && word.phase == Phase::kProbing) next->phase = Phase::kOpen;
           return next;
         };
       }},
      {"the cool-off has no bound", "RecoveryTimeIsBounded",
       [](Steps& steps, const BreakerSettings& settings) {
         BreakerSettings unbounded = settings;
         unbounded.cool_off_max = absl::Hours(1);
         steps = Faithful(unbounded, 1);
       }},
      {"the cool-off does not grow", "TheCoolOffGrows",
       [](Steps& steps, const BreakerSettings& settings) {
         BreakerSettings steady = settings;
         steady.cool_off_max = steady.cool_off;
         steps = Faithful(steady, 1);
       }},
      {"no cool-off", "NobodyIsLetInDuringTheCoolOff",
       [](Steps& steps, const BreakerSettings&) {
         steps.enter = [faithful = steps.enter](const BreakerWord& word, std::int64_t now) {
           return faithful(word, word.phase == Phase::kOpen ? now + 100 * kMs : now);
         };
       }},
      {"no jitter", "TheCoolOffIsJittered",
       [](Steps& steps, const BreakerSettings& settings) { steps = Faithful(settings, 1); }},
      {"a wrapped end lies ahead", "AnOldEndHasPassed",
       [](Steps& steps, const BreakerSettings&) {
         steps.enter = [faithful = steps.enter](const BreakerWord& word, std::int64_t now) {
           const bool ahead = word.NsLeft(now, kUnit << (BreakerWord::kEndBits - 1)) > 0;
           return ahead ? std::nullopt : faithful(word, now);
         };
       }},
      {"the first success closes", "ClosesAfterAsManySuccesses",
       [](Steps& steps, const BreakerSettings&) {
         steps.probe_ended = [faithful = steps.probe_ended](const BreakerWord& word,
                                                            ProbeResult result, std::int64_t now) {
           return result == ProbeResult::kPassed ? BreakerMachine::Plain(word, Phase::kClosed)
                                                 : faithful(word, result, now);
         };
       }},
      {"one number for probes at once and successes", "ClosesAfterAsManySuccesses",
       [](Steps& steps, const BreakerSettings& settings) {
         steps.enter = [faithful = steps.enter, most = settings.probes_to_close](
                           const BreakerWord& word, std::int64_t now) {
           return word.phase == Phase::kProbing && most > 1 ? std::optional(word)
                                                            : faithful(word, now);
         };
       }},
      {"the first failure opens", "ForgivesAFlakyProbe",
       [](Steps& steps, const BreakerSettings& settings) {
         BreakerSettings strict = settings;
         strict.probe_failures_to_open = 1;
         steps = Faithful(strict, 1);
       }},
      {"generations are reused", "EveryStepMakesANewWord",
       [](Steps& steps, const BreakerSettings&) {
         steps.trip = [faithful = steps.trip](const BreakerWord& word, std::int64_t now) {
           BreakerWord first = word;
           first.generation = 0;
           return faithful(first, now);
         };
       }},
  };
  return mutants;
}

TEST(BreakerMachineTest, EveryMutantIsCaught) {
  for (const Mutant& mutant : Mutants()) {
    const Make broken = [&mutant](const BreakerSettings& settings, std::uint64_t seed) {
      Steps steps = Faithful(settings, seed);
      mutant.tamper(steps, settings);
      return steps;
    };
    EXPECT_FALSE(Properties().at(mutant.caught_by)(broken)) << mutant.name;
  }
}

TEST(BreakerMachineTest, EveryPropertyCatchesAMutant) {
  for (const auto& [name, holds] : Properties()) {
    EXPECT_TRUE(std::any_of(Mutants().begin(), Mutants().end(), [&name = name](const Mutant& each) {
      return each.caught_by == name;
    })) << name;
  }
}

// [30] [33] Any interleaving of callers that load the word, take a step and swap it in: one is let
// in. With the state and the place in two words, as others have it, two are.
class HalfOpenRace {
 public:
  enum class Words { kOne, kTwo };

  static int MostLetIn(Words words) {
    int most = 0;
    std::vector<int> turns = {0, 0, 1, 1, 2, 2};
    do {
      most = std::max(most, HalfOpenRace().Run(words, turns));
    } while (std::next_permutation(turns.begin(), turns.end()));
    return most;
  }

 private:
  int Run(Words words, const std::vector<int>& turns) {
    word_ = machine_.Trip(BreakerWord(), kStart).Pack();
    std::map<int, std::uint64_t> seen;
    int let_in = 0;
    for (const int caller : turns) {
      if (seen.emplace(caller, word_).second) continue;  // its first turn: the load
      const auto next = machine_.Enter(BreakerWord::Unpack(seen[caller]), kStart + 200 * kMs);
      if (!next.has_value()) continue;
      if (words == Words::kOne && word_ != seen[caller]) continue;  // the swap fails
      word_ = next->Pack();
      ++let_in;
    }
    return let_in;
  }

  const BreakerMachine machine_{Settings(), 1};
  std::uint64_t word_ = 0;
};

TEST(BreakerMachineTest, OneOfThreeCallersIsLetInWhicheverWayTheyInterleave) {
  EXPECT_EQ(HalfOpenRace::MostLetIn(HalfOpenRace::Words::kOne), 1);
  EXPECT_EQ(HalfOpenRace::MostLetIn(HalfOpenRace::Words::kTwo), 3);
}

TEST(BreakerWordTest, KeepsAllItsParts) {
  const BreakerWord word{Phase::kProbing, 15, 9, 31, (1u << 20) - 1, (1u << 28) - 1};
  EXPECT_EQ(BreakerWord::Unpack(word.Pack()), word);
  EXPECT_TRUE(BreakerWord::IsClosed(BreakerWord().Pack()));
  EXPECT_FALSE(BreakerWord::IsClosed(word.Pack()));
}

TEST(BreakerWordTest, AnEndIsNeverEarlyAndLateByAUnitAtMost) {
  for (const std::int64_t now : {std::int64_t{0}, kStart, (kUnit << 28) - 7 * kMs, kUnit << 30}) {
    for (const std::int64_t length : {std::int64_t{1}, kMs, 20 * kMs, 3600 * 1000 * kMs}) {
      BreakerWord word;
      word.end = BreakerWord::EndAt(now + length);
      EXPECT_GE(word.NsLeft(now, length), length);
      EXPECT_LE(word.NsLeft(now, length), length + kUnit);
      EXPECT_EQ(word.NsLeft(now + length + kUnit, length), 0);
    }
  }
}

}  // namespace
}  // namespace plimsoll::internal
