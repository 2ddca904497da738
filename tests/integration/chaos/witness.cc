#include "tests/integration/chaos/witness.h"

#include <algorithm>

namespace plimsoll::chaos {

void QuotaWitness::Shown(int quota, Instant now) {
  const auto latest = std::find_if(spans_.rbegin(), spans_.rend(),
                                   [&](const Span& span) { return span.quota == quota; });
  if (latest == spans_.rend()) return;
  current_ = quota;
  for (auto earlier = latest + 1; earlier != spans_.rend(); ++earlier) {
    if (!earlier->end) earlier->end = now;
  }
}

bool QuotaWitness::Settled() const {
  return current_ == written() &&
         std::all_of(spans_.begin(), spans_.end() - 1,
                     [](const Span& span) { return span.end.has_value(); });
}

int QuotaWitness::Allowed(Instant now) const {
  int allowed = 0;
  for (const Span& span : spans_) {
    if (!span.end || *span.end + memory_ >= now) allowed = std::max(allowed, span.quota);
  }
  return allowed;
}

}  // namespace plimsoll::chaos
