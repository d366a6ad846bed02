// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "models/brownian/kernels.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/models/brownian_forces.hpp"

/// The kernel bodies of distributed_brownian: the steps are those of one rank.
namespace quadrat::detail {

/// The properties that a sphere takes along, besides its position.
template <typename T>
struct sphere_kept {
  vec<T, 3> origin;
  vec<std::int32_t, 3> images;
  particle_id id;
};

template <typename T>
struct unpack_sphere {
  const sphere_kept<T>* kept;
  vec<std::int32_t, 3>* images;
  particle_id* ids;

  QUADRAT_HD void operator()(std::size_t i) const {
    images[i] = kept[i].images;
    ids[i] = kept[i].id;
  }
};

template <typename T>
struct pack_sphere {
  const vec<std::int32_t, 3>* images;
  sphere_kept<T>* kept;

  QUADRAT_HD void operator()(std::size_t i) const { kept[i].images = images[i]; }
};

template <typename T>
struct free_velocities_of_own {
  free_velocities<T> all;
  const particle_id* ids;

  QUADRAT_HD void operator()(std::size_t i) const { all.set(i, ids[i]); }
};

template <typename T>
struct move_own_brownian {
  move_brownian<T> all;
  const particle_id* ids;

  QUADRAT_HD void operator()(std::size_t i) const { all.move(i, ids[i]); }
};

template <typename T>
struct predict_own_brownian {
  predict_brownian<T> all;
  const particle_id* ids;

  QUADRAT_HD void operator()(std::size_t i) const { all.predict(i, ids[i]); }
};

/// The bonds of each sphere, by its number, and the places of spheres on this rank.
struct bonds_of_ranks {
  const std::uint32_t* offsets;
  const particle_id* others;
  const particle_id* ids;      ///< by place
  const std::uint32_t* place;  ///< by number; undefined for spheres that are not on this rank
};

struct find_places {
  const particle_id* ids;
  std::uint32_t* place;

  QUADRAT_HD void operator()(std::size_t i) const { place[ids[i]] = static_cast<std::uint32_t>(i); }
};

/// Does the work of add_bonds for own spheres, in the same order.
template <typename T, typename F>
struct add_own_bonds {
  bonds_of_ranks bonds;
  const vec<T, 3>* places;
  box<T, 3> domain;
  vec<T, 3>* forces;
  F f;

  QUADRAT_HD void operator()(std::size_t i) const {
    const particle_id id = bonds.ids[i];
    interaction<T, 3> sum{};
    for (std::uint32_t k = bonds.offsets[id]; k < bonds.offsets[id + 1]; ++k) {
      const particle_id other = bonds.others[k];
      const vec<T, 3> separation = domain.separation(places[i], places[bonds.place[other]]);
      sum += f(id, other, separation, squared_norm(separation));
    }
    forces[i] += sum.force;
  }
};

/// The excess of the longest bond of a sphere over the reach, rounded up.
template <typename T>
struct reach_of_bonds {
  bonds_of_ranks bonds;
  const vec<T, 3>* places;
  box<T, 3> domain;
  T reach;
  T* more;

  QUADRAT_HD void operator()(std::size_t i) const {
    const particle_id id = bonds.ids[i];
    T most = T(0);
    for (std::uint32_t k = bonds.offsets[id]; k < bonds.offsets[id + 1]; ++k) {
      const T squared = squared_norm(domain.separation(places[i], places[bonds.place[bonds.others[k]]]));
      most = squared > most ? squared : most;
    }
    const T length = std::sqrt(most) * T(1.001);
    more[i] = length > reach ? length - reach : T(0);
  }
};

}  // namespace quadrat::detail
