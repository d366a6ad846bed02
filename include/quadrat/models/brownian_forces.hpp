// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrat/cells/make_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/interaction.hpp"
#include "quadrat/search/visit.hpp"

/// Forces between the spheres of the Brownian model: over pairs nearer than a cutoff or over given bonds, by a
/// user-defined functor or one of those below. A functor is host-device and is called as f(i, j, separation,
/// squared_distance), with the shortest vector from i to j over the periodic images; it returns the share of i, an
/// interaction<T, 3> (see make_interaction), and is called for both orders of a pair. Sources that use functors on a
/// GPU must be compiled by nvcc. For an example see docs/guides/brownian.md.
namespace quadrat {

/// Forces of any kind. A simulation calls `add` at each configuration.
template <typename Context, typename T>
class brownian_force {
 public:
  virtual ~brownian_force() = default;
  /// Adds the force on sphere i to forces[i], and its share of the energy to energies[i] unless that is nullptr.
  /// Positions are inside the box, by sphere. Does not wait. May allocate. The results must depend on the positions
  /// only, if runs are to be restored.
  virtual void add(const Context& context, const points_view<T, 3>& positions, vec<T, 3>* forces, T* energies) = 0;
  /// Bytes of the context's memory held.
  [[nodiscard]] virtual std::size_t bytes() const { return 0; }

 protected:
  brownian_force() = default;
  brownian_force(const brownian_force&) = default;
  brownian_force& operator=(const brownian_force&) = default;
};

/// Two spheres, by number.
using brownian_bond = std::array<particle_id, 2>;

/// Acts at distances below the range: energy k (range - d)^2 / 2 of a pair at distance d.
template <typename T>
struct soft_repulsion {
  T constant;  ///< k
  T range;

  QUADRAT_HD interaction<T, 3> operator()(particle_id, particle_id, const vec<T, 3>& separation, T squared) const {
    const T distance = std::sqrt(squared);
    const T overlap = range - distance;
    if (overlap <= T(0) || distance == T(0)) return interaction<T, 3>{};
    return make_interaction(separation, squared, constant * overlap * overlap / T(2), -constant * overlap / distance);
  }
};

/// A spring: energy k (d - length)^2 / 2 of a pair at distance d.
template <typename T>
struct harmonic_spring {
  T constant;  ///< k
  T length;    ///< at rest

  QUADRAT_HD interaction<T, 3> operator()(particle_id, particle_id, const vec<T, 3>& separation, T squared) const {
    const T distance = std::sqrt(squared);
    const T extension = distance - length;
    const T slope = length == T(0) ? constant : (distance == T(0) ? T(0) : constant * extension / distance);
    return make_interaction(separation, squared, constant * extension * extension / T(2), slope);
  }
};

namespace detail {

template <typename T>
QUADRAT_HD void add_interaction(const interaction<T, 3>& sum, std::size_t i, vec<T, 3>* forces, T* energies) {
  forces[i] += sum.force;
  if (energies != nullptr) energies[i] += sum.energy;
}

template <typename View, typename T, typename F>
struct add_near_pairs {
  View view;
  points_view<T, 3> points;
  T cutoff;
  vec<T, 3>* forces;
  T* energies;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const particle_id i = particle_of_thread(view, index);
    interaction<T, 3> sum{};
    for_each_neighbor(view, points, i, cutoff, [&](particle_id j, const vec<T, 3>& separation, T squared) {
      sum += f(i, j, separation, squared);
    });
    add_interaction(sum, i, forces, energies);
  }
};

template <typename T, typename F>
struct add_bonds {
  const std::uint32_t* offsets;
  const particle_id* others;
  points_view<T, 3> points;
  box<T, 3> domain;
  vec<T, 3>* forces;
  T* energies;
  F f;

  QUADRAT_HD void operator()(std::size_t index) const {
    const auto i = static_cast<particle_id>(index);
    const vec<T, 3> here = points[i];
    interaction<T, 3> sum{};
    for (std::uint32_t k = offsets[index]; k < offsets[index + 1]; ++k) {
      const vec<T, 3> separation = domain.separation(here, points[others[k]]);
      sum += f(i, others[k], separation, squared_norm(separation));
    }
    add_interaction(sum, i, forces, energies);
  }
};

}  // namespace detail

/// A functor over all pairs nearer than a cutoff.
template <typename Context, typename T, typename F>
class brownian_pair_force final : public brownian_force<Context, T> {
 public:
  /// Throws argument_error if the cutoff is not positive, or exceeds half of the box along an axis.
  brownian_pair_force(const Context& context, const box<T, 3>& domain, T cutoff, const F& f)
      : cells_(make_cells(context, domain, cutoff)), cutoff_(cutoff), f_(f) {}

  /// As brownian_force::add.
  void add(const Context& context, const points_view<T, 3>& positions, vec<T, 3>* forces, T* energies) override {
    cells_.reserve(positions.count);
    cells_.build_async(positions);
    const auto view = cells_.view();
    for_each(
        context, "brownian.pairs", positions.count,
        detail::add_near_pairs<std::decay_t<decltype(view)>, T, F>{view, positions, cutoff_, forces, energies, f_});
  }
  [[nodiscard]] std::size_t bytes() const override { return cells_.bytes(); }

 private:
  decltype(make_cells(std::declval<const Context&>(), std::declval<const box<T, 3>&>(), T())) cells_;
  T cutoff_;
  F f_;
};

/// A functor over given pairs, each of which must stay shorter than half of the box along every axis.
template <typename Context, typename T, typename F>
class brownian_bond_force final : public brownian_force<Context, T> {
 public:
  /// Synchronizes. Throws argument_error for a bond of a sphere that does not exist, or with itself.
  brownian_bond_force(const Context& context, const box<T, 3>& domain, std::size_t count,
                      std::span<const brownian_bond> bonds, const F& f)
      : domain_(domain), f_(f) {
    std::vector<std::uint32_t> offsets(count + 1);
    for (const brownian_bond& bond : bonds) {
      for (const particle_id end : bond) {
        require(end < count, "a bond joins sphere ", end, ", but there are only ", count);
        ++offsets[end + 1];
      }
      require(bond[0] != bond[1], "a bond joins sphere ", bond[0], " with itself");
    }
    for (std::size_t i = 0; i < count; ++i) offsets[i + 1] += offsets[i];
    std::vector<particle_id> others(2 * bonds.size());
    std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
    for (const brownian_bond& bond : bonds) {
      others[next[bond[0]]++] = bond[1];
      others[next[bond[1]]++] = bond[0];
    }
    offsets_ = to_device(context, offsets);
    others_ = to_device(context, others);
  }

  /// As brownian_force::add.
  void add(const Context& context, const points_view<T, 3>& positions, vec<T, 3>* forces, T* energies) override {
    for_each(context, "brownian.bonds", positions.count,
             detail::add_bonds<T, F>{offsets_.data(), others_.data(), positions, domain_, forces, energies, f_});
  }
  [[nodiscard]] std::size_t bytes() const override { return offsets_.bytes() + others_.bytes(); }

 private:
  box<T, 3> domain_;
  F f_;
  array<std::uint32_t, Context> offsets_;
  array<particle_id, Context> others_;
};

}  // namespace quadrat
