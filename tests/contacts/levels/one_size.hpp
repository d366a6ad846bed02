// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "contacts/bodies/size_histogram.hpp"

namespace quadrat::test {

/// A histogram of equal sizes.
template <typename T>
[[nodiscard]] detail::size_histogram<T> histogram_of_one_size(T half_extent, std::size_t count) {
  detail::size_histogram<T> result{};
  result.counts[static_cast<std::size_t>(detail::size_class(half_extent))] = count;
  result.largest = half_extent;
  return result;
}

}  // namespace quadrat::test
