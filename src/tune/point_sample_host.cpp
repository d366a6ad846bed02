// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "tune/point_sample.hpp"

namespace quadrat::detail {

template <typename T, int D>
sampled_cells cells_for_sample(const box<T, D>& domain, double edge) {
  constexpr double most_along = 1 << 20;
  sampled_cells cells;
  for (int axis = 0; axis < D; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const auto length = static_cast<double>(domain.length[axis]);
    const double extent = std::clamp(std::floor(length / edge), 1.0, most_along);
    cells.lower[a] = static_cast<double>(domain.lower[axis]);
    cells.scale[a] = extent / length;
    cells.extent[a] = static_cast<std::uint32_t>(extent);
    cells.periodic[a] = domain.periodic[axis];
  }
  return cells;
}

template sampled_cells cells_for_sample(const box<float, 1>&, double);
template sampled_cells cells_for_sample(const box<float, 2>&, double);
template sampled_cells cells_for_sample(const box<float, 3>&, double);
template sampled_cells cells_for_sample(const box<double, 1>&, double);
template sampled_cells cells_for_sample(const box<double, 2>&, double);
template sampled_cells cells_for_sample(const box<double, 3>&, double);

namespace {

/// A hash table of the cells of a sample: how often each was seen in which windows. It must be fast, since a choice may
/// wait for it.
class cells_seen {
 public:
  struct in_window {
    std::uint64_t cell;
    std::uint32_t window, count, before;  ///< `before`: the entry of this cell for an earlier window, plus 1; 0: none
  };

  /// `sampled`: the cells of consecutive windows.
  explicit cells_seen(std::span<const std::uint64_t> sampled)
      : last_(std::bit_ceil(2 * sampled.size()), 0), mask_(last_.size() - 1) {
    all_.reserve(sampled.size());
    for (std::size_t s = 0; s < sampled.size(); ++s) {
      add(sampled[s], static_cast<std::uint32_t>(s / point_sample_layout::window));
    }
  }
  /// Calls f(last) for the last window of each cell.
  template <typename F>
  void for_each_cell(F&& f) const {
    for (const std::uint32_t last : last_) {
      if (last != 0) f(all_[last - 1]);
    }
  }
  /// The entry of the cell for the previous window; null: none.
  [[nodiscard]] const in_window* before(const in_window& one) const {
    return one.before == 0 ? nullptr : &all_[one.before - 1];
  }

 private:
  void add(std::uint64_t cell, std::uint32_t window) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // spreads neighboring numbers
    std::size_t place = static_cast<std::size_t>(cell * golden >> 32) & mask_;
    while (last_[place] != 0 && all_[last_[place] - 1].cell != cell) place = (place + 1) & mask_;
    const std::uint32_t last = last_[place];
    if (last != 0 && all_[last - 1].window == window) {
      ++all_[last - 1].count;
      return;
    }
    all_.push_back({cell, window, 1, last});
    last_[place] = static_cast<std::uint32_t>(all_.size());
  }

  std::vector<std::uint32_t> last_;  ///< for each place in the table: an entry, plus 1; 0: empty
  std::size_t mask_;
  std::vector<in_window> all_;
};

/// Adds the statistics of adjacent points.
void add_order(std::span<const std::uint64_t> sampled, const sampled_cells& cells, point_sample& result) {
  const auto box_cells = static_cast<std::uint64_t>(cells.cells());
  double pairs = 0, same = 0, difference = 0;
  for (std::size_t s = 1; s < sampled.size(); ++s) {
    if (s % point_sample_layout::window == 0) continue;
    const std::uint64_t a = sampled[s - 1], b = sampled[s];
    ++pairs;
    same += a == b ? 1 : 0;
    // With copies of the box only the places within the box are compared: the distance of copies says nothing about
    // memory.
    const std::uint64_t from = cells.endless ? a % box_cells : a, to = cells.endless ? b % box_cells : b;
    difference += static_cast<double>(from < to ? to - from : from - to);
  }
  if (pairs == 0) return;
  result.same = same / pairs;
  result.distance = 3 * difference / pairs / static_cast<double>(box_cells);
}

/// The number of copies of the box that hold sampled points, for endless axes.
[[nodiscard]] double copies_seen(std::span<const std::uint64_t> sampled, std::uint64_t box_cells) {
  std::set<std::uint64_t> copies;
  for (const std::uint64_t cell : sampled) copies.insert(cell / box_cells);
  return static_cast<double>(copies.size());
}

/// How many pairs of all points a pair of the sample represents. It depends on their distance in memory: in one window,
/// or in windows at a distance between two successive powers of two (a step).
class pair_weights {
 public:
  explicit pair_weights(const point_sample_layout& layout) : windows_(static_cast<double>(layout.windows)) {
    weight_.fill(1);
    for (std::size_t w = 0; w < most; ++w) at_[w] = layout.window_at(w);
    if (layout.taken == layout.count) return;
    std::array<double, steps> sampled{};
    for (std::size_t w = 0; w < most; ++w) {
      for (std::size_t v = 0; v <= w; ++v) ++sampled[step(v, w)];
    }
    double all = 0;  // with the pairs of previous steps that have no sampled pairs
    for (std::size_t k = 0; k < sampled.size(); ++k) {
      all += pairs_of_step(k);
      if (sampled[k] == 0) continue;
      weight_[k] = all / sampled[k];
      all = 0;
    }
  }
  /// The weight of a pair in windows v <= w of the sample.
  [[nodiscard]] double of(std::size_t v, std::size_t w) const { return weight_[step(v, w)]; }

