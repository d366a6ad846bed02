// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ewald/domain.hpp"
#include "ewald/place.hpp"
#include "ewald/scaled_pairs.hpp"
#include "ewald/splitting.hpp"
#include "quadrat/search/lattice/image_rows.hpp"

/// The sum over pairs nearer than the cutoff.
namespace quadrat::detail {

/// Results by slot, for a unit charge at each point.
template <typename T>
struct charge_sums {
  T* potentials;
  vec<T, 3>* fields;  ///< minus the gradient of the potential
  T* virials;         ///< 6 each: xx, xy, xz, yy, yz, zz; nullptr: not wanted
};

/// Index: slot.
template <typename T>
struct add_short_range {
  placed_charges<T> all;
  split_polynomial<T> split;
  bool coulomb;
  T squared_close;  ///< nearer pairs may be scaled; `add_scaled_pairs` adds those
  scaled_partners<T> scaled;
  fault_flag faults;
  charge_sums<T> sums;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const ewald_domain<T>& domain = all.domain_at(slot);
    const placed_charge<T> own = all.charges[slot];
    T potential = T(0), virial[6] = {};
    vec<T, 3> field{};
    const image_rows<T, 3> walk(domain.grid, all.offsets, own.position, split.cutoff);
    walk.for_each_image([&](const vec<int, 3>& shift) {
      const vec<T, 3> from = own.position - domain.shape.translation(shift);
      walk.for_each_range(shift, [&](const row_range<3>& range) {
        for (std::uint32_t other = range.first; other < range.last; ++other) {
          const placed_charge<T> at = all.charges[other];
          const vec<T, 3> separation = at.position - from;
          const T squared_distance = squared_norm(separation);
          if (!(squared_distance < split.squared_cutoff)) continue;
          if (squared_distance <= squared_close && is_left_out(slot, other, shift, squared_distance)) continue;
          const auto smooth = split.at(squared_distance);
          const law_value<T> law(coulomb, squared_distance);
          const T slope = at.charge * (law.slope - smooth.slope);
          potential += at.charge * (law.value - smooth.value);
          field += (2 * slope) * separation;
          if (sums.virials != nullptr) add_virial(virial, slope, separation);
        }
      });
    });
    sums.potentials[slot] = potential;
    sums.fields[slot] = field;
    if (sums.virials == nullptr) return;
    for (int k = 0; k < 6; ++k) sums.virials[6 * slot + static_cast<std::size_t>(k)] = virial[k];
  }

  QUADRAT_HD static void add_virial(T* virial, T slope, const vec<T, 3>& separation) {
    int k = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = a; b < 3; ++b) virial[k++] -= slope * separation[a] * separation[b];
    }
  }

  /// Whether a close pair is skipped here: a charge with itself, or a scaled pair.
  [[nodiscard]] QUADRAT_HD bool is_left_out(std::size_t slot, std::uint32_t other, const vec<int, 3>& shift,
                                            T squared_distance) const {
    if (other == slot && shift == vec<int, 3>{}) return true;
    const particle_id i = all.ids[slot];
    if (scaled.has(i, all.ids[other])) return true;
    if (squared_distance > T(0)) return false;
    faults.raise(fault_kind::value_range, pair_fault_base + i);
    return true;
  }
};

/// Adds the scaled pairs. Index: slot.
template <typename T>
struct add_scaled_pairs {
  placed_charges<T> all;
  const std::uint32_t* slots;  ///< by id
  split_polynomial<T> split;
  bool coulomb;
  T squared_close;
  scaled_partners<T> scaled;
  fault_flag faults;
  charge_sums<T> sums;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id i = all.ids[slot];
    const std::uint32_t first = scaled.offsets[i], last = scaled.offsets[i + 1];
    if (first == last) return;
    const ewald_domain<T>& domain = all.domain_at(slot);
    const placed_charge<T> own = all.charges[slot];
    T potential = T(0), virial[6] = {};
    vec<T, 3> field{};
    for (std::uint32_t k = first; k < last; ++k) {
      const scaled_partner<T> partner = scaled.partners[k];
      const std::uint32_t other = slots[partner.id];
      if (all.system_at(other) != all.system_at(slot)) faults.raise(fault_kind::key_range, pair_fault_base + i);
      const placed_charge<T> at = all.charges[other];
      const vec<T, 3> separation = nearest_separation(domain.shape, own.position, at.position);
      const T squared_distance = squared_norm(separation);
      T value = T(0), slope = T(0);
      if (squared_distance <= squared_close) {  // only the long-range part is included so far
        const auto smooth = split.at(squared_distance);
        value = -smooth.value;
        slope = -smooth.slope;
      }
      const T factor = squared_distance <= squared_close ? partner.scale : partner.scale - T(1);
      if (factor != T(0)) {
        if (squared_distance == T(0)) faults.raise(fault_kind::value_range, pair_fault_base + i);
        const law_value<T> law(coulomb, squared_distance);
        value += factor * law.value;
        slope += factor * law.slope;
      }
      potential += at.charge * value;
      field += (2 * at.charge * slope) * separation;
      add_short_range<T>::add_virial(virial, at.charge * slope, separation);
    }
    sums.potentials[slot] += potential;
    sums.fields[slot] += field;
    if (sums.virials == nullptr) return;
    for (int k = 0; k < 6; ++k) sums.virials[6 * slot + static_cast<std::size_t>(k)] += virial[k];
  }
};

}  // namespace quadrat::detail
