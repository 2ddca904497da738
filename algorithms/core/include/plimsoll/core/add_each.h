#pragma once

#include <cstddef>

namespace plimsoll {

// Adds the numbers of one array to those of another, each to the one in its place. Both are of one
// type, and so of one size.
template <typename Array>
void AddEach(const Array& from, Array& into) {
  for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

}  // namespace plimsoll
