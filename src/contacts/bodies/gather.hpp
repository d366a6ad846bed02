// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "contacts/bodies/placed.hpp"

namespace quadrat::detail {

/// Index: slot.
template <typename T>
struct gather_placed {
  const placed_body<T>* bodies;
  const particle_id* elements;
  placed_body<T>* slots;

  QUADRAT_HD void operator()(std::size_t slot) const { slots[slot] = bodies[elements[slot]]; }
};

}  // namespace quadrat::detail
