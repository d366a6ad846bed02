// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/spread_engine.hpp"

namespace quadrat::detail {

/// The particle based approach (particle-mesh-spreading, section 2): a thread a point computes its weights and adds to
/// its mesh points with atomic operations.
template <typename Context, typename T>
class particle_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
};

}  // namespace quadrat::detail
