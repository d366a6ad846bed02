// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mesh/cost.hpp"
#include "mesh/engine.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Spreads the points of `chosen` (the first `count` points if that is nullptr) onto `mesh`, one thread per point with
/// atomic operations; on a CPU with one thread without them.
template <typename Context, typename T>
void spread_points(const Context& context, const spread_setup<T>& setup, const value_layout& layout,
                   const placed_point<T>* points, const std::uint32_t* chosen, std::size_t count, const T* values,
                   T* mesh);

/// The particle based approach (particle-mesh-spreading, section 2): one thread per point computes its weights and adds
/// to its mesh points with atomic operations: on GPUs four floats at a time, if the mesh is aligned for it.
template <typename Context, typename T>
class particle_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
};

struct particle_method {
  static constexpr std::string_view name = "particle";
  static constexpr std::string_view summary = "a thread per particle, atomic additions";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static bool sets_points_async(const spread_request& /*request*/) { return true; }
  static method_cost cost(const spread_request& request) {
    if (request.cuda) return cuda_scattering_cost(request);
    constexpr double points_worth_a_team = 2048;  // of for_each
    const spread_request here = request.with_team_from(points_worth_a_team);
    return scattering_cost(here)
        .each("atomic", cost_unit::step, request.threads > 1 ? here.share(request.contributions()) : 0)
        .each("shared", cost_unit::step, here.threads > 1 ? here.share(request.contributions()) : 0)
        .each("mesh_far", cost_unit::byte, here.share(request.mesh_beyond_cache()))
        .each("team", cost_unit::launch, here.teams(1));
  }
  template <typename Context, typename T>
  using engine = particle_engine<Context, T>;
};

}  // namespace quadrat::detail
