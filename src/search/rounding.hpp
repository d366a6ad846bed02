// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/lattice.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// Bound on the rounding of the coordinates of two wrapped points and of their separation, up to `reach` long, as a
/// fraction of the box along each axis. `number` is that of the box, for messages. Throws argument_error when the reach
/// spans more than 498 images of the box, and for a box that loses positions to rounding.
template <typename T, int D>
[[nodiscard]] vec<double, D> rounding_in_box(const lattice<T, D>& shape, T reach, std::size_t number);

}  // namespace quadrat::detail
