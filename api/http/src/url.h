#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"

namespace plimsoll::internal {

// Most paths are short: no vector of them is allocated.
using PathSegments = absl::InlinedVector<std::string, 8>;
// The segments of a path, decoded: "/v1/limits/a%2Eb" is {"v1", "limits", "a.b"}; "/" is {""}.
// Splitting comes before decoding, so that an escaped slash cannot make a segment of its own.
// Returns kInvalidArgument for a bad escape, kNotFound for an escaped slash or NUL, which no name
// has.
absl::StatusOr<PathSegments> SplitPath(std::string_view path);

// Of a query, decoded, in order. '+' is a space.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;
// Returns kInvalidArgument for a bad escape or a parameter that appears twice.
absl::StatusOr<QueryParameters> SplitQuery(std::string_view query);

}  // namespace plimsoll::internal
