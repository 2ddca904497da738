#pragma once

#include "tests/scale/figures.h"
#include "tests/scale/options.h"

namespace plimsoll::scale {

// Lives the whole run: each shard by itself, since nothing crosses shards, with the same outages.
// Of a sample, only those shards are looked at, and counts are as if it had been all. Requires
// valid options. Same options, same figures, however many threads.
Figures Simulate(const Options& options);

// What of the shards was looked at: sessions in the sample, as a part of all.
double SampledPart(const Options& options);

}  // namespace plimsoll::scale
