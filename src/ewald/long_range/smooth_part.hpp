// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "ewald/domain.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::detail {

/// The input of a smooth part, by slot.
template <typename T>
struct smooth_input {
  placed_charges<T> all;
  points_view<T, 3> fractions;  ///< positions in units of the cell's vectors
  const T* charges;
};

/// The output of a smooth part.
template <typename T>
struct smooth_output {
  T* potentials;
  vec<T, 3>* gradients;     ///< of the potential, by fraction
  vec<double, 6>* virials;  ///< by system, for k = 1; nullptr: not wanted
  T* zero_potentials;       ///< by system, to be added to `potentials`; only of parts that have them
};

/// The long-range part of the sum, including each charge's interaction with itself.
template <typename Context, typename T>
class smooth_part {
 public:
  virtual ~smooth_part() = default;
  /// Makes room for these points. Synchronizes.
  virtual void prepare(const smooth_input<T>& input) = 0;
  /// Asynchronous, allocates nothing. For the prepared number of points.
  virtual void compute(const smooth_input<T>& input, const smooth_output<T>& output) = 0;
  /// Whether `compute` writes the constants of systems.
  [[nodiscard]] virtual bool has_zero_potentials() const { return false; }
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

}  // namespace quadrat::detail
