// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "hydro/near_matrix.hpp"
#include "hydro/place.hpp"
#include "hydro/results.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"

/// The kernel bodies of distributed_mobility. In all arrays own spheres come first, then ghosts.
namespace quadrat::detail {

/// Finds the first point that is not finite or not in the block of this rank. The result is twice its index, plus 1 if
/// it is finite.
template <typename T>
struct misplaced_sphere {
  points_view<T, 3> points;
  const std::uint32_t* owners;
  std::uint32_t self;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const bool finite = is_finite(points[i]);
    return finite && owners[i] == self ? ~std::uint64_t{0} : 2 * static_cast<std::uint64_t>(i) + (finite ? 1 : 0);
  }
};

}  // namespace quadrat::detail
