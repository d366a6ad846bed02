// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles_spread.cuh"

namespace quadrat::detail {

template <>
void spread_tiles(const cuda_context& context, const tile_problem<double>& problem,
                  const tile_channels<double>& channels) {
  if (problem.most_units == 0) return;
  if (channels.count == 1) {
    launch_spread_tiles<double, 1, tile_mesh_target>(context, problem, channels, nullptr);
  } else {
    launch_spread_tiles<double, 2, tile_mesh_target>(context, problem, channels, nullptr);
  }
}

}  // namespace quadrat::detail
