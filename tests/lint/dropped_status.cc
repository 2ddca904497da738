// An error that is returned cannot be dropped without a word.
#include "absl/status/status.h"

absl::Status Fail() { return absl::UnavailableError("no"); }

void Drop() { Fail(); }
