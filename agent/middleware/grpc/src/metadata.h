#pragma once

#include <grpcpp/support/string_ref.h>

#include <map>
#include <string_view>

namespace plimsoll::internal {

// The first value of a key, or empty. Points into the metadata.
inline std::string_view MetadataView(
    const std::multimap<grpc::string_ref, grpc::string_ref>& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view()
                                 : std::string_view(found->second.data(), found->second.size());
}

}  // namespace plimsoll::internal
