// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "models/granular/engine.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/models/granular.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Measures grains given by particle id, with a separate cell list: if the context requires reproducible results, equal
/// grains have bitwise equal statistics for all methods.
template <typename Context, typename T>
class granular_meter {
 public:
  granular_meter(const Context& context, const granular_setup<T>& setup);

  /// Measures positions and velocities in device memory. Synchronizes.
  [[nodiscard]] granular_statistics measure(const Context& context, const granular_parameters& parameters,
                                            const vec<T, 3>* positions, const vec<T, 3>* velocities);

  [[nodiscard]] std::size_t bytes() const { return cells_.bytes() + scratch_.bytes(); }

 private:
  granular_setup<T> setup_;
  typename cell_methods::counting::type<Context, T, 3> cells_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
