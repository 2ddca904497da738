#include "api/http/src/url.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_format.h"

namespace plimsoll::internal {
namespace {

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

absl::StatusOr<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
      continue;
    }
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const std::optional<int> high = i + 1 < text.size() ? HexDigit(text[i + 1]) : std::nullopt;
    const std::optional<int> low = i + 2 < text.size() ? HexDigit(text[i + 2]) : std::nullopt;
    if (!high || !low) {
      return absl::InvalidArgumentError("a '%' in the address is not followed by two hex digits");
    }
    decoded += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return decoded;
}

// Calls `take` with each part of `text` between separators.
template <typename Take>
absl::Status ForEachPart(std::string_view text, char separator, Take take) {
  for (;;) {
    const std::size_t end = text.find(separator);
    const absl::Status status = take(text.substr(0, end));
    if (!status.ok() || end == std::string_view::npos) return status;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

absl::StatusOr<PathSegments> SplitPath(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  PathSegments segments;
  const absl::Status status = ForEachPart(path, '/', [&segments](std::string_view part) {
    absl::StatusOr<std::string> segment = Decode(part, false);
    if (!segment.ok()) return segment.status();
    if (segment->find('/') != std::string::npos || segment->find('\0') != std::string::npos) {
      return absl::NotFoundError("no name contains '/'");
    }
    segments.push_back(*std::move(segment));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return segments;
}

absl::StatusOr<QueryParameters> SplitQuery(std::string_view query) {
  QueryParameters parameters;
  const absl::Status status = ForEachPart(query, '&', [&parameters](std::string_view part) {
    if (part.empty()) return absl::OkStatus();
    const std::size_t equals = part.find('=');
    absl::StatusOr<std::string> name = Decode(part.substr(0, equals), true);
    if (!name.ok()) return name.status();
    absl::StatusOr<std::string> value = std::string();
    if (equals != std::string_view::npos) value = Decode(part.substr(equals + 1), true);
    if (!value.ok()) return value.status();
    const bool twice = std::any_of(parameters.begin(), parameters.end(),
                                   [&name](const auto& seen) { return seen.first == *name; });
    if (twice) {
      return absl::InvalidArgumentError(absl::StrFormat("parameter '%s' appears twice", *name));
    }
    parameters.emplace_back(*std::move(name), *std::move(value));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return parameters;
}

}  // namespace plimsoll::internal
