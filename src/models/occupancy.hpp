// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "tune/point_sample.hpp"

/// The number of other particles near a particle of a model, by a sample of positions.
namespace quadrat::detail {

/// Index: place in the sample.
template <typename T, int D>
struct take_points {
  const vec<T, D>* points;
  point_sample_layout layout;
  vec<T, D>* taken;

  QUADRAT_HD void operator()(std::size_t s) const { taken[s] = points[layout.point(s)]; }
};

/// A sample of points in the memory of the context, in the order of point_sample_layout. Synchronizes.
template <typename Context, typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> taken_of(const Context& context, const vec<T, D>* points, std::size_t count) {
  const point_sample_layout layout(count);
  array<vec<T, D>, Context> taken(context, layout.taken);
  for_each(context, "models.sample", layout.taken, take_points<T, D>{points, layout, taken.data()});
  return to_host(context, taken);
}

/// The same of points on the host.
template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> taken_of(const std::vector<vec<T, D>>& points) {
  const point_sample_layout layout(points.size());
  std::vector<vec<T, D>> taken(layout.taken);
  for (std::size_t s = 0; s < taken.size(); ++s) taken[s] = points[layout.point(s)];
  return taken;
}

/// Expected other particles in the cell of a particle. `edge`: of cells, which may be larger than requested.
struct occupancy_in_cells {
  double occupancy = 0;
  double edge = 1;
};

/// Made from a sample (taken_of) of this many points, by id, so that it does not depend on the order in memory.
template <typename T, int D>
[[nodiscard]] occupancy_in_cells sample_occupancy(const std::vector<vec<T, D>>& taken, std::size_t count,
                                                  const box<T, D>& domain, double edge) {
  if (taken.empty()) return {0, edge};
  const sampled_cells cells = cells_for_sample(domain, edge);
  double volume = 1;
  for (int axis = 0; axis < D; ++axis) volume /= cells.scale[axis];
  std::vector<std::uint64_t> numbers;
  numbers.reserve(taken.size());
  for (const vec<T, D>& point : taken) {
    std::uint64_t number = 0;
    for (int axis = D - 1; axis >= 0; --axis) {
      number = number * cells.extent[axis] + cells.along(static_cast<double>(point[axis]), axis);
    }
    numbers.push_back(number);
  }
  // At least the value of an even distribution, whose sample may have no pair at all.
  const double even = static_cast<double>(count - 1) / cells.cells();
  return {std::max(even, summarize_points(count, cells, numbers).occupancy), std::pow(volume, 1.0 / D)};
}

/// Expected other particles in a cube of this edge around one.
template <typename T, int D>
[[nodiscard]] double occupancy_of(const std::vector<vec<T, D>>& taken, std::size_t count, const box<T, D>& domain,
                                  double edge) {
  const occupancy_in_cells found = sample_occupancy(taken, count, domain, edge);
  return found.occupancy * std::pow(edge / found.edge, D);
}

/// The same, and the power of the edge with which it grows up to three times this edge: the dimension of the
/// distribution. A walk reads 27 times as many particles in a volume, and three times as many along a line.
struct growing_occupancy {
  double occupancy = 0;
  double growth = 0;
};
template <typename T, int D>
[[nodiscard]] growing_occupancy growing_occupancy_of(const std::vector<vec<T, D>>& taken, std::size_t count,
                                                     const box<T, D>& domain, double edge) {
  const occupancy_in_cells near = sample_occupancy(taken, count, domain, edge),
                           far = sample_occupancy(taken, count, domain, 3 * edge);
  double growth = D;
  if (near.occupancy > 0 && far.edge > 1.01 * near.edge) {
    growth = std::clamp(std::log(far.occupancy / near.occupancy) / std::log(far.edge / near.edge), 0.0, double{D});
  }
  return {near.occupancy * std::pow(edge / near.edge, growth), growth};
}

}  // namespace quadrat::detail
