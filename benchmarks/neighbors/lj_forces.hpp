// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "harness/timing.hpp"

namespace quadrat::bench {

/// The list over which forces are summed.
enum class force_list { neighbors, tiles };

/// The Lennard-Jones forces on disturbed points of an fcc lattice of reduced density 0.8442 in a periodic cube, by one
/// list with a skin of 0.3. The points are in the order of the lattice.
class lj_forces {
 public:
  virtual ~lj_forces() = default;
  [[nodiscard]] virtual timing time_build(const timing_plan& plan) = 0;
  [[nodiscard]] virtual timing time_update(const timing_plan& plan) = 0;
  [[nodiscard]] virtual timing time_forces(const timing_plan& plan) = 0;
  /// The squared length of all forces together, and the number of pairs within the cutoff per atom, from the last call.
  [[nodiscard]] virtual double squared_force() = 0;
  [[nodiscard]] virtual double neighbors() = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// side^3 unit cells of 4 atoms.
template <typename Context, typename T>
[[nodiscard]] std::unique_ptr<lj_forces> make_lj_forces(const Context& context, int side, double cutoff,
                                                        force_list kind);

}  // namespace quadrat::bench
