// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles_ordered.cuh"

namespace quadrat::detail {

template <>
void spread_tiles_in_order(const cuda_context& context, const tile_problem<float>& problem,
                           const tile_channels<float>& channels, const tile_shares<float>& shares, bool accumulate) {
  if (problem.most_units == 0) return;
  if (channels.count == 1) {
    launch_ordered_tiles<float, 1>(context, problem, channels, shares, accumulate);
  } else {
    launch_ordered_tiles<float, 2>(context, problem, channels, shares, accumulate);
  }
}

}  // namespace quadrat::detail
