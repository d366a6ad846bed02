// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles_collect.cuh"

namespace quadrat::detail {

template <>
void collect_tiles(const cuda_context& context, const tile_problem<float>& problem,
                   const tile_channels<float>& channels, bool accumulate) {
  if (channels.count == 1) {
    launch_collect_tiles<float, 1>(context, problem, channels, accumulate);
  } else {
    launch_collect_tiles<float, 2>(context, problem, channels, accumulate);
  }
}

}  // namespace quadrat::detail
