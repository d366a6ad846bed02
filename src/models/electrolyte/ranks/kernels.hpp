// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/electrolyte/kernels.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/macros.hpp"

/// The kernel bodies of distributed_electrolyte: the steps are those of one rank.
namespace quadrat::detail {

/// The properties that an ion takes along.
template <typename T>
struct ion_kept {
  T charge, mass, radius;
  particle_id id;
};

template <typename T>
struct unpack_ion {
  const ion_kept<T>* kept;
  T* charges;
  T* masses;
  T* radii;

  QUADRAT_HD void operator()(std::size_t i) const {
    charges[i] = kept[i].charge;
    masses[i] = kept[i].mass;
    radii[i] = kept[i].radius;
  }
};

template <typename T>
struct electrolyte_move_own {
  electrolyte_move<T> all;
  const ion_kept<T>* kept;
  std::uint64_t step;

  QUADRAT_HD void operator()(std::size_t i) const { all.move(i, kept[i].id, step); }
};

template <typename T>
struct electrolyte_kick_own {
  electrolyte_kick<T> all;
  const ion_kept<T>* kept;
  std::uint64_t step;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (!all.kick(i)) all.words.fault.raise(step + 1, kept[i].id);
  }
};

}  // namespace quadrat::detail
