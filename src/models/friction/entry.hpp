// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// Entries of lists of near bodies, and the grain that they are of.
namespace quadrat::detail {

/// Set in entries of the neighbor list whose contact has a history.
inline constexpr std::uint32_t remembers = 0x80000000u;

/// Set during a step in entries of triangles that touch.
inline constexpr std::uint32_t touches_now = 0x40000000u;

/// A grain during the loop over its contacts.
template <typename T>
struct grain_in_work {
  vec<T, 3> position;
  vec<T, 3> velocity;
  vec<T, 3> spin;
  T radius;
  T mass;
  T inverse_inertia;
  std::uint32_t slot;
  particle_id id;
  std::uint32_t walls;
  std::uint32_t material;
};

}  // namespace quadrat::detail
