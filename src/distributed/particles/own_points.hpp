// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/finite.hpp"
#include "core/point_checks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Finds the first point that is not finite or not in the block of this rank. The result is twice its index, plus 1 if
/// it is finite.
template <typename T, int D>
struct misplaced_point {
  points_view<T, D> points;
  const std::uint32_t* owners;
  std::uint32_t self;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    const bool finite = is_finite(points[i]);
    return finite && owners[i] == self ? ~std::uint64_t{0} : 2 * static_cast<std::uint64_t>(i) + (finite ? 1 : 0);
  }
};

/// Checks that a rank gives points of its own block.
template <typename Context>
class own_points_check {
 public:
  /// Waits. May allocate. Not collective. Throws argument_error for invalid points or a decomposition of another grid
  /// or other ranks, and data_error for a point that is not finite or not in the block of this rank.
  template <typename T, int D>
  void operator()(const Context& context, const communicator& ranks, const grid<T, D>& space,
                  const decomposition<D>& shares, const points_view<T, D>& points) {
    require_points(points, "points");
    require(shares.cells == space.cells && shares.ranks() == ranks.size(),
            "the decomposition of the points is of another grid, or for other ranks");
    if (points.count == 0) return;
    const device_decomposition<Context, D> there(context, shares);
    owners_.resize_discarding(context, points.count);
    find_owners(context, there.view(), space, points, owners_.data());
    const misplaced_point<T, D> look{points, owners_.data(), static_cast<std::uint32_t>(ranks.rank())};
    const std::uint64_t found = reduce_minimum(context, "distributed.owners", points.count, look, scratch_);
    if (found == ~std::uint64_t{0}) return;
    const std::uint64_t first = found / 2;
    if (found % 2 == 0) throw data_error(message("point ", first, " of rank ", ranks.rank(), " is not finite"), first);
    throw data_error(message("point ", first, " of rank ", ranks.rank(), " is in a cell of rank ",
                             to_host(context, owners_.data() + first, 1)[0]),
                     first);
  }

  [[nodiscard]] std::size_t bytes() const { return owners_.bytes() + scratch_.bytes(); }

 private:
  array<std::uint32_t, Context> owners_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
