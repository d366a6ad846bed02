// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/engine.hpp"

namespace quadrat::detail {

/// The particle based approach with several threads a point: a warp computes the weights of up to 32 points, a lane
/// each, into shared memory, and then walks their rows along the last axis with a lane a value, as many rows at once as
/// fit. A row's additions are side by side in memory and meet in few accesses of the cache. Few points are shared out
/// among more warps. Only on GPUs.
template <typename Context, typename T>
class particle_threads_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
};

}  // namespace quadrat::detail
