#pragma once

#include "api/wire/src/json_reader.h"
#include "api/wire/src/json_writer.h"
#include "plimsoll/core/window.h"

namespace plimsoll::internal {

// One window of a sync.
void ReadWindow(const JsonValue& value, Faults& faults, Window& into);
void WriteWindow(const Window& window, JsonWriter& writer);

}  // namespace plimsoll::internal
