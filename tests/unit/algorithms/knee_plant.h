#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "plimsoll/algorithms/fleet_knee.h"
#include "plimsoll/core/random.h"

namespace plimsoll {

// What stands before a limit, by formula: a pure delay, then c servers of which each call gets an
// equal part. With n calls in flight, throughput X solves n = X * (delay + service * f), where the
// station is idle below c. No queueing noise, but counts are Poisson as far as `noisy` says.
struct Plant {
  double servers = 8;
  double service = 0.010;  // seconds
  double delay = 0;
  double retrograde = 0;    // throughput loss per call beyond the servers
  double failed_above = 0;  // share of failed calls once more than `servers` are there
  double failed = 0;        // share of failed calls, whatever the load

  double Throughput(double n) const {
    const double flowing = n / (delay + service);
    const double most = servers / service;
    const double smooth = 8;  // how sharp the knee is: queueing makes it round
    const double x = flowing / std::pow(1 + std::pow(flowing / most, smooth), 1 / smooth);
    return x / (1 + retrograde * std::max(0.0, n - servers));
  }
  // Where throughput is 99 % of the most.
  double Knee() const { return servers / service * (delay + service); }
};

// Changes what the law sees or has learnt, once an epoch has been closed: for mutants.
using Tamper = std::function<void(KneeState& state)>;

// A fleet that offers `offered` calls per second and replica to plants, one for each replica or one
// for all.
class KneeFleet {
 public:
  KneeFleet(FleetKnee law, std::vector<Plant> plants, double offered, std::uint64_t seed = 1)
      : law_(std::move(law)),
        plants_(std::move(plants)),
        offered_(plants_.size(), offered),
        state_(law_.InitialState(seed)),
        random_(seed) {
    for (std::size_t i = 0; i < plants_.size(); ++i) law_.Add(state_);
  }

  static AlgorithmConfig Config() {
    AlgorithmConfig config;
    config.kind = AlgorithmKind::kFleetKnee;
    config.floor = 1;
    config.ceiling = 1000;
    config.initial = 20;
    return config;
  }

  void TamperWith(Tamper tamper) { tamper_ = std::move(tamper); }
  const FleetKnee& law() const { return law_; }
  KneeState& state() { return state_; }
  Plant& plant(std::size_t i) { return plants_[i]; }
  void Offer(double each) { std::fill(offered_.begin(), offered_.end(), each); }
  void OfferTo(std::size_t i, double calls) { offered_[i] = calls; }
  void ChangeAll(const Plant& plant) { std::fill(plants_.begin(), plants_.end(), plant); }
  double seconds() const { return seconds_; }
  Calls limit(std::size_t i) const { return law_.Limit(state_, i); }
  KneeEpoch& settings() { return settings_; }
  // From now on everybody has so many in flight, give or take `noise` of it, whatever the law says.
  void Freeze(double limit, double noise) {
    frozen_ = limit;
    noise_ = noise;
  }
  // These do not report.
  void Silence(std::vector<std::size_t> replicas) { silent_ = std::move(replicas); }

  KneeDecision Run() {
    KneeEpoch epoch = settings_;
    const double seconds = absl::ToDoubleSeconds(law_.EpochLength(state_));
    epoch.replicas = law_.mode() == KneeMode::kShared ? MeasureShared(seconds) : Measure(seconds);
    for (const std::size_t i : silent_) epoch.replicas[i] = ReplicaEpoch();
    seconds_ += seconds + absl::ToDoubleSeconds(law_.Settle(state_));
    const KneeDecision decision = law_.Close(state_, epoch);
    if (tamper_) tamper_(state_);
    return decision;
  }
  KneeDecision Run(int epochs) {
    KneeDecision last;
    for (int i = 0; i < epochs; ++i) last = Run();
    return last;
  }

 private:
  std::vector<ReplicaEpoch> Measure(double seconds) {
    std::vector<ReplicaEpoch> epochs;
    for (std::size_t i = 0; i < plants_.size(); ++i) {
      epochs.push_back(
          MeasureOne(plants_[i], offered_[i], InForce(law_.Limit(state_, i)), seconds));
    }
    return epochs;
  }
  // All replicas have equal parts of the one plant, and of its calls.
  std::vector<ReplicaEpoch> MeasureShared(double seconds) {
    double offered = 0;
    for (const double each : offered_) offered += each;
    ReplicaEpoch all = MeasureOne(plants_[0], offered, InForce(law_.Total(state_)), seconds);
    const auto count = static_cast<std::int64_t>(plants_.size());
    all.limit /= static_cast<Calls>(count);
    all.failed /= count;
    all.succeeded /= count;
    all.rejected /= count;
    all.in_flight /= count;
    return std::vector<ReplicaEpoch>(plants_.size(), all);
  }
  double InForce(double limit) {
    return frozen_ ? *frozen_ * (1 + random_.Uniform(-noise_, noise_)) : limit;
  }
  ReplicaEpoch MeasureOne(const Plant& plant, double offered, double limit, double seconds) {
    ReplicaEpoch epoch;
    const double most = plant.Throughput(limit);
    const bool full = offered > most;
    const double n = full ? limit : Inverse(plant, offered);
    const double x = std::min(offered, most);
    const double ended = std::max(0.0, Noisy(x * seconds));
    const double failing = std::max(plant.failed, n > plant.servers ? plant.failed_above : 0);
    epoch.length = absl::Seconds(seconds);
    epoch.limit = static_cast<Calls>(limit);
    epoch.failed = std::llround(ended * failing);
    epoch.succeeded = std::max<std::int64_t>(0, std::llround(ended) - epoch.failed);
    epoch.rejected = full ? std::llround((offered - x) * seconds) : 0;
    epoch.in_flight = absl::Seconds(n * seconds);
    if (full) epoch.at_limit = epoch.length;
    return epoch;
  }
  static double Inverse(const Plant& plant, double x) {
    double low = 0;
    double high = 1e5;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (plant.Throughput(middle) < x ? low : high) = middle;
    }
    return low;
  }
  // The sum of twelve uniforms is near enough to normal.
  double Noisy(double mean) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random_.Uniform();
    return mean + sum * std::sqrt(mean);
  }

  FleetKnee law_;
  std::vector<Plant> plants_;
  std::vector<double> offered_;
  KneeState state_;
  Random random_;
  KneeEpoch settings_;
  std::vector<std::size_t> silent_;
  std::optional<double> frozen_;
  double noise_ = 0;
  Tamper tamper_;
  double seconds_ = 0;
};

}  // namespace plimsoll
