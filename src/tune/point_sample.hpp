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

/// Cells that sampled points are counted in: those that a method would use, or about as large. Positions outside count
/// in the cells at the border, wrapped along a periodic axis, or in cells of their own if axes are endless.
struct sampled_cells {
  // Plain arrays, for devices.
  double lower[3] = {0, 0, 0};
  double scale[3] = {1, 1, 1};          ///< cells per length
  std::uint32_t extent[3] = {1, 1, 1};  ///< 1 along axes beyond the dimension
  bool periodic[3] = {false, false, false};
  bool endless = false;  ///< copies of the box follow each other along axes that are not periodic

  [[nodiscard]] double cells() const {
    return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
  }
  /// The number of the cell of a coordinate along an axis; any for one that is not finite.
  [[nodiscard]] QUADRAT_HD std::uint32_t along(double x, int axis) const {
    const double place = (x - lower[axis]) * scale[axis], size = extent[axis];
    const double turned = periodic[axis] || endless ? place - size * std::floor(place / size) : place;
    if (!(turned > 0)) return 0;
    return turned < size ? static_cast<std::uint32_t>(turned) : extent[axis] - 1;
  }
  /// Which copy of the box a coordinate is in; 0 in the box itself.
  [[nodiscard]] QUADRAT_HD std::uint64_t copy(double x, int axis) const {
    constexpr double most = 1 << 20;
    if (!endless || periodic[axis]) return 0;
    const double turns = std::floor((x - lower[axis]) * scale[axis] / extent[axis]);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::fmin(std::fmax(turns, -most), most)));
  }
};

/// Cells of about this edge in a box; at most 2^20 along an axis.
template <typename T, int D>
[[nodiscard]] sampled_cells cells_for_sample(const box<T, D>& domain, double edge);

/// Which points are sampled: eight groups of eight windows of 32 consecutive points. Groups are evenly over the whole;
/// in a group the distances between windows grow from one window to half of a group, so that there are pairs of points
/// at all distances in memory. Up to 2048 points, all of them.
struct point_sample_layout {
  static constexpr std::size_t window = 32, groups = 8, in_group = 8;
  static constexpr std::size_t most_windows = groups * in_group;

  std::size_t count;
  std::size_t taken;
  std::size_t windows;                 ///< that all points fill
  std::size_t offsets[in_group] = {};  ///< of the windows of a group from its first

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

/// How points are distributed over cells, and in which order they are stored. Of uniform points in random order unless
/// sampled.
struct point_sample {
  double seen = 0;      ///< points in the sample; 0: nothing was sampled
  double cells = 1;     ///< of the grid, in all copies of the box that have sampled points
  double same = 0;      ///< share of neighbors in memory that are in the same cell
  double distance = 1;  ///< of the cells of neighbors in memory: mean of |difference of their numbers| / cells, times
                        ///< 3; about 1 in random order
  double company = 0;   ///< expected other points in the cell of a point
  double fullest = 0;   ///< points of the fullest cell, estimated
  double occupied = 1;  ///< share of cells that are not empty, estimated

  /// The same of so many times as many points.
  [[nodiscard]] point_sample of_as_many(double ratio) const {
    point_sample other = *this;
    other.company *= ratio;
    other.fullest *= ratio;
    return other;
  }
  /// How much more company a point has than in a uniform distribution: 1 and more.
  [[nodiscard]] double crowding(double points) const {
    const double mean = points / cells;
    return seen < 1 || mean <= 0 ? 1.0 : (1 + company) / (1 + mean) < 1 ? 1.0 : (1 + company) / (1 + mean);
  }
};

/// Whether a sample of points serves so many times as many: they are sampled again where their number has changed more.
[[nodiscard]] constexpr bool is_about_one(double ratio) { return ratio <= 1.5 && 1.5 * ratio >= 1; }

/// The statistics of the cells of a sample, in its order. In the k-th copy of the box numbers of cells begin with k
/// times the number of cells.
[[nodiscard]] point_sample summarize_points(std::size_t count, const sampled_cells& cells,
                                            std::span<const std::uint64_t> sampled);

/// Samples points that are in the memory of the context by up to two grids of cells. Synchronizes once. Points that are
/// not finite count somewhere.
template <typename Context, typename T, int D>
[[nodiscard]] std::vector<point_sample> sample_points(const Context& context, const points_view<T, D>& points,
                                                      std::span<const sampled_cells> grids,
                                                      workspace<Context>& scratch);
/// The same by one grid.
template <typename Context, typename T, int D>
[[nodiscard]] point_sample sample_points(const Context& context, const points_view<T, D>& points,
                                         const sampled_cells& cells, workspace<Context>& scratch) {
  return sample_points(context, points, std::span(&cells, 1), scratch).front();
}

/// How much fuller than the mean the fullest cell is taken to be where points were not sampled, up to all points:
/// methods that suffer most from clusters are chosen only for points that were seen. With less than half of this they
/// are chosen for others, too, and may take thirty times as long as the best; with four times as much, what is best for
/// even points is not chosen for them.
inline constexpr double unseen_clustering = 25;
[[nodiscard]] inline double unseen_fullest(double mean, double points, double clustering = unseen_clustering) {
  const double clustered = clustering * (1 + mean);
  return clustered < points ? clustered : points;
}

/// Milliseconds that a sample takes. It is taken where the work it serves is expected to take 50 times as long, or five
/// times where the choice is for good.
inline constexpr double sample_ms_on_cuda = 0.045;
inline constexpr double sample_ms_on_cpu = 0.02;
[[nodiscard]] constexpr bool worth_sampling(bool cuda, double expected_ms, bool for_good = false) {
  return expected_ms >= (for_good ? 5 : 50) * (cuda ? sample_ms_on_cuda : sample_ms_on_cpu);
}

}  // namespace quadrat::detail
