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
  [[nodiscard]] bool can_set_points_asynchronously() const override { return true; }
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
};

struct particle_threads_method {
  static constexpr std::string_view name = "particle_threads";
  static constexpr std::string_view summary = "several threads a particle, atomic additions";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::none;
  /// From timings on one H200: the rows `costs` of benchmarks/results/h200/mesh.json, float, real values.
  static double cost(const spread_request& request) {
    const double beyond_cache = request.bytes > 40e6 ? 2.1 : 1.0;
    return request.total(0.024 + 1.2e-8 * request.points,
                         0.004 + request.clear() + 6.6e-7 * beyond_cache * request.work);
  }
  template <typename Context, typename T>
  using engine = particle_threads_engine<Context, T>;
};

}  // namespace quadrat::detail
