// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
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

/// A cell in a window of the sample.
struct cell_seen {
  std::uint64_t cell;
  std::uint32_t window;
  bool operator<(const cell_seen& other) const {
    return cell < other.cell || (cell == other.cell && window < other.window);
  }
};

/// Adjacent points of the sample.
void add_order(std::span<const std::uint64_t> sampled, std::uint64_t box_cells, point_sample& result) {
  double pairs = 0, same = 0, difference = 0;
  for (std::size_t s = 1; s < sampled.size(); ++s) {
    if (s % point_sample_layout::window == 0) continue;
    const std::uint64_t a = sampled[s - 1], b = sampled[s];
    ++pairs;
    same += a == b ? 1 : 0;
    // Of copies of the box the places in it count: how far apart they are says nothing of memory.
    const std::uint64_t from = a % box_cells, to = b % box_cells;
    difference += static_cast<double>(from < to ? to - from : from - to);
  }
  if (pairs == 0) return;
  result.same = same / pairs;
  result.distance = 3 * difference / pairs / static_cast<double>(box_cells);
}

/// Copies of the box, which has endless axes.
[[nodiscard]] double copies_seen(std::span<const std::uint64_t> sampled, std::uint64_t box_cells) {
  std::set<std::uint64_t> copies;
  for (const std::uint64_t cell : sampled) copies.insert(cell / box_cells);
  return static_cast<double>(copies.size());
}

/// How many pairs of all points a pair of the sample stands for, by how far apart in memory they are: in one window, or
/// in windows whose distance is from one power of two up to the next.
class pair_weights {
 public:
  explicit pair_weights(const point_sample_layout& layout) : layout_(layout) {
    weight_.fill(1);
    if (layout.taken == layout.count) return;
    std::array<double, std::numeric_limits<std::size_t>::digits + 1> sampled{}, weight{};
    for (std::size_t w = 0; w < windows; ++w) {
      for (std::size_t v = 0; v <= w; ++v) ++sampled[step(v, w)];
    }
    double all = 0;  // with those of steps before it that the sample has none of
    for (std::size_t k = 0; k < sampled.size(); ++k) {
      all += pairs_of_step(k);
      if (sampled[k] == 0) continue;
      weight[k] = all / sampled[k];
      all = 0;
    }
    for (std::size_t w = 0; w < windows; ++w) {
      for (std::size_t v = 0; v <= w; ++v) weight_[w * windows + v] = weight[step(v, w)];
    }
  }
  /// Of a pair in these windows of the sample, the first not after the second.
  [[nodiscard]] double of(std::size_t v, std::size_t w) const { return weight_[w * windows + v]; }

 private:
  static constexpr std::size_t windows = point_sample_layout::most_windows;
  [[nodiscard]] std::size_t step(std::size_t v, std::size_t w) const {
    return static_cast<std::size_t>(std::bit_width(layout_.window_at(w) - layout_.window_at(v)));
  }
  /// Pairs of windows, of all points.
  [[nodiscard]] double pairs_of_step(std::size_t k) const {
    const auto all = static_cast<double>(layout_.windows);
    if (k == 0) return all;
    const double least = std::ldexp(1.0, static_cast<int>(k) - 1), end = std::min(2 * least, all);
    return least < end ? (end - least) * (all - (least + end - 1) / 2) : 0;
  }

  point_sample_layout layout_;
  std::array<double, windows * windows> weight_;
};

/// Points that share a cell with another: of each cell, the pairs of sampled points, each with its weight.
void add_company(const point_sample_layout& layout, std::span<const std::uint64_t> sampled, point_sample& result) {
  std::vector<cell_seen> seen(sampled.size());
  for (std::size_t s = 0; s < seen.size(); ++s) {
    seen[s] = {sampled[s], static_cast<std::uint32_t>(s / point_sample_layout::window)};
  }
  std::sort(seen.begin(), seen.end());
  const pair_weights pairs(layout);
  const auto points = static_cast<double>(layout.count);
  // Points in whole windows stand for all.
  const double whole =
      sampled.size() == layout.count ? points : static_cast<double>(layout.windows * point_sample_layout::window);
  const double rest = whole > 1 ? (points - 1) / (whole - 1) : 0;
  const double scale = whole / static_cast<double>(sampled.size());  // points that a sampled one stands for
  double together = 0, fullest = 1, distinct = 0;
  std::array<std::pair<std::size_t, double>, point_sample_layout::most_windows> in_window;
  for (std::size_t first = 0; first < seen.size(); ++distinct) {
    double of_cell = 0;
    std::size_t last = first, windows = 0;
    while (last < seen.size() && seen[last].cell == seen[first].cell) {
      const std::uint32_t window = seen[last].window;
      double count = 0;
      for (; last < seen.size() && seen[last].cell == seen[first].cell && seen[last].window == window; ++last) ++count;
      of_cell += count * (count - 1) * pairs.of(window, window);
      for (std::size_t k = 0; k < windows; ++k) {
        of_cell += 2 * count * in_window[k].second * pairs.of(in_window[k].first, window);
      }
      in_window[windows++] = {window, count};
    }
    together += of_cell;
    const double share = scale * static_cast<double>(last - first);
    fullest = std::max(fullest, 1 + rest * std::min(of_cell / share, share - 1));
    first = last;
  }
  result.company = rest * together / whole;
  result.fullest = std::max(fullest, 1 + result.company);
  // Of an even distribution over the cells in use with this much company.
  const double in_use = std::max(distinct, points / (1 + result.company));
  result.occupied = std::min(1.0, in_use / result.cells * -std::expm1(-points / in_use));
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
  add_order(sampled, box_cells, result);
  if (cells.endless) result.cells *= copies_seen(sampled, box_cells);
  add_company(point_sample_layout(count), sampled, result);
  return result;
}

}  // namespace quadrat::detail
