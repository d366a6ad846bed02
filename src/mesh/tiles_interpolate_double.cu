// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles_interpolate.cuh"

namespace quadrat::detail {

template <>
void interpolate_tiles(const cuda_context& context, const tile_problem<double>& problem,
                       const tile_channels<double>& channels, const tile_results<double>& results) {
  launch_interpolate_tiles(context, problem, channels, results);
}

}  // namespace quadrat::detail
