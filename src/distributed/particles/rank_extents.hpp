// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "quadrat/core/array.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/workspace.hpp"

/// Where the points of each rank are in a box of any shape, and which ranks have points near a given one.
namespace quadrat::detail {

/// The bounding box of the points of a rank, in fractions of the box. Without points, low is above high.
template <int D>
struct rank_extent {
  vec<double, D> low, high;
};

template <int D>
struct join_extents {
  QUADRAT_HD rank_extent<D> operator()(const rank_extent<D>& a, const rank_extent<D>& b) const {
    rank_extent<D> all = a;
    for (int axis = 0; axis < D; ++axis) {
      all.low[axis] = std::fmin(a.low[axis], b.low[axis]);
      all.high[axis] = std::fmax(a.high[axis], b.high[axis]);
    }
    return all;
  }
};

/// Index: point. Its extent, which covers the rounding of its image in the box, in T. Along periodic axes it begins
/// between 0 and 1.
template <typename T, int D>
struct extent_of_point {
  lattice<double, D> shape;
  points_view<T, D> points;
  double rounding;         ///< of numbers around 1
  vec<double, D> farther;  ///< of the origin of coordinates than of the box, in fractions

  QUADRAT_HD rank_extent<D> operator()(std::size_t i) const {
    const vec<double, D> point = cast<double>(points[i]);
    rank_extent<D> extent{};
    for (int axis = 0; axis < D; ++axis) {
      const double fraction = shape.fraction(point, axis);
      const double at = shape.periodic[axis] ? fraction - std::floor(fraction) : fraction;
      const double slack = rounding * (1 + std::fabs(fraction) + farther[axis]);
      extent.low[axis] = at - slack;
      extent.high[axis] = at + slack;
    }
    return extent;
  }
};

/// Finds the ranks that may have a point near one of some points.
template <typename T, int D>
struct ranks_by_extent {
  extent_of_point<T, D> place;
  vec<double, D> heights;
  const rank_extent<D>* extents;  ///< by rank
  std::uint32_t ranks, self;

  /// Calls f(rank) in order of rank for all others that may have a point at this squared distance of point i or nearer.
  template <typename F>
  QUADRAT_HD void for_each(std::size_t i, double squared, F&& f) const {
    const double limit = squared * (1 + place.rounding);
    const rank_extent<D> point = place(i);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const bool empty = extents[rank].low[0] > extents[rank].high[0];
      if (rank != self && !empty && least_square(point, extents[rank]) <= limit) f(rank);
    }
  }

 private:
  /// No point of the extent is nearer: between planes across an axis there is at least their distance, and in a box
  /// with right angles these add up.
  [[nodiscard]] QUADRAT_HD double least_square(const rank_extent<D>& point, const rank_extent<D>& extent) const {
    double sum = 0, most = 0;
    for (int axis = 0; axis < D; ++axis) {
      const double above = extent.low[axis] - point.high[axis], below = point.low[axis] - extent.high[axis];
      double gap = std::fmax(above, below);
      if (place.shape.periodic[axis]) gap = std::fmin(gap, std::fmin(above + 1, below + 1));
      const double apart = std::fmax(gap, 0.0) * heights[axis];
      sum += apart * apart;
      most = std::fmax(most, apart);
    }
    return place.shape.orthorhombic ? sum : most * most;
  }
};

/// The extents of the points of all ranks.
template <typename Context, typename T, int D>
class rank_extents {
 public:
  /// `points`: those of this rank. Waits. May allocate. Collective.
  void build(const Context& context, communicator& ranks, const lattice<T, D>& box, const points_view<T, D>& points) {
    near_.place = extent_of_points(box, points);
    near_.heights = make_vec<double, D>([&](int axis) { return near_.place.shape.height(axis); });
    near_.ranks = static_cast<std::uint32_t>(ranks.size());
    near_.self = static_cast<std::uint32_t>(ranks.rank());
    constexpr double infinity = std::numeric_limits<double>::infinity();
    rank_extent<D> mine{vec<double, D>::filled(infinity), vec<double, D>::filled(-infinity)};
    together(ranks, [&] {
      mine = reduce(context, "distributed.extent", points.count, near_.place, join_extents<D>{}, mine, scratch_);
    });
    const auto all = all_values(ranks, mine);
    together(ranks, [&] { extents_ = to_device(context, all); });
    near_.extents = extents_.data();
  }

  /// For these points or queries; valid until the next build.
  [[nodiscard]] ranks_by_extent<T, D> near(const points_view<T, D>& points) const {
    ranks_by_extent<T, D> result = near_;
    result.place.points = points;
    return result;
  }
  [[nodiscard]] std::size_t bytes() const { return extents_.bytes() + scratch_.bytes(); }

 private:
  [[nodiscard]] static extent_of_point<T, D> extent_of_points(const lattice<T, D>& box,
                                                              const points_view<T, D>& points) {
    const auto vectors = make_vec<vec<double, D>, D>([&](int axis) { return cast<double>(box.vectors[axis]); });
    const auto shape = make_lattice(cast<double>(box.origin), vectors, box.periodic);
    const double far = norm(shape.origin);
    return {shape, points, 64 * static_cast<double>(std::numeric_limits<T>::epsilon()),
            make_vec<double, D>([&](int axis) { return far / shape.height(axis); })};
  }

  ranks_by_extent<T, D> near_{};
  array<rank_extent<D>, Context> extents_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
