// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles_spread.cuh"

namespace quadrat::detail {

template <>
void spread_tiles(const cuda_context& context, const tile_problem<float>& problem,
                  const tile_channels<float>& channels) {
  if (problem.most_units == 0) return;
  if (channels.count == 1) {
    launch_spread_tiles<float, 1, tile_mesh_target>(context, problem, channels, nullptr);
  } else {
    launch_spread_tiles<float, 2, tile_mesh_target>(context, problem, channels, nullptr);
  }
}

}  // namespace quadrat::detail