 private:
  static constexpr std::size_t most = point_sample_layout::most_windows;
  static constexpr std::size_t steps = std::numeric_limits<std::size_t>::digits + 1;
  [[nodiscard]] std::size_t step(std::size_t v, std::size_t w) const {
    return static_cast<std::size_t>(std::bit_width(at_[w] - at_[v]));
  }
  /// The number of pairs of windows at a distance of this step, among all points.
  [[nodiscard]] double pairs_of_step(std::size_t k) const {
    if (k == 0) return windows_;
    const double least = std::ldexp(1.0, static_cast<int>(k) - 1), end = std::min(2 * least, windows_);
    return least < end ? (end - least) * (windows_ - (least + end - 1) / 2) : 0;
  }

  double windows_;
  std::array<std::size_t, most> at_;
  std::array<double, steps> weight_;  ///< by step
};

/// The numbers of cells seen at all, seen once, and seen twice.
struct cell_counts {
  double distinct = 0, once = 0, twice = 0;

  void add(double points_seen) {
    ++distinct;
    once += points_seen == 1 ? 1 : 0;
    twice += points_seen == 2 ? 1 : 0;
  }
  /// The estimated number of cells that hold any point. The cells seen once and twice give an estimate of the unseen
  /// ones (A. Chao 1984), and this is extrapolated to all points (Colwell et al. 2012).
  [[nodiscard]] double in_use(double seen, double points) const {
    const double others = once * (once - 1) / (2 * (twice + 1));
    if (others <= 0) return distinct;
    const double reached_by_one = once / (seen * others + once);
    return distinct - others * std::expm1((points - seen) * std::log1p(-reached_by_one));
  }
};

/// Estimates `occupancy`, `fullest` and `occupied` from the weighted pairs of sampled points in each cell.
void add_occupancy(const point_sample_layout& layout, std::span<const std::uint64_t> sampled, point_sample& result) {
  const cells_seen seen(sampled);
  const pair_weights pairs(layout);
  const auto points = static_cast<double>(layout.count);
  // Points in whole windows represent all.
  const double whole =
      sampled.size() == layout.count ? points : static_cast<double>(layout.windows * point_sample_layout::window);
  const double rest = whole > 1 ? (points - 1) / (whole - 1) : 0;
  const double scale = whole / static_cast<double>(sampled.size());  // points that a sampled one represents
  double together = 0, fullest = 1;
  cell_counts counts;
  std::array<cells_seen::in_window, point_sample_layout::most_windows> here;
  seen.for_each_cell([&](const cells_seen::in_window& last) {
    std::size_t met = 0;
    double of_cell = 0, points_seen = 0;
    for (const auto* one = &last; one != nullptr; one = seen.before(*one)) {
      const double count = one->count;
      double others = (count - 1) * pairs.of(one->window, one->window);
      for (std::size_t k = 0; k < met; ++k) others += 2 * here[k].count * pairs.of(one->window, here[k].window);
      of_cell += count * others;
      points_seen += count;
      here[met++] = *one;
    }
    together += of_cell;
    const double share = scale * points_seen;
    fullest = std::max(fullest, 1 + rest * std::min(of_cell / share, share - 1));
    counts.add(points_seen);
  });
  result.occupancy = rest * together / whole;
  result.fullest = std::max(fullest, 1 + result.occupancy);
  // At least the number of a uniform distribution with this `occupancy`: if points are in order, few cells are seen
  // once.
  const double taken = static_cast<double>(sampled.size()), even = points / (1 + result.occupancy);
  const double in_use = std::max(counts.in_use(taken, points), -even * std::expm1(-points / even));
  result.occupied = std::min(1.0, (taken < points ? in_use : counts.distinct) / result.cells);
}

}  // namespace

point_sample_layout::point_sample_layout(std::size_t points)
    : count(points), taken(std::min(points, window * most_windows)), windows((points + window - 1) / window) {
  if (taken == count) return;
  windows = points / window;
  const double longest = static_cast<double>(windows) / (2 * groups);
  for (std::size_t k = 1; k < in_group; ++k) {
    const double grown = std::pow(std::max(longest, 1.0), static_cast<double>(k - 1) / (in_group - 2));
    offsets[k] = std::max(offsets[k - 1] + 1, static_cast<std::size_t>(grown));
  }
}

point_sample summarize_points(std::size_t count, const sampled_cells& cells, std::span<const std::uint64_t> sampled) {
  point_sample result;
  result.seen = static_cast<double>(sampled.size());
  result.cells = cells.cells();
  if (sampled.empty()) return result;
  const auto box_cells = static_cast<std::uint64_t>(result.cells);
  add_order(sampled, cells, result);
  if (cells.endless) result.cells *= copies_seen(sampled, box_cells);
  add_occupancy(point_sample_layout(count), sampled, result);
  return result;
}

}  // namespace quadrat::detail
