#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::cli {

// How progress is shown.
enum class ProgressStyle {
  kNone,
  kBar,    // one line that is drawn over, for terminals
  kLines,  // a line per 10 %, for logs
};

// "[#####     ]  50 %, 12 s left" for a share in [0, 1]; no guess of the time before 2 %.
std::string ProgressText(double share, absl::Duration elapsed);

// Adds up how far many jobs are, and writes it. Thread-safe.
class Progress {
 public:
  using Write = std::function<void(const std::string&)>;
  // `clock` must outlive it.
  Progress(ProgressStyle style, std::size_t jobs, const Clock& clock, Write write);

  // `share` of one job is done. Shares of one job must not fall.
  void Report(std::size_t job, double share) ABSL_LOCKS_EXCLUDED(mutex_);
  // Removes the bar.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Show(double share) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ProgressStyle style_;
  const Clock& clock_;
  const Write write_;
  const Instant start_;
  Mutex mutex_;
  std::vector<double> done_ ABSL_GUARDED_BY(mutex_);
  double sum_ ABSL_GUARDED_BY(mutex_) = 0;
  int shown_ ABSL_GUARDED_BY(mutex_) = -1;  // tenths for lines, thousandths for the bar
};

}  // namespace plimsoll::cli
