// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "core/automatic.hpp"
#include "models/circles/engine.hpp"
#include "models/circles/methods.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/models/circles.hpp"

namespace quadrat::detail {

/// The options with defaults filled in. Throws argument_error for impossible options.
template <typename Context>
[[nodiscard]] circles_options complete_circles(const Context& context, circles_options options) {
  check(options.parameters);
  if (is_automatic(options.order)) options.order = circles_default_order;
  if (is_automatic(options.cell_list)) options.cell_list = circles_default_cell_list;
  if (options.cells_per_reach == 0) options.cells_per_reach = circles_default_cells_per_reach(options.order);
  if (options.cells_per_reach_x == 0) options.cells_per_reach_x = options.cells_per_reach;
  for (const int cells : {options.cells_per_reach, options.cells_per_reach_x}) {
    require(cells >= 1 && cells <= circles_most_cells_per_reach, "there are ", cells, " cells along the reach; 1 to ",
            circles_most_cells_per_reach, " are possible");
  }
  const bool canonical = context.reproducibility() == determinism::canonical;
  const bool can_queue =
      std::is_same_v<Context, cuda_context> && !canonical && circles_can_queue(options.order, options.cell_list);
  require(can_queue || !options.queue_neighbors.value_or(false),
          "neighbors can be queued on CUDA, below the level canonical, with the order ", search_orders::trimmed::name,
          " over the cell list ", cell_methods::counting::name, "; not on ",
          std::is_same_v<Context, cuda_context> ? "CUDA" : "the CPU", canonical ? " at canonical" : "", " with ",
          options.order, " over ", options.cell_list);
  options.queue_neighbors = options.queue_neighbors.value_or(can_queue);
  return options;
}

/// The finest grid that the options allow, or a coarser one: many more cells than agents cost time for clearing and
/// scanning, without a gain.
template <int D>
[[nodiscard]] vec<int, D> circles_cells(const circles_options& options, const box<double, D>& domain,
                                        std::size_t count) {
  const double most = std::clamp(64.0 * static_cast<double>(count), 0x1p20, 0x1p27);
  vec<int, D> cells{};
  for (double coarser = 1;; coarser *= 1.25) {
    double total = 1;
    for (int axis = 0; axis < D; ++axis) {
      const int along_reach = axis == 0 ? options.cells_per_reach_x : options.cells_per_reach;
      // A box of exactly n reaches must get n cells although the division may round down; grid::reach tolerates it.
      const double edge = options.parameters.reach() / along_reach * (1 - 1e-12) * coarser;
      cells[axis] = static_cast<int>(std::clamp(std::floor(domain.length[axis] / edge), 1.0, 1e9));
      total *= cells[axis];
    }
    if (total <= most) return cells;
  }
}

/// `options`: completed.
template <typename T, int D>
[[nodiscard]] circles_setup<T, D> make_circles_setup(const circles_options& options, std::size_t count) {
  const box<double, D> domain = circles_box<D>(options.parameters);
  const vec<int, D> cells = circles_cells(options, domain, count);
  vec<double, D> upper{};
  for (int axis = 0; axis < D; ++axis) upper[axis] = domain.upper(axis);
  const box<T, D> rounded = make_box(cast<T>(domain.lower), cast<T>(upper), domain.periodic);
  return {make_grid(rounded, cells), options.parameters, count, *options.queue_neighbors, {}};
}

}  // namespace quadrat::detail
