// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"

namespace quadrat::detail {

namespace {

// Weights of the model, in units of one body tested.
constexpr double row_cost = 2.0;
constexpr double cell_cost = 0.5;
constexpr double level_cost = 20000;
/// Cells along x per cell along y and z: finer cells trim rows more closely to the sphere without adding rows.
constexpr double cells_along_x = 2;
/// This limits finer rows to 2^24 cells, the limit of counting in two levels.
constexpr double most_bodies_for_finer_rows = 1 << 23;
/// A domain this many times larger than heaps of its bodies gets cells that suit heaps.
constexpr double much_larger = 64;
/// The most cells per body, to limit memory; doubled in a full domain, and again for finer cells along x.
constexpr double most_cells_a_body = 4;
/// The most cells of a level, so that all levels can be numbered together.
constexpr double most_cells_of_level = static_cast<double>(max_count) / most_levels;

/// A nonempty class of the histogram: its upper end and its number of bodies.
struct size_class_of_bodies {
  double end;
  double bodies;
};

/// Expected work of the bodies that search a level.
class level_work {
 public:
  level_work(double volume, double total) : volume_(volume), most_cells_(most_cells_a_body * total + 64) {}

  /// The best cell edge of a level with bodies up to `widest`, searched by `reaching` bodies with a mean distance of
  /// `reach`.
  [[nodiscard]] double best_edge(double widest, double residents, double reach, double reaching) const {
    const double finest = std::cbrt(volume_ / most_cells_);
    double best = std::max(finest, 2 * widest);
    double least = of(best, residents, reach, reaching);
    for (const double factor : {0.5, 0.71, 1.0, 1.41}) {
      const double edge = std::max(finest, factor * widest);
      const double work = of(edge, residents, reach, reaching);
      if (work < least) {
        least = work;
        best = edge;
      }
    }
    return best;
  }
  [[nodiscard]] double of(double edge, double residents, double reach, double reaching) const {
    const double side = 2 * reach + edge;
    // Rows at the corners of the square are skipped, and the others trimmed to the sphere.
    const double rows = 0.85 * (side / edge) * (side / edge);
    const double tested = residents / volume_ * 0.65 * side * side * side;
    return reaching * (tested + row_cost * rows) + cell_cost * volume_ / (edge * edge * edge);
  }

