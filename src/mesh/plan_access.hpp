// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mesh/plan_details.hpp"
#include "quadrat/mesh/spread_plan.hpp"

namespace quadrat::detail {

/// Plans with details, and points of several systems.
struct plan_access {
  template <typename Context, typename T, int D>
  [[nodiscard]] static spread_plan<Context, T, D> make(const Context& context, const box<T, D>& domain,
                                                       const vec<int, D>& mesh, const mesh_window<T>& window,
                                                       const spread_options& options, const plan_details& details) {
    return {context, domain, mesh, window, options, details};
  }
  /// `system_of_point`: the system of each point, in any order; nullptr for a stack of one system.
  template <typename Context, typename T, int D>
  static void set_points(spread_plan<Context, T, D>& plan, const points_view<T, D>& points,
                         const std::uint32_t* system_of_point) {
    plan.set_points(points, system_of_point);
  }
  /// Leaves all errors of points to `check`, also on CPUs.
  template <typename Context, typename T, int D>
  static void set_points_async(spread_plan<Context, T, D>& plan, const points_view<T, D>& points,
                               const std::uint32_t* system_of_point) {
    plan.set_points_async(points, system_of_point);
  }
};

}  // namespace quadrat::detail
