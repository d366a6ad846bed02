// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quadrat/models/circles.hpp"
#include "support/backend.hpp"

// Shared by the tests of the Circles model.

namespace quadrat::test {

template <int D>
using agents = std::vector<vec<double, D>>;

[[nodiscard]] inline backend_context make_circles_context(determinism level = determinism::none) {
  return context_at(level);
}

/// All possible combinations, and grids finer than the paper's for one cell list.
[[nodiscard]] inline std::vector<circles_options> all_options(const circles_parameters& parameters) {
  std::vector<circles_options> result;
  for (const std::string_view order : circles_orders()) {
    for (const std::string_view list : circles_cell_lists()) {
      if (!circles_walkable(order, list)) continue;
      for (const int cells : {1, 2, 3}) {
        if (cells > 1 && list != circles_default_cell_list) continue;
        result.push_back({parameters, std::string(order), std::string(list), cells});
        if (order != circles_default_order) continue;
        result.push_back({parameters, std::string(order), std::string(list), cells, 2 * cells});
        result.push_back({parameters, std::string(order), std::string(list), cells, 0, false});
      }
    }
  }
  return result;
}

[[nodiscard]] inline std::string name_of(const circles_options& options) {
  return std::string(circles_form_names[static_cast<std::size_t>(options.parameters.form)]) + ", " + options.order +
         " over " + options.cell_list + ", " + std::to_string(options.cells_per_reach) + " cells along the reach, " +
         std::to_string(options.cells_per_reach_x) + " along x" +
         (options.queue_neighbors.value_or(true) ? "" : ", not queued");
}

/// Strong forces, so that agents move by much more than rounding.
[[nodiscard]] inline circles_parameters lively(circles_form form, double width) {
  circles_parameters parameters = circles_defaults(form);
  parameters.width = width;
  parameters.radius = form == circles_form::sine ? 3 : 1.5;
  parameters.force = 0.2;
  parameters.repulsion = 0.01;
  parameters.attraction = 0.02;
  return parameters;
}

}  // namespace quadrat::test
