#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "controller/config/yaml_tree.h"

namespace plimsoll {

// Strict readers of single values: what YAML 1.1 would guess (010, 0x10, 1_000, yes, "5") is
// refused. Errors are kInvalidArgument and say what to write.

// A decimal number without a fraction, in 32 bits.
absl::StatusOr<std::int32_t> ParseWhole(const YamlNode& node);
// A finite decimal number.
absl::StatusOr<double> ParseNumber(const YamlNode& node);
// true or false.
absl::StatusOr<bool> ParseFlag(const YamlNode& node);
// A number with a unit: us, ms, s, m or h. Not negative.
absl::StatusOr<absl::Duration> ParseDuration(const YamlNode& node);
// A number of bytes with a unit: B, KiB, MiB or GiB; at least 1 B, at most 1 GiB.
absl::StatusOr<std::uint64_t> ParseSize(const YamlNode& node);
// A string. What looks like a number, a boolean or null must stand in quotes to be one.
absl::StatusOr<std::string> ParseText(const YamlNode& node);

}  // namespace plimsoll
