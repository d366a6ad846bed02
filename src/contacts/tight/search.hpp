// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"

namespace quadrat::detail {

/// Bit `axis` of the mask of a body in a bin: whether it is also in the previous bin along that axis
/// (uniform-grid-atomics, section 1). Index: slot of B.
template <typename T>
struct make_tight_mask {
  grid<T, 3> space;
  const placed_body<T>* bodies;
  const cell_id* bin_of_B;
  const particle_id* body_of_B;
  const std::uint64_t* entries;
  std::uint8_t* masks;

  QUADRAT_HD void operator()(std::size_t slot) const {
    if (slot >= *entries) return;
    const placed_body<T> body = bodies[body_of_B[slot]];
    const vec<int, 3> bin = bin_position(space, bin_of_B[slot]);
    unsigned mask = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (bin[axis] > touched_along(space, body, axis).first) mask |= 1u << axis;
    }
    masks[slot] = static_cast<std::uint8_t>(mask);
  }
};

/// Bodies in every bin that their boxes touch, however many, ordered by bin. Row s holds the partners of the body in
/// slot s in later slots of its bin. A pair is reported in the first bin that both touch: the one where the AND of
/// their masks is 0, since along each axis at least one of the two is not in the previous bin. Around a periodic axis
/// every bin may have a previous one; there the first bin is computed, in the frame of the body with the lower id.
template <typename T>
struct tight_search {
  grid<T, 3> space;
  const placed_body<T>* bodies;
  const cell_id* bin_of_B;
  const particle_id* body_of_B;
  const std::uint8_t* masks;
  const std::uint64_t* entries;
  unsigned open_axes;  ///< one bit per axis
  bool any_periodic;

  /// Calls f(body, body) for each pair that belongs to the bin, until it returns false.
  template <typename F>
  QUADRAT_HD void visit(std::size_t slot, F&& f) const {
    const std::uint64_t end = *entries;
    if (slot + 1 >= end) return;
    const cell_id bin = bin_of_B[slot];
    if (bin_of_B[slot + 1] != bin) return;
    const placed_body<T> body = bodies[body_of_B[slot]];
    const unsigned mask = masks[slot] & open_axes;
    for (std::size_t other = slot + 1; other < end && bin_of_B[other] == bin; ++other) {
      if ((mask & masks[other]) != 0) continue;
      const placed_body<T> met = bodies[body_of_B[other]];
      if (any_periodic && !first_common(bin, body, met)) continue;
      if (!f(body, met)) return;
    }
  }

 private:
  [[nodiscard]] QUADRAT_HD bool first_common(cell_id bin, const placed_body<T>& body, const placed_body<T>& met) const {
    const vec<int, 3> here = bin_position(space, bin);
    const bool in_order = body.id < met.id;
    for (int axis = 0; axis < 3; ++axis) {
      if (!space.domain.periodic[axis]) continue;
      const index_range common = in_order ? common_along(space, body, met, axis) : common_along(space, met, body, axis);
      if (space.wrapped(common.first, axis) != here[axis]) return false;
    }
    return true;
  }
};

}  // namespace quadrat::detail
