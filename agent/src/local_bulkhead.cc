#include "plimsoll/agent/local_bulkhead.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "agent/src/bulkhead_factory.h"
#include "agent/src/fork_registry.h"
#include "agent/src/law_settings.h"
#include "agent/src/limiter.h"
#include "agent/src/local_bulkhead_factory.h"
#include "agent/src/local_pilot.h"
#include "agent/src/snapshot.h"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/core/types.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

constexpr AlgorithmKind kLaws[] = {
    AlgorithmKind::kFixed,    AlgorithmKind::kAimd,      AlgorithmKind::kVegas,
    AlgorithmKind::kGradient, AlgorithmKind::kGradient2, AlgorithmKind::kEnvoyGradient,
    AlgorithmKind::kBdp,
};
constexpr int kSamplesMax = 1'000'000;
constexpr absl::Duration kWindowMin = absl::Milliseconds(10);
constexpr absl::Duration kWindowMax = absl::Minutes(1);

std::optional<AlgorithmKind> LawNamed(const std::string& name) {
  for (const AlgorithmKind kind : kLaws) {
    if (name == ToString(kind)) return kind;
  }
  return std::nullopt;
}

std::string NamesOfLaws() {
  std::vector<std::string> names;
  for (const AlgorithmKind kind : kLaws) names.emplace_back(ToString(kind));
  return absl::StrJoin(names, ", ");
}

// The config that the options describe; what is wrong with them is added to the violations.
AlgorithmConfig ConfigOf(const LocalBulkheadOptions& options, Violations& violations) {
  AlgorithmConfig config;
  const std::optional<AlgorithmKind> kind = LawNamed(options.algorithm);
  violations.Require(kind.has_value(), "algorithm", absl::StrCat("'", options.algorithm, "'"),
                     absl::StrCat("must be one of ", NamesOfLaws()));
  if (!kind.has_value()) return config;
  config.kind = *kind;
  config.initial = options.initial;
  const bool fixed = *kind == AlgorithmKind::kFixed;
  config.floor = fixed ? options.initial : options.floor;
  config.ceiling = fixed ? options.initial : options.ceiling;
  violations.AddAll(internal::ReadLawSettings(options.settings, config));
  violations.Add(Validate(config));
  return config;
}

void CheckWindow(const LocalBulkheadOptions& options, Violations& violations) {
  const absl::Duration window = absl::FromChrono(options.window);
  violations.Require(window >= kWindowMin && window <= kWindowMax, "window", window,
                     "must be between 10ms and 1m");
  violations.Require(options.samples_min >= 1 && options.samples_min <= kSamplesMax, "samples_min",
                     options.samples_min, absl::StrCat("must be between 1 and ", kSamplesMax));
  const double percentile = options.percentile.value_or(0.5);
  violations.Require(percentile > 0 && percentile < 1, "percentile", percentile,
                     "must be above 0 and below 1");
  violations.Require(options.drop_tolerance >= 0 && options.drop_tolerance < 1, "drop_tolerance",
                     options.drop_tolerance, "must be at least 0 and below 1");
}

Violations ViolationsOf(const LocalBulkheadOptions& options) {
  Violations violations(Violations::Form::kWords);
  violations.Require(IsValidName(options.dependency), "dependency",
                     absl::StrCat("'", options.dependency, "'"),
                     "must be 1 to 63 letters, digits, '.', '_', '~', '-' that begins and ends "
                     "with a letter or digit");
  ConfigOf(options, violations);
  CheckWindow(options, violations);
  violations.Require(options.call_deadline.count() > 0, "call_deadline", options.call_deadline,
                     "must be positive");
  violations.Add(Validate(options.bulkhead));
  if (options.bulkhead.permit_age_max.count() > 0) {
    violations.Add(
        "bulkhead.permit_age_max is set: must be zero, as there is no thread that looks for old "
        "permits");
  }
  return violations;
}

