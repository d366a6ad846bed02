// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <type_traits>

#include "contacts/levels/one_cell.hpp"

namespace quadrat::detail {

/// Levels from plan_levels.
template <typename Context, typename T>
class levels_engine : public one_cell_engine<Context, T> {
 public:
  using one_cell_engine<Context, T>::one_cell_engine;

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<Context, T>& bodies, const bin_options<T>& options) override;

 protected:
  [[nodiscard]] planned_bins<T> plan_for(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size);
};

/// The same on CUDA, where warps search spheres only or ellipsoids only (levels/cuda).
template <typename T>
class warp_levels_engine;

struct levels_method : contact_method_defaults {
  static constexpr std::string_view name = "levels";
  static constexpr std::string_view summary = "grids of several sizes, a body in one cell of the grid that fits it";
  template <typename Context, typename T>
  using engine =
      std::conditional_t<std::is_same_v<Context, cuda_context>, warp_levels_engine<T>, levels_engine<Context, T>>;

  [[nodiscard]] static method_cost cost(const pair_request& request) {
    const method_cost cost = detection_cost(request);
    // A GPU finds contacts from the caller's bodies, unless the domain must be found first.
    return request.cuda ? method_cost(cost).each("open", cost_unit::launch, request.known_domain ? 0 : 1) : cost;
  }
};

}  // namespace quadrat::detail
