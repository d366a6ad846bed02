// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Cells in which sampled points are counted: those of the method, or cells of about that size. Positions outside count
/// in the border cells, wrapped along periodic axes. If axes are endless, they have cells of their own.
struct sampled_cells {
  // Plain arrays, for device code.
  double lower[3] = {0, 0, 0};
  double scale[3] = {1, 1, 1};          ///< cells per length
  std::uint32_t extent[3] = {1, 1, 1};  ///< 1 along axes beyond the dimension
  bool periodic[3] = {false, false, false};
  bool endless = false;  ///< copies of the box continue it along axes that are not periodic

  [[nodiscard]] double cells() const {
    return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
  }
  /// The index of the cell of a coordinate along an axis; any index if the coordinate is not finite.
  [[nodiscard]] QUADRAT_HD std::uint32_t along(double x, int axis) const {
    const double place = (x - lower[axis]) * scale[axis], size = extent[axis];
    const double turned = periodic[axis] || endless ? place - size * std::floor(place / size) : place;
    if (!(turned > 0)) return 0;
    return turned < size ? static_cast<std::uint32_t>(turned) : extent[axis] - 1;
  }
  /// The number of the copy of the box in which a coordinate lies; 0 for the box itself.
  [[nodiscard]] QUADRAT_HD std::uint64_t copy(double x, int axis) const {
    constexpr double most = 1 << 20;
    if (!endless || periodic[axis]) return 0;
    const double turns = std::floor((x - lower[axis]) * scale[axis] / extent[axis]);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::fmin(std::fmax(turns, -most), most)));
  }
};

/// Cells with about this edge in a box; at most 2^20 along an axis.
template <typename T, int D>
[[nodiscard]] sampled_cells cells_for_sample(const box<T, D>& domain, double edge);

/// The choice of sampled points: eight groups of eight windows of 32 consecutive points. The groups are spread evenly
/// over all points. In a group the distances between windows grow from one window to half of the group, so that there
/// are pairs of points at all distances in memory. Up to 2048 points, all are sampled.
struct point_sample_layout {
  static constexpr std::size_t window = 32, groups = 8, in_group = 8;
  static constexpr std::size_t most_windows = groups * in_group;

  std::size_t count;
  std::size_t taken;
  std::size_t windows;                 ///< number of windows in all points
  std::size_t offsets[in_group] = {};  ///< windows from the first of a group

  explicit point_sample_layout(std::size_t points);
  /// The window at place w of the sample.
  [[nodiscard]] QUADRAT_HD std::size_t window_at(std::size_t w) const {
    return taken == count ? w : w / in_group * windows / groups + offsets[w % in_group];
  }
  /// The point at place s of the sample.
  [[nodiscard]] QUADRAT_HD std::size_t point(std::size_t s) const {
    return window_at(s / window) * window + s % window;
  }
};

/// How points are distributed over cells, and their order in memory. The defaults are those of uniform points in random
/// order.
struct point_sample {
  double seen = 0;       ///< sampled points; 0: nothing was sampled
  double cells = 1;      ///< of the grid, in all copies of the box that hold sampled points
  double same = 0;       ///< fraction of adjacent points in memory that share a cell
  double distance = 1;   ///< of the cells of neighbors in memory: mean of |difference of their numbers| / cells, times
                         ///< 3; about 1 in random order
  double occupancy = 0;  ///< expected number of other points in the cell of a point
  double fullest = 0;    ///< points in the fullest cell, estimated
  double occupied = 1;   ///< fraction of cells that are not empty, estimated

  /// The sample for `ratio` times as many points.
  [[nodiscard]] point_sample of_as_many(double ratio) const {
    point_sample other = *this;
    other.occupancy *= ratio;
    other.fullest *= ratio;
    return other;
  }
  /// The factor by which a point has more points in its cell (itself included) than in a uniform distribution; at least
  /// 1.
  [[nodiscard]] double crowding(double points) const {
    const double mean = points / cells;
    return seen < 1 || mean <= 0 ? 1.0 : (1 + occupancy) / (1 + mean) < 1 ? 1.0 : (1 + occupancy) / (1 + mean);
  }
};

/// Whether a sample may still be used for `ratio` times as many points. Otherwise the points are sampled again.
[[nodiscard]] constexpr bool is_about_one(double ratio) { return ratio <= 1.5 && 1.5 * ratio >= 1; }

/// The statistics of the cells of a sample, in its order. In copy k of the box, numbers of cells begin at k times the
/// number of cells.
[[nodiscard]] point_sample summarize_points(std::size_t count, const sampled_cells& cells,
                                            std::span<const std::uint64_t> sampled);

/// Samples points in the memory of the context by up to two grids of cells. Waits once. Points that are not finite fall
/// into an unspecified cell.
template <typename Context, typename T, int D>
[[nodiscard]] std::vector<point_sample> sample_points(const Context& context, const points_view<T, D>& points,
                                                      std::span<const sampled_cells> grids,
                                                      workspace<Context>& scratch);
/// The same for one grid.
template <typename Context, typename T, int D>
[[nodiscard]] point_sample sample_points(const Context& context, const points_view<T, D>& points,
                                         const sampled_cells& cells, workspace<Context>& scratch) {
  return sample_points(context, points, std::span(&cells, 1), scratch).front();
}

/// How much fuller than the mean the fullest cell is assumed to be if points were not sampled (at most all points). So
/// methods that suffer most from clusters are chosen only for sampled points. With less than half of this value they
/// are chosen for others, too, and may take thirty times as long as the best. With four times this value, the best
/// method for uniform points is not chosen for them.
inline constexpr double unseen_clustering = 25;
[[nodiscard]] inline double unseen_fullest(double mean, double points, double clustering = unseen_clustering) {
  const double clustered = clustering * (1 + mean);
  return clustered < points ? clustered : points;
}

/// Milliseconds that a sample takes. Points are sampled if the work is expected to take 50 times as long; five times as
/// long if the choice is permanent.
inline constexpr double sample_ms_on_cuda = 0.045;
inline constexpr double sample_ms_on_cpu = 0.02;
[[nodiscard]] constexpr bool worth_sampling(bool cuda, double expected_ms, bool for_good = false) {
  return expected_ms >= (for_good ? 5 : 50) * (cuda ? sample_ms_on_cuda : sample_ms_on_cpu);
}

}  // namespace quadrat::detail
