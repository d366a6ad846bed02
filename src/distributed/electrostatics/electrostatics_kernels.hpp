// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/finite.hpp"
#include "ewald/long_range/influence.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/decomposition.hpp"

/// The kernel bodies of distributed_electrostatics. In all arrays own charges come first, then ghosts.
namespace quadrat::detail {

template <typename T>
struct copy_points {
  points_view<T, 3> from;
  vec<T, 3>* to;

  QUADRAT_HD void operator()(std::size_t i) const { to[i] = from[i]; }
};

/// A rank's modes, [y][z][x], as a transposed real transform leaves them.
template <typename T>
struct modes_of_rank {
  mesh_modes<T> modes;
  cell_block<3> block;

  [[nodiscard]] QUADRAT_HD typename mesh_modes<T>::mode at(std::size_t index, bool& zero) const {
    const auto along_x = static_cast<std::size_t>(block.end[0] - block.first[0]);
    const auto along_z = static_cast<std::size_t>(block.end[2] - block.first[2]);
    const std::size_t line = index / along_x;
    const int place[3] = {block.first[0] + static_cast<int>(index % along_x),
                          block.first[1] + static_cast<int>(line / along_z),
                          block.first[2] + static_cast<int>(line % along_z)};
    zero = place[0] == 0 && place[1] == 0 && place[2] == 0;
    return modes.of(0, place);
  }
};

/// Does the work of multiply_by_influence.
template <typename T>
struct multiply_own_modes {
  modes_of_rank<T> own;
  T* spectrum;        ///< pairs
  T* zero_potential;  ///< written by the rank that has mode 0

  QUADRAT_HD void operator()(std::size_t index) const {
    bool zero = false;
    const auto mode = own.at(index, zero);
    own.modes.weigh(mode, zero, spectrum + 2 * index, zero_potential);
  }
};

/// Does the work of virial_of_mode.
template <typename T>
struct virial_of_own_mode {
  modes_of_rank<T> own;
  const T* spectrum;

  QUADRAT_HD vec<double, 6> operator()(std::size_t index) const {
    bool zero = false;
    return own.modes.virial_of(own.at(index, zero), spectrum + 2 * index);
  }
};

/// A charge's contribution to the sums that a slab needs: charge, charge times height, charge times squared height.
template <typename T>
struct own_slab_share {
  const T* charges;
  const vec<T, 3>* positions;
  T lower;

  QUADRAT_HD vec<double, 3> operator()(std::size_t i) const {
    const auto charge = static_cast<double>(charges[i]);
    const auto height = static_cast<double>(positions[i][2] - lower);
    return {charge, charge * height, charge * height * height};
  }
};

/// The correction of a slab to the sum over its periodic images with room between them, as in combine_parts.
template <typename T>
struct slab_terms {
  vec<double, 3> sums;  ///< of all ranks
  double factor;        ///< 4 pi / volume; 0: no slab
  double height;        ///< of the box, room included
  T lower;

  QUADRAT_HD T potential_at(const vec<T, 3>& point) const {
    const auto z = static_cast<double>(point[2] - lower);
    return static_cast<T>(factor * (z * sums[1] - (sums[2] + sums[0] * z * z) / 2 - sums[0] * height * height / 12));
  }
  QUADRAT_HD T gradient_at(const vec<T, 3>& point) const {
    return static_cast<T>(factor * (sums[1] - sums[0] * static_cast<double>(point[2] - lower)));
  }
  /// The virial along the slab, which is minus that across it.
  [[nodiscard]] double virial() const {
    return factor / 2 * (sums[1] * sums[1] - sums[0] * sums[2] - sums[0] * sums[0] * height * height / 12);
  }
};

/// Adds the long range to the short range of own charges.
template <typename T>
struct add_long_range {
  const T* charges;
  T constant;  ///< k, or -k
  T self;      ///< the long-range part at distance 0
  T zero;      ///< the potential of the mode 0
  slab_terms<T> slab;
  const vec<T, 3>* positions;
  const T* smooth_potentials;
  const vec<T, 3>* smooth_gradients;
  T* potentials;
  vec<T, 3>* forces;

  QUADRAT_HD void operator()(std::size_t i) const {
    const T charge = charges[i];
    T potential = smooth_potentials[i] - self * charge + zero;
    vec<T, 3> gradient = smooth_gradients[i];
    if (slab.factor != 0) {
      potential += slab.potential_at(positions[i]);
      gradient[2] += slab.gradient_at(positions[i]);
    }
    potentials[i] += constant * potential;
    forces[i] -= (constant * charge) * gradient;
  }
};

/// The energy of a charge (half of that of its pairs), and the force on it.
template <typename T>
struct energy_and_force {
  const T* charges;
  const T* potentials;
  const vec<T, 3>* forces;

  QUADRAT_HD vec<double, 4> operator()(std::size_t i) const {
    return {0.5 * static_cast<double>(potentials[i]) * static_cast<double>(charges[i]),
            static_cast<double>(forces[i][0]), static_cast<double>(forces[i][1]), static_cast<double>(forces[i][2])};
  }
};

/// Writes results to the caller's arrays.
template <typename T>
struct deliver_own {
  const T* charges;
  const T* potentials;
  const vec<T, 3>* forces;
  vec<double, 3> mean_force;
  vec<T, 3>* to_forces;
  T* to_potentials;
  T* to_energies;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (to_forces != nullptr) to_forces[i] = forces[i] - cast<T>(mean_force);
    if (to_potentials != nullptr) to_potentials[i] = potentials[i];
    if (to_energies != nullptr) to_energies[i] = potentials[i] * charges[i] / 2;
  }
};

/// Keeps the charges of own points, or of ghosts, and sets the others to 0.
template <typename T>
struct keep_some_charges {
  const T* charges;
  std::size_t own;
  bool of_own;
  T* to;

  QUADRAT_HD void operator()(std::size_t i) const { to[i] = (i < own) == of_own ? charges[i] : T(0); }
};

}  // namespace quadrat::detail
