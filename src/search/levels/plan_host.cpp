// SPDX-License-Identifier: BSD-3-Clause
#include "search/levels/plan.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::detail {

namespace {

/// The ratio of the largest to the smallest size of a level. With a larger ratio, more tests would fail.
constexpr double ratio_of_level = 2;
/// A level pays if its points, all in one place, would otherwise cause more than this many tests per point of the
/// list.
constexpr double spare_tests = 16;
/// So few points that all others may be tested against each.
constexpr std::uint64_t few_points = 32;

// Nanoseconds on a CPU.
constexpr double time_of_row = 4;    // of cells, for a block of points
constexpr double time_of_copy = 12;  // of a point
constexpr double points_of_block = 8;

/// Levels by ratio of sizes, finest last.
std::vector<radius_level> levels_by_ratio(std::span<const std::uint64_t> counts) {
  std::vector<radius_level> levels;
  for (int k = radius_classes - 1; k >= 0; --k) {
    const std::uint64_t points = counts[static_cast<std::size_t>(k)];
    if (points == 0) continue;
    const double end = radius_class_end(k);
    if (levels.empty() || (end * ratio_of_level <= levels.back().end && levels.size() < most_radius_levels)) {
      levels.push_back({end, 0});
    }
    levels.back().points += points;
  }
  if (levels.empty()) levels.push_back({1, 0});
  return levels;
}

/// Levels of few points join the next coarser one.
void join_small_levels(std::vector<radius_level>& levels) {
  std::uint64_t total = 0;
  for (const radius_level& level : levels) total += level.points;
  const auto is_small = [&](const radius_level& level) {
    const auto points = static_cast<double>(level.points);
    return points * points <= spare_tests * static_cast<double>(total);
  };
  while (levels.size() > 1 && is_small(levels.back())) {
    const std::uint64_t points = levels.back().points;
    levels.pop_back();
    levels.back().points += points;
  }
  while (levels.size() > 1 && levels[0].points + levels[1].points <= few_points) {
    levels[1] = {levels[0].end, levels[0].points + levels[1].points};
    levels.erase(levels.begin());
  }
}

/// Decides where copies are made, and which layers are visited.
class layer_chooser {
 public:
  layer_chooser(radius_plan& plan, bool adds, int dimension) : plan_(plan), adds_(adds), dimension_(dimension) {}

  void choose() {
    const std::size_t count = plan_.levels.size();
    plan_.copied.assign(count, 0);
    plan_.visited.assign(count, 0);
    std::vector<std::size_t> finer;  // the layers that hold all finer levels
    std::uint64_t points = 0, stored = 0;
    for (const radius_level& level : plan_.levels) stored += level.points;
    for (std::size_t level = 0; level < count; ++level) {
      if (level > 0) {
        finer.push_back(level - 1);
        points += plan_.levels[level - 1].points;
        const double copy = time_of_copy * static_cast<double>(points) + time(level, {count + level});
        // All slots are numbered together.
        if (copy < time(level, finer) && stored + points < std::uint64_t{1} << 31) {
          finer = {count + level};
          plan_.copied[level] = points;
          stored += points;
        }
      }
      for (const std::size_t layer : finer) plan_.visited[level] |= std::uint32_t{1} << layer;
      for (std::size_t layer = level; layer < count; ++layer) plan_.visited[level] |= std::uint32_t{1} << layer;
    }
  }

 private:
  [[nodiscard]] double reach(double a, double b) const { return adds_ ? a + b : std::max(a, b); }
  /// The approximate edge of its cells.
  [[nodiscard]] double edge(std::size_t layer) const {
    const std::size_t count = plan_.levels.size();
    return layer < count ? reach(plan_.widest(layer), plan_.widest(layer))
                         : reach(plan_.widest(layer - count), plan_.widest(layer));
  }
  /// The time of the rows of cells that the points of a level read in these layers.
  [[nodiscard]] double time(std::size_t level, const std::vector<std::size_t>& layers) const {
    double rows = 0;
    for (const std::size_t layer : layers) {
      const double across = 2 * reach(plan_.widest(level), plan_.widest(layer)) / edge(layer) + 1;
      rows += std::pow(across, dimension_ - 1);
    }
    return rows * time_of_row * static_cast<double>(plan_.levels[level].points) / points_of_block;
  }

  radius_plan& plan_;
  bool adds_;
  int dimension_;
};

}  // namespace

radius_plan plan_of_one_level(std::uint64_t points) { return {{{1, points}}, {0}, {1}}; }

radius_plan plan_radius_levels(std::span<const std::uint64_t> counts, bool adds, int dimension) {
  radius_plan plan;
  plan.levels = levels_by_ratio(counts);
  join_small_levels(plan.levels);
  std::reverse(plan.levels.begin(), plan.levels.end());
  layer_chooser(plan, adds, dimension).choose();
  return plan;
}

}  // namespace quadrat::detail
