// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "spectral/box_transform.hpp"

namespace quadrat::detail {

/// Whether all lines fit into the shared memory of blocks, and there are enough of them: two or three dimensions.
template <typename T>
[[nodiscard]] bool fits_box_lines(const box_problem& problem);

/// Transforms one axis after the other by the passes of box_pass.hpp. Reads and writes only lines that hold given
/// modes, and only their wanted numbers.
template <typename T>
[[nodiscard]] std::unique_ptr<box_transform<cuda_context, T>> make_box_lines(const cuda_context& context,
                                                                             const box_problem& problem);

#if !QUADRAT_HAS_CUDA
template <typename T>
bool fits_box_lines(const box_problem& /*problem*/) {
  return false;
}
template <typename T>
std::unique_ptr<box_transform<cuda_context, T>> make_box_lines(const cuda_context& context,
                                                               const box_problem& /*problem*/) {
  context.activate();  // throws backend_error
  return nullptr;
}
#endif

}  // namespace quadrat::detail
