// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "mesh/engine.hpp"
#include "mesh/wide.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// Whether GPUs interpolate with a warp per point instead of a thread. This is so for few points, which do not hide a
/// thread's latency, and for wide windows in two and three dimensions, whose weights exceed a thread's registers.
/// `canonical`: the number of points, which is that of one rank, must not matter.
[[nodiscard]] constexpr bool reads_by_warps(int width, int dimension, std::size_t count, bool canonical) {
  constexpr std::size_t few = 16384;
  if (is_wide(width) && dimension > 1) return true;
  return (is_wide(width) || dimension == 3) && count < few && !canonical;
}

/// interpolate_points with warps; or interpolate_gradients, if `gradients` is not null. Only on GPUs.
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
