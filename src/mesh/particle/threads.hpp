// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "mesh/cost.hpp"
#include "mesh/engine.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// The particle based approach with several threads per point: a warp computes the weights of up to 32 points, one lane
/// each, into shared memory, and then walks their rows along the last axis with one lane per value, as many rows at
/// once as fit. A row's additions are adjacent in memory and take few cache accesses. Few points are distributed over
/// more warps. Only on GPUs.
template <typename Context, typename T>
class particle_threads_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
};

struct particle_threads_method {
  static constexpr std::string_view name = "particle_threads";
  static constexpr std::string_view summary = "several threads per particle, atomic additions";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static bool sets_points_async(const spread_request& /*request*/) { return true; }
  static method_cost cost(const spread_request& request) { return cuda_scattering_cost(request); }
  template <typename Context, typename T>
  using engine = particle_threads_engine<Context, T>;
};

}  // namespace quadrat::detail
