// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report.hpp"
#include "harness/session.hpp"
#include "quadrat/models/circles.hpp"

namespace quadrat::bench {

/// One combination of order, cell list and cell size.
struct walk {
  std::string_view order;
  std::string_view cell_list;
  int cells_per_reach;
  int cells_per_reach_x = 0;  ///< 0: the same as along the other axes
  std::optional<bool> queue_neighbors = {};
};

/// The selected orders over the paper's cell list: `sorted`, with cells as large as the reach.
[[nodiscard]] inline std::vector<walk> paper_walks(const session& s) {
  std::vector<walk> walks;
  for (const std::string_view order : circles_orders()) {
    if (s.wants_method(order)) walks.push_back({order, "sorted", 1});
  }
  return walks;
}

/// Every selected order over every cell list that it can walk, and with finer cells over the default one. `trimmed`
/// also with even finer cells along x, and on CUDA with and without queued neighbors.
[[nodiscard]] inline std::vector<walk> all_walks(const session& s) {
  std::vector<walk> walks;
  for (const std::string_view order : circles_orders()) {
    if (!s.wants_method(order)) continue;
    for (const std::string_view list : circles_cell_lists()) {
      if (!circles_walkable(order, list)) continue;
      walks.push_back({order, list, 1});
      if (list != circles_default_cell_list) continue;
      for (const int cells : {2, 3}) walks.push_back({order, list, cells});
      if (order != circles_default_order) continue;
      for (const int cells : {1, 2}) walks.push_back({order, list, cells, 4});
      if (!s.on_cuda()) continue;
      for (const int cells : {1, 2}) walks.push_back({order, list, cells, 4, false});
    }
  }
  return walks;
}

/// The first keys of a row of Circles. `force` is the force modifier: k of the sine form, k_att = k_rep.
[[nodiscard]] inline row identify_run(std::string_view operation, const walk& method, const circles_parameters& p,
                                      int dim, std::size_t n) {
  double cells = 1;
  const double length = p.form == circles_form::original ? p.width - 1 : p.width;
  for (int axis = 0; axis < dim; ++axis) {
    const int along_reach =
        axis == 0 && method.cells_per_reach_x != 0 ? method.cells_per_reach_x : method.cells_per_reach;
    cells *= std::fmax(1, std::floor(length * along_reach / p.reach() * (1 + 1e-12)));
  }
  row identity = identify(operation, method.order, "float", n, static_cast<std::size_t>(cells), "uniform");
  identity["dim"] = dim;
  identity["cell_list"] = method.cell_list;
  identity["cells_per_reach"] = method.cells_per_reach;
  if (method.cells_per_reach_x != 0) identity["cells_per_reach_x"] = method.cells_per_reach_x;
  if (method.queue_neighbors) identity["queued"] = *method.queue_neighbors;
  identity["form"] = circles_form_names[static_cast<std::size_t>(p.form)];
  identity["width"] = p.width;
  identity["radius"] = p.radius;
  identity["density"] = static_cast<double>(n) / std::pow(p.width, dim);
  identity["force"] = p.form == circles_form::original ? p.attraction : p.force;
  return identity;
}

}  // namespace quadrat::bench
