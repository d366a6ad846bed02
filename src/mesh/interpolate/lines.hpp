// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "mesh/engine.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// interpolate_points for one-dimensional meshes and windows of at most 8 mesh points. One lane of a warp per mesh
/// point of a footprint makes a footprint one memory access. Only on GPUs. Asynchronous.
template <typename T>
void interpolate_lines(const cuda_context& context, const spread_setup<T>& setup, const value_layout& layout,
                       const placed_point<T>* points, std::size_t count, const T* mesh, T* values, bool accumulate);

#if !QUADRAT_HAS_CUDA
template <typename T>
void interpolate_lines(const cuda_context& context, const spread_setup<T>& /*setup*/, const value_layout& /*layout*/,
                       const placed_point<T>* /*points*/, std::size_t /*count*/, const T* /*mesh*/, T* /*values*/,
                       bool /*accumulate*/) {
  context.activate();  // throws backend_error
}
#endif

}  // namespace quadrat::detail
