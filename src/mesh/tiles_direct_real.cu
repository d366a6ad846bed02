// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles_direct.cuh"

namespace quadrat::detail {

template <>
void interpolate_directly<1>(const cuda_context& context, const tile_problem<float>& problem,
                             const tile_window_shares& shares, const tile_window_values& values) {
  with_pair_width(problem.window.width, [&](auto width) {
    launch_interpolate_directly<decltype(width)::value, 1>(context, problem, shares, values);
  });
}

}  // namespace quadrat::detail
