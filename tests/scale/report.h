#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/scale/figures.h"
#include "tests/scale/options.h"

namespace plimsoll::scale {

// One line of what a run came to: what it is of, and numbers with names.
struct Line {
  std::string name;
  std::vector<std::pair<std::string, double>> values;
};

// The same numbers for people and for programs. `sampled` is the part that was looked at.
std::vector<Line> Report(const Options& options, const Figures& figures, double sampled);
std::string AsText(const std::vector<Line>& lines);
std::string AsJson(const std::vector<Line>& lines);

// How far the transactions that change etcd fall behind if it does so many a second: in seconds, at
// the worst moment.
double WorstDelay(const std::vector<std::int64_t>& writes_by_bin, double per_second);

}  // namespace plimsoll::scale
