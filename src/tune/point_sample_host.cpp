// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
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

/// Pairs in one cell are counted between windows only: points that are neighbors in memory may be neighbors in space,
/// and say little of the others. A single window has no other.
void add_company(std::size_t count, std::span<const std::uint64_t> sampled, point_sample& result) {
  std::vector<cell_seen> seen(sampled.size());
  for (std::size_t s = 0; s < seen.size(); ++s) {
    seen[s] = {sampled[s], static_cast<std::uint32_t>(s / point_sample_layout::window)};
  }
  std::sort(seen.begin(), seen.end());
  const bool several = sampled.size() > point_sample_layout::window;
  double together = 0, most = 0, distinct = 0;
  for (std::size_t first = 0; first < seen.size();) {
    double in_cell = 0, within = 0;
    std::size_t last = first;
    while (last < seen.size() && seen[last].cell == seen[first].cell) {
      double in_window = 0;
      const std::uint32_t window = seen[last].window;
      for (; last < seen.size() && seen[last].cell == seen[first].cell && seen[last].window == window; ++last) {
        ++in_window;
      }
      in_cell += in_window;
      within += several ? in_window * in_window : in_window;
    }
    const double others = in_cell * in_cell - within;
    together += others;
    most = std::max(most, others > 0 ? others / in_cell : 0);
    ++distinct;
    first = last;
  }
  const auto all = static_cast<double>(sampled.size()), points = static_cast<double>(count);
  const double window = several ? static_cast<double>(point_sample_layout::window) : 1;
  const double other_points = std::max(all - window, 1.0);
  const double scale = count > 1 ? (points - 1) / other_points : 0;
  result.company = together / all * scale;
  result.fullest = 1 + most * scale;
  // Of an even distribution over the cells in use with this much company.
  const double in_use = std::max(distinct, points / (1 + result.company));
  result.occupied = std::min(1.0, in_use / result.cells * -std::expm1(-points / in_use));
}

}  // namespace

void hold_to_runs(double points, point_sample& sample) {
  if (sample.seen < 2) return;
  const double changes = std::max(1 - sample.same, 1 / sample.seen);
  const double runs = std::clamp(points * changes, 1.0, std::max(sample.cells, 1.0));
  const double company = points / runs - 1;
  if (company <= sample.company) return;
  sample.company = company;
  sample.fullest = std::max(sample.fullest, 1 + company);
  sample.occupied = std::min(1.0, runs / sample.cells * -std::expm1(-points / runs));
}

point_sample summarize_points(std::size_t count, const sampled_cells& cells, std::span<const std::uint64_t> sampled) {
  point_sample result;
  result.seen = static_cast<double>(sampled.size());
  result.cells = cells.cells();
  if (sampled.empty()) return result;
  const auto box_cells = static_cast<std::uint64_t>(result.cells);
  add_order(sampled, box_cells, result);
  if (cells.endless) result.cells *= copies_seen(sampled, box_cells);
  add_company(count, sampled, result);
  hold_to_runs(static_cast<double>(count), result);
  return result;
}

}  // namespace quadrat::detail