std::optional<double> PercentileOf(const LocalBulkheadOptions& options, AlgorithmKind kind) {
  if (options.percentile.has_value()) return options.percentile;
  if (kind == AlgorithmKind::kEnvoyGradient) return 0.5;
  if (kind == AlgorithmKind::kAimd) return 0.9;
  return std::nullopt;
}

std::unique_ptr<internal::LocalPilot> MakePilot(const LocalBulkheadOptions& options, Random random,
                                                Instant now) {
  Violations none;
  const AlgorithmConfig config = ConfigOf(options, none);
  internal::LocalWindowConfig window;
  window.length = absl::FromChrono(options.window);
  window.samples_min = options.samples_min;
  window.percentile = PercentileOf(options, config.kind);
  window.drop_tolerance = options.drop_tolerance;
  const bool endless = options.call_deadline == std::chrono::nanoseconds::max();
  return std::make_unique<internal::LocalPilot>(
      config, internal::LocalLaw(*MakeAlgorithm(config), window, random, now),
      endless ? absl::InfiniteDuration() : absl::FromChrono(options.call_deadline));
}

}  // namespace

absl::Status Validate(const LocalBulkheadOptions& options) {
  return ViolationsOf(options).ToStatus("local bulkhead options");
}

class LocalBulkhead::Impl {
 public:
  // The limiter owns the pilot, because permits that outlive the bulkhead may still run it.
  Impl(const LocalBulkheadOptions& options, const Clock& clock, Random random)
      : generation_(internal::ForkGeneration()), clock_(clock) {
    auto pilot = MakePilot(options, random, clock.Now());
    pilot_ = pilot.get();
    limiter_ = internal::Limiter::Make(clock, options.bulkhead);
    limiter_->SetDueWork(std::move(pilot));
    pilot_->Begin(*limiter_, clock.Now());
    bulkhead_ = BulkheadFactory::Make(options.dependency, limiter_);
  }

  Bulkhead& bulkhead() { return *bulkhead_; }

  absl::Status Set(std::optional<Calls> limit) {
    if (internal::ForkGeneration() != generation_) {
      return absl::FailedPreconditionError(
          "this bulkhead belongs to the parent process: make another one after fork()");
    }
    pilot_->SetByHand(*limiter_, limit, clock_.Now());
    return absl::OkStatus();
  }

  BulkheadSnapshot Snapshot() const {
    BulkheadSnapshot snapshot = internal::TakeSnapshot(bulkhead_->dependency(), *limiter_);
    internal::MakeLocal(snapshot);
    return snapshot;
  }

 private:
  const int generation_;
  const Clock& clock_;
  internal::LocalPilot* pilot_;  // of the limiter
  internal::Limiter* limiter_;   // of the bulkhead
  std::unique_ptr<Bulkhead> bulkhead_;
};

LocalBulkhead::LocalBulkhead(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalBulkhead::~LocalBulkhead() = default;

Bulkhead& LocalBulkhead::bulkhead() { return impl_->bulkhead(); }

absl::Status LocalBulkhead::SetLimit(int limit) {
  if (limit < 0 || limit > kCallsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("limit is ", limit, ": must be between 0 and ", kCallsMax));
  }
  return impl_->Set(limit);
}

absl::Status LocalBulkhead::ClearLimit() { return impl_->Set(std::nullopt); }
BulkheadSnapshot LocalBulkhead::Snapshot() const { return impl_->Snapshot(); }

absl::StatusOr<std::unique_ptr<LocalBulkhead>> LocalBulkheadFactory::Make(
    const LocalBulkheadOptions& options, const Clock& clock, Random random) {
  if (absl::Status valid = Validate(options); !valid.ok()) return valid;
  return std::unique_ptr<LocalBulkhead>(
      new LocalBulkhead(std::make_unique<LocalBulkhead::Impl>(options, clock, random)));
}

absl::StatusOr<std::unique_ptr<LocalBulkhead>> MakeLocalBulkhead(
    const LocalBulkheadOptions& options) {
  return LocalBulkheadFactory::Make(options, RealClock(), Random::FromEntropy());
}

}  // namespace plimsoll
