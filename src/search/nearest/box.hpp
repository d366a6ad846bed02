// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/search/nearest_neighbors.hpp"
#include "search/nearest/images.hpp"

namespace quadrat::detail {

/// Throws argument_error for impossible options.
template <typename T>
void check_nearest_options(const nearest_options<T>& options);

/// The images of a box that a search may need, without the bounds of points. Throws argument_error for impossible
/// options, and for boxes that are too skewed.
template <typename T, int D>
[[nodiscard]] nearest_images<T, D> make_nearest_images(const lattice<T, D>& shape, const nearest_options<T>& options);

/// The images that can be among the k nearest neighbors of so many points, with their numbers.
template <typename T, int D>
[[nodiscard]] nearest_images<T, D> images_for(nearest_images<T, D> images, std::size_t points, std::size_t k);

}  // namespace quadrat::detail
