// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "quadrat/search/neighbor_pairs.hpp"

namespace quadrat::bench {

/// In reduced units, and per atom where that makes sense.
struct liquid_state {
  double energy;  ///< potential, shifted to 0 at the cutoff, and kinetic
  double temperature;
  double virial;
  double pressure;
};

/// The Lennard-Jones liquid of LAMMPS' bench/in.lj: an fcc lattice of reduced density 0.8442 at temperature 1.44 that
/// melts, cutoff 2.5, skin 0.3, velocity Verlet with steps of 0.005. Atoms stay in the order of the lattice.
class lj_liquid {
 public:
  virtual ~lj_liquid() = default;
  /// Does not wait, except for updates of the list.
  virtual void run(int steps) = 0;
  [[nodiscard]] virtual liquid_state measure() = 0;
  [[nodiscard]] virtual std::size_t atoms() const = 0;
  [[nodiscard]] virtual int rebuilds() const = 0;
  [[nodiscard]] virtual double pairs_per_atom() = 0;  ///< in the list
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// side^3 unit cells of 4 atoms.
template <typename Context, typename T>
[[nodiscard]] std::unique_ptr<lj_liquid> make_lj_liquid(const Context& context, int side, neighbor_pairs pairs);

}  // namespace quadrat::bench
