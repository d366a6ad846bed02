// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contacts/levels/cuda/kernel.cuh"
#include "contacts/levels/cuda/policies.cuh"

namespace quadrat::detail {

template <typename T, typename Policy>
void launch_levels(const cuda_context& context, const char* name, const warp_search<T>& search,
                   const warp_sink<T>& sink) {
  const cuda_launch launch(context, name);
  const unsigned blocks = cuda_launch::blocks(search.count, warp_chunk * levels_warps);
  bool repeats = false;
  for (int level = 0; level < search.level_count; ++level) {
    repeats = repeats || !(search.levels[level].around == vec<bool, 3>{});
  }
  if (!(search.domain.periodic == vec<bool, 3>{})) {
    levels_kernel<T, true, true, Policy><<<blocks, 32 * levels_warps, 0, context.stream()>>>(search, sink);
  } else if (repeats) {
    levels_kernel<T, true, false, Policy><<<blocks, 32 * levels_warps, 0, context.stream()>>>(search, sink);
  } else {
    levels_kernel<T, false, false, Policy><<<blocks, 32 * levels_warps, 0, context.stream()>>>(search, sink);
  }
  launch.check();
}

template <typename T>
void search_by_warps(const cuda_context& context, const warp_search<T>& search, const warp_sink<T>& sink) {
  if (search.count == 0) return;
  if (search.ellipsoids == nullptr) {
    launch_levels<T, levels_policy<T, searched_sphere<T>>>(context, "contacts.levels.spheres", search, sink);
  } else {
    launch_levels<T, levels_policy<T, searched_ellipsoid<T>>>(context, "contacts.levels.ellipsoids", search, sink);
  }
}

}  // namespace quadrat::detail
