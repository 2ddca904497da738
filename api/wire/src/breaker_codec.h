#pragma once

#include <vector>

#include "api/wire/src/json_reader.h"
#include "api/wire/src/json_writer.h"
#include "plimsoll/core/breaker.h"

namespace plimsoll::internal {

// Readers and writers of what the messages say of breakers. Requests are read strictly, answers
// leniently, like the rest of them.
void ReadBreakerReport(const JsonValue& value, Faults& faults, BreakerReport& into);
void WriteBreakerReport(const BreakerReport& report, JsonWriter& writer);

void ReadBreakerSettings(const JsonValue& value, Faults& faults, BreakerSettings& into);
void WriteBreakerSettings(const BreakerSettings& settings, JsonWriter& writer);

void ReadBreakerOrders(const JsonValue& value, Faults& faults, std::vector<BreakerOrder>& into);
void WriteBreakerOrders(const std::vector<BreakerOrder>& orders, JsonWriter& writer);

}  // namespace plimsoll::internal
