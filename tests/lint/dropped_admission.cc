// A permit that nobody looks at would end at once, as ignored.
#include "plimsoll/agent/bulkhead.h"

void Drop(plimsoll::Bulkhead& bulkhead) { bulkhead.TryAcquire(); }
