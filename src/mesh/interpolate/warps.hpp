// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "mesh/engine.hpp"
#include "mesh/wide.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// Whether GPUs interpolate with a warp for each point, not a thread: where points are so few that nothing hides how
/// long a thread walks through its footprint, and with wide windows in two and three dimensions, whose weights would
/// not stay in a thread's registers. `canonical`: the number of points, which is that of one rank, must not matter.
[[nodiscard]] constexpr bool reads_by_warps(int width, int dimension, std::size_t count, bool canonical) {
  constexpr std::size_t few = 16384;
  if (is_wide(width) && dimension > 1) return true;
  return (is_wide(width) || dimension == 3) && count < few && !canonical;
}

/// interpolate_points in that way, or, where `gradients` is not null, interpolate_gradients. Only on GPUs.
/// Asynchronous.
template <typename T>
void interpolate_warps(const cuda_context& context, const spread_setup<T>& setup, const value_layout& layout,
                       const placed_point<T>* points, std::size_t count, const T* mesh, const T* scale, T* values,
                       T* gradients, bool accumulate);

#if !QUADRAT_HAS_CUDA
template <typename T>
void interpolate_warps(const cuda_context& context, const spread_setup<T>& /*setup*/, const value_layout& /*layout*/,
                       const placed_point<T>* /*points*/, std::size_t /*count*/, const T* /*mesh*/, const T* /*scale*/,
                       T* /*values*/, T* /*gradients*/, bool /*accumulate*/) {
  context.activate();  // throws backend_error
}
#endif

}  // namespace quadrat::detail
