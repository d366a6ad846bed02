// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "mesh/cost.hpp"
#include "mesh/tiles/cpu/engine.hpp"
#include "mesh/tiles/cuda/engine.hpp"
#include "mesh/tiles/cuda/grid.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

struct tiles_method {
  static constexpr std::string_view name = "tiles";
  static constexpr std::string_view summary = "points sorted by tile, footprints added up in a tile before the mesh";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::run_to_run;
  /// On GPUs as for particle_threads. On CPUs rough: no other method's cost is finite there.
  static double cost(const spread_request& request) {
    if (!request.cuda) return request.total(7e-5 * request.points, 7e-5 * request.work + 1e-7 * request.nodes);
    const bool collects = request.points < 0.1 * request.nodes || request.width > tile_patch;
    const double spread = collects ? 0.004 + 3.2e-9 * request.nodes + 1.9e-7 * request.work
                                   : 0.012 + request.clear() + 4.3e-8 * std::max(request.work, 0.9 * request.points);
    return request.total(0.060 + 4e-8 * request.points, spread);
  }
  template <typename Context, typename T>
  using engine = std::conditional_t<std::is_same_v<Context, cpu_context>, cpu_tiles_engine<T>, cuda_tiles_engine<T>>;
};

}  // namespace quadrat::detail