 private:
  double volume_;
  double most_cells_;
};

/// One level of a plan: classes [first, last).
struct planned_level {
  std::size_t first;
  std::size_t last;
  double edge;
  double work;
};

planned_level plan_level(const std::vector<size_class_of_bodies>& classes, std::size_t first, std::size_t last,
                         const level_work& work) {
  double residents = 0, own_sum = 0, finer = 0, finer_sum = 0;
  for (std::size_t k = first; k < last; ++k) {
    residents += classes[k].bodies;
    own_sum += classes[k].bodies * classes[k].end;
  }
  for (std::size_t k = 0; k < first; ++k) {
    finer += classes[k].bodies;
    finer_sum += classes[k].bodies * classes[k].end;
  }
  const double widest = classes[last - 1].end;
  // Pairs within the level are found from one side only.
  const double reaching = residents / 2 + finer;
  const double reach = widest + (own_sum / 2 + finer_sum) / reaching;
  const double edge = work.best_edge(widest, residents, reach, reaching);
  return {first, last, edge, work.of(edge, residents, reach, reaching) + level_cost};
}

/// The division of classes into levels with the least work, finest first.
std::vector<planned_level> divide(const std::vector<size_class_of_bodies>& classes, const level_work& work) {
  const std::size_t n = classes.size();
  // A second level does not pay for few bodies.
  const planned_level only = plan_level(classes, 0, n, work);
  if (only.work <= 2 * level_cost) return {only};
  constexpr double never = std::numeric_limits<double>::infinity();
  // least[levels][end]: least work of the classes before `end` in `levels` levels.
  std::vector<std::vector<double>> least(most_levels + 1, std::vector<double>(n + 1, never));
  std::vector<std::vector<planned_level>> step(most_levels + 1, std::vector<planned_level>(n + 1));
  least[0][0] = 0;
  for (std::size_t first = 0; first < n; ++first) {
    for (std::size_t last = first + 1; last <= n; ++last) {
      const planned_level level = plan_level(classes, first, last, work);
      for (std::size_t levels = 0; levels < most_levels; ++levels) {
        const double total = least[levels][first] + level.work;
        if (total >= least[levels + 1][last]) continue;
        least[levels + 1][last] = total;
        step[levels + 1][last] = level;
      }
    }
  }
  std::size_t levels = 1;
  for (std::size_t k = 2; k <= most_levels; ++k) {
    if (least[k][n] < least[levels][n]) levels = k;
  }
  std::vector<planned_level> result(levels);
  for (std::size_t last = n; levels > 0; --levels) {
    result[levels - 1] = step[levels][last];
    last = result[levels - 1].first;
  }
  return result;
}

template <typename T>
std::vector<size_class_of_bodies> classes_of(const size_histogram<T>& sizes) {
  std::vector<size_class_of_bodies> result;
  for (int k = 0; k < size_classes; ++k) {
    const auto bodies = static_cast<double>(sizes.counts[static_cast<std::size_t>(k)]);
    if (bodies > 0) result.push_back({std::min(size_class_end(k), static_cast<double>(sizes.largest)), bodies});
  }
  if (result.empty()) return {{1, 1}};  // all bodies are faulty; the caller reports it
  // The last class ends at the largest body.
  result.back().end = static_cast<double>(sizes.largest);
  return result;
}

/// The volume of the cubes around all bodies: about that of heaps.
double room_of_heaps(const std::vector<size_class_of_bodies>& classes) {
  double room = 0;
  for (const size_class_of_bodies& some : classes) room += some.bodies * 8 * some.end * some.end * some.end;
  return room;
}

/// Levels from the caller's finest edge: each holds the bodies that are not longer than its cells.
std::vector<planned_level> levels_from(double bin_size, const std::vector<size_class_of_bodies>& classes) {
  std::vector<planned_level> result;
  double edge = bin_size;
  for (std::size_t first = 0; first < classes.size(); edge *= 2) {
    std::size_t last = first;
    while (last < classes.size() && classes[last].end <= edge / 2) ++last;
    if (result.size() + 1 == most_levels) last = classes.size();
    if (last > first) result.push_back({first, last, edge, 0});
    first = last;
  }
  return result;
}

/// The numbers of cells of this edge or more, along x of edge / along_x. May be too many to number.
template <typename T>
vec<double, 3> cells_of_edge(const box<T, 3>& domain, double edge, double along_x) {
  return make_vec<double, 3>([&](int axis) {
    const double along = axis == 0 ? edge / along_x : edge;
    return std::fmax(std::floor(static_cast<double>(domain.length[axis]) / along), 1.0);
  });
}

/// Cells of this edge, of which at most `most` are stored.
template <typename T>
ring_cells<T> folded_cells(const box<T, 3>& domain, double edge, double along_x, double most, T widest) {
  // Half an edge more, so that a warp meets no row of cells both before and after another (warp_level_of).
  double reach = 2 * static_cast<double>(widest) + edge / 2;
  for (int axis = 0; axis < 3; ++axis) {
    if (domain.periodic[axis]) reach = std::fmin(reach, static_cast<double>(domain.length[axis]));
  }
  return fold_cells(domain, {{edge / along_x, edge, edge}, reach, most});
}

/// The same number of cells, all stored.
template <typename T>
ring_cells<T> unfolded_cells(const box<T, 3>& domain, const vec<double, 3>& count) {
  return all_cells(make_grid(domain, make_vec<int, 3>([&](int axis) {
                               return static_cast<int>(std::fmin(count[axis], most_cells_along_axis));
                             })));
}

/// The smallest edge, at least `edge`, that needs at most `most` cells. A flat domain has more cells than volume /
/// edge^3.
template <typename T>
double edge_within(const box<T, 3>& domain, double edge, double along_x, double most) {
  for (;; edge *= 1.25) {
    const vec<double, 3> shape = cells_of_edge(domain, edge, along_x);
    if (shape[0] * shape[1] * shape[2] <= most) return edge;
  }
}

}  // namespace

template <typename T>
level_plan<T> plan_levels(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size) {
  const std::vector<size_class_of_bodies> classes = classes_of(sizes);
  double volume = 1, total = 0;
  for (int axis = 0; axis < 3; ++axis) volume *= static_cast<double>(domain.length[axis]);
  for (const size_class_of_bodies& some : classes) total += some.bodies;
  const bool given = bin_size > T(0);
  // In a domain much larger than its bodies, they may be spread thinly or lie in heaps. Cells that suit the domain are
  // crowded in heaps; cells that suit heaps serve both.
  const double room = room_of_heaps(classes);
  const bool sparse = !given && volume > much_larger * room;
  const std::vector<planned_level> levels = given ? levels_from(static_cast<double>(bin_size), classes)
                                                  : divide(classes, level_work(sparse ? room : volume, total));
  level_plan<T> plan{};
  plan.grids.domain = domain;
  plan.reason = message(given ? "bin size asked for; " : "least expected work; ", levels.size(),
                        levels.size() == 1 ? " level, cells of " : " levels, cells of ");
  const double along_x = total < most_bodies_for_finer_rows ? cells_along_x : 1;
  const double most = std::min(2 * along_x * (most_cells_a_body * total + 64), most_cells_of_level);
  for (const planned_level& level : levels) {
    const auto at = static_cast<std::size_t>(plan.grids.count++);
    const double edge = given || sparse ? level.edge : edge_within(domain, level.edge, along_x, most);
    if (at == 0) plan.finest_edge = static_cast<T>(edge);
    const vec<double, 3> shape = cells_of_edge(domain, edge, along_x);
    plan.grids.widest[at] = static_cast<T>(classes[level.last - 1].end);
    plan.reason += message(at == 0 ? "" : ", ", static_cast<float>(edge), " for half extents to ",
                           static_cast<float>(plan.grids.widest[at]));
    const bool folded = sparse && shape[0] * shape[1] * shape[2] > most;
    if (folded) plan.reason += " (repeated)";
    const double cells = static_cast<double>(plan.grids.first_cell[at]) + shape[0] * shape[1] * shape[2];
    require(folded || cells <= static_cast<double>(max_count), "a bin size of ", bin_size, " needs ", cells,
            " bins; at most ", max_count,
            " are possible: ", static_cast<T>(edge_within(domain, edge, along_x, most_cells_of_level)), " would do");
    ring_cells<T>& stored = plan.grids.cells[at];
    stored =
        folded ? folded_cells(domain, edge, along_x, most / 2, plan.grids.widest[at]) : unfolded_cells(domain, shape);
    stored.first_cell = plan.grids.first_cell[at];
    plan.grids.first_cell[at + 1] = stored.first_cell + static_cast<cell_id>(stored.size());
  }
  return plan;
}

template level_plan<float> plan_levels(const box<float, 3>&, const size_histogram<float>&, float);
template level_plan<double> plan_levels(const box<double, 3>&, const size_histogram<double>&, double);

}  // namespace quadrat::detail
