// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles_points.cuh"

namespace quadrat::detail {

template <>
void interpolate_each_point(const cuda_context& context, const tile_problem<double>& problem,
                            const tile_channels<double>& channels, const tile_results<double>& results) {
  if (channels.count == 1) {
    launch_interpolate_each_point<double, 1>(context, problem, channels, results);
  } else {
    launch_interpolate_each_point<double, 2>(context, problem, channels, results);
  }
}

}  // namespace quadrat::detail
