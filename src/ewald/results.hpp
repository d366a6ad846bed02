// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "ewald/domain.hpp"
#include "ewald/short_range/short_range.hpp"
#include "quadrat/core/macros.hpp"

/// Combines the parts of the sum into the caller's results.
namespace quadrat::detail {

/// A charge's terms of the sums for slabs: charge, charge times height, charge times squared height.
template <typename T>
struct slab_share {
  placed_charges<T> all;

  QUADRAT_HD vec<double, 3> operator()(std::size_t slot) const {
    const placed_charge<T> own = all.charges[slot];
    const auto charge = static_cast<double>(own.charge);
    const auto height = static_cast<double>(all.domain_at(slot).height_of(own.position));
    return {charge, charge * height, charge * height * height};
  }
};

/// Adds all parts of a charge. `sums` holds the short-range part; afterwards its potentials include all parts, and its
/// fields are forces, both times k. Index: slot.
template <typename T>
struct combine_parts {
  placed_charges<T> all;
  T constant;  ///< k, or -k
  T self;      ///< the long-range part at distance 0
  bool short_range, long_range;
  const T* smooth_potentials;
  const vec<T, 3>* smooth_gradients;
  const T* zero_potentials;         ///< by system; nullptr: none
  const vec<double, 3>* slab_sums;  ///< by system; nullptr without slabs
  charge_sums<T> sums;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const ewald_domain<T>& domain = all.domain_at(slot);
    const placed_charge<T> own = all.charges[slot];
    T potential = T(0);
    vec<T, 3> field{};
    if (short_range) {
      potential = sums.potentials[slot];
      field = sums.fields[slot];
    }
    if (long_range) {
      potential += smooth_potentials[slot] - self * own.charge;
      if (zero_potentials != nullptr) potential += zero_potentials[all.system_at(slot)];
      const vec<T, 3> gradient = smooth_gradients[slot];
      for (int axis = 0; axis < 3; ++axis) field -= gradient[axis] * domain.shape.inverse[axis];
      if (domain.slab) add_slab(slot, domain, own, potential, field);
    }
    sums.potentials[slot] = constant * potential;
    sums.fields[slot] = (constant * own.charge) * field;
    if (sums.virials == nullptr || !short_range) return;
    for (int k = 0; k < 6; ++k) sums.virials[6 * slot + static_cast<std::size_t>(k)] *= constant * own.charge;
  }

 private:
  /// Yeh and Berkowitz 1999, with the terms of a net charge (Ballenegger, Arnold and Cerda 2009).
  QUADRAT_HD void add_slab(std::size_t slot, const ewald_domain<T>& domain, const placed_charge<T>& own, T& potential,
                           vec<T, 3>& field) const {
    const vec<double, 3> sum = slab_sums[all.system_at(slot)];
    const auto z = static_cast<double>(domain.height_of(own.position)), height = static_cast<double>(domain.height);
    const double factor = 4 * 3.14159265358979323846 * static_cast<double>(domain.inverse_volume);
    potential += static_cast<T>(factor * (z * sum[1] - (sum[2] + sum[0] * z * z) / 2 - sum[0] * height * height / 12));
    // The inverse's row is the slab's normal over the height.
    field -= static_cast<T>(factor * height * (sum[1] - sum[0] * z)) * domain.shape.inverse[2];
  }
};

template <typename T>
struct force_of_slot {
  const vec<T, 3>* forces;
  QUADRAT_HD vec<double, 4> operator()(std::size_t slot) const {
    return {static_cast<double>(forces[slot][0]), static_cast<double>(forces[slot][1]),
            static_cast<double>(forces[slot][2]), 1.0};
  }
};

/// Index: slot.
template <typename T>
struct deliver_results {
  placed_charges<T> all;
  charge_sums<T> sums;
  const vec<double, 4>* net_forces;  ///< by system, with the number of points; nullptr: forces stay
  vec<T, 3>* forces;
  T* potentials;
  T* energies;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = all.ids[slot];
    if (forces != nullptr) {
      vec<T, 3> force = sums.fields[slot];
      if (net_forces != nullptr) {
        const vec<double, 4> net = net_forces[all.system_at(slot)];
        for (int axis = 0; axis < 3; ++axis) force[axis] -= static_cast<T>(net[axis] / net[3]);
      }
      forces[id] = force;
    }
    const T potential = sums.potentials[slot];
    if (potentials != nullptr) potentials[id] = potential;
    if (energies != nullptr) energies[id] = potential * all.charges[slot].charge / 2;
  }
};

/// Both steps in one pass, if results need no sum over all forces. Index: slot.
template <typename T>
struct combine_and_deliver {
  combine_parts<T> combine;
  deliver_results<T> deliver;

  QUADRAT_HD void operator()(std::size_t slot) const {
    combine(slot);
    deliver(slot);
  }
};

/// The energy of a charge with its pairs: half of each pair's.
template <typename T>
[[nodiscard]] QUADRAT_HD double energy_of_slot(const placed_charges<T>& all, const charge_sums<T>& sums,
                                               std::size_t slot) {
  return 0.5 * static_cast<double>(sums.potentials[slot]) * static_cast<double>(all.charges[slot].charge);
}

/// Both steps in the pass that sums the energy of one system. Index: slot, each once.
template <typename T>
struct combine_for_energy {
  combine_and_deliver<T> pass;

  QUADRAT_HD double operator()(std::size_t slot) const {
    pass(slot);
    return energy_of_slot(pass.combine.all, pass.combine.sums, slot);
  }
};

/// The energy and the virial of a charge with its pairs.
template <typename T>
struct total_of_slot {
  placed_charges<T> all;
  charge_sums<T> sums;
  bool short_range;

  QUADRAT_HD vec<double, 7> operator()(std::size_t slot) const {
    vec<double, 7> total{};
    total[0] = energy_of_slot(all, sums, slot);
    if (sums.virials == nullptr || !short_range) return total;
    for (int k = 0; k < 6; ++k)
      total[k + 1] = static_cast<double>(sums.virials[6 * slot + static_cast<std::size_t>(k)]);
    return total;
  }
};

/// Index: system.
template <typename T>
struct deliver_totals {
  const ewald_domain<T>* domains;
  double constant;
  bool long_range;
  const vec<double, 7>* totals;
  const vec<double, 6>* smooth_virials;
  const vec<double, 3>* slab_sums;
  double* energy;
  double* virial;

  QUADRAT_HD void operator()(std::size_t system) const {
    if (energy != nullptr) energy[system] = totals[system][0];
    if (virial == nullptr) return;
    const ewald_domain<T>& domain = domains[system];
    vec<double, 3> normal{};
    double slab = 0;
    if (domain.slab && long_range) {
      const vec<double, 3> sum = slab_sums[system];
      const auto height = static_cast<double>(domain.height);
      normal = height * cast<double>(domain.shape.inverse[2]);
      slab = 2 * 3.14159265358979323846 * static_cast<double>(domain.inverse_volume) *
             (sum[1] * sum[1] - sum[0] * sum[2] - sum[0] * sum[0] * height * height / 12);
    }
    int k = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = a; b < 3; ++b, ++k) {
        double smooth = slab * ((a == b ? 1 : 0) - 2 * normal[a] * normal[b]);
        if (long_range) smooth += smooth_virials[system][k];
        const double sum = totals[system][k + 1] + constant * smooth;
        virial[9 * system + static_cast<std::size_t>(3 * a + b)] = sum;
        virial[9 * system + static_cast<std::size_t>(3 * b + a)] = sum;
      }
    }
  }
};

}  // namespace quadrat::detail
