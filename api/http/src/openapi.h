#pragma once

#include <string_view>

namespace plimsoll::internal {

// api/openapi.yaml as JSON, made by the build. Of static storage. Thread-safe.
std::string_view OpenapiJson();

}  // namespace plimsoll::internal
