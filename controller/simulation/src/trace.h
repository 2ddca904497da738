#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// What happened, as a hash always and as readable lines if asked for. Thread-compatible.
class Trace {
 public:
  explicit Trace(bool readable) : readable_(readable) {}

  // `line` makes the text; it is called only if somebody will read it.
  template <typename Line>
  void Note(Instant now, std::initializer_list<std::int64_t> facts, const Line& line) {
    Mix(now.ns);
    for (std::int64_t fact : facts) Mix(fact);
    if (!readable_) return;
    const double seconds = static_cast<double>(now.ns) * 1e-9;
    lines_.push_back(absl::StrFormat("%10.4f  %s", seconds, line()));
  }

  std::uint64_t hash() const { return hash_; }
  // No more lines.
  void Close() { readable_ = false; }
  std::vector<std::string> TakeLines() { return std::move(lines_); }

 private:
  // FNV-1a over whole words, with a rotation so that high bits matter too.
  void Mix(std::int64_t value) {
    hash_ = std::rotl((hash_ ^ static_cast<std::uint64_t>(value)) * 0x100000001b3U, 29);
  }

  bool readable_;
  std::uint64_t hash_ = 0xcbf29ce484222325U;
  std::vector<std::string> lines_;
};

}  // namespace plimsoll::internal
