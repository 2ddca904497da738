#include "plimsoll/agent/bulkhead.h"

#include <utility>

#include "agent/src/limiter.h"

namespace plimsoll {

Bulkhead::Bulkhead(std::string dependency, internal::Limiter* limiter)
    : dependency_(std::move(dependency)), limiter_(limiter) {}

Bulkhead::~Bulkhead() { limiter_->Abandon(); }

Admission Bulkhead::TryAcquire() { return limiter_->TryAcquire(); }
int Bulkhead::limit() const { return limiter_->limit(); }
int Bulkhead::in_flight() const { return limiter_->in_flight(); }
BulkheadStats Bulkhead::stats() const { return limiter_->Stats(); }

}  // namespace plimsoll
