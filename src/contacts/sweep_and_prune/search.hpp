// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"

namespace quadrat::detail {

/// The least number of steps of a row.
inline constexpr std::uint64_t least_sweep_share = 32;

/// Bodies in the order in which their boxes begin along one axis. Each body walks over the following ones that begin
/// before it ends; if its end crosses a periodic face, it continues from the first slot over bodies whose images begin
/// before that end. The walks are concatenated, with one step for the body itself and one for each body it visits, and
/// cut into rows of equally many steps: so a body that visits all others does not keep one thread busy alone.
template <typename T>
struct sweep_search {
  const placed_body<T>* slots;
  const std::uint32_t* ends;     ///< by slot: the first later slot that begins after its end
  const std::uint64_t* offsets;  ///< by slot: first step of its walk; and the end of all walks
  std::uint32_t count;
  std::uint64_t rows;  ///< of equally many steps; those at the end may have none

  /// Calls f(body, body) for pairs that overlap along the axis, until it returns false.
  template <typename F>
  QUADRAT_HD void visit(std::size_t row, F&& f) const {
    const std::uint64_t total = offsets[count], even = (total + rows - 1) / rows;
    const std::uint64_t share = even < least_sweep_share ? least_sweep_share : even, from = row * share;
    if (from >= total) return;
    const std::uint64_t to = from + share < total ? from + share : total;
    std::uint32_t slot = slot_of(from);
    for (std::uint64_t step = from; step < to; ++slot) {
      const std::uint64_t end = offsets[slot + 1] < to ? offsets[slot + 1] : to;
      if (!walk(slot, static_cast<std::uint32_t>(step - offsets[slot]), static_cast<std::uint32_t>(end - offsets[slot]),
                f)) {
        return;
      }
      step = end;
    }
  }

 private:
  /// The last slot whose walk begins at or before this step.
  [[nodiscard]] QUADRAT_HD std::uint32_t slot_of(std::uint64_t step) const {
    std::uint32_t first = 0, last = count - 1;
    while (first < last) {
      const std::uint32_t middle = first + (last - first + 1) / 2;
      if (offsets[middle] <= step) {
        first = middle;
      } else {
        last = middle - 1;
      }
    }
    return first;
  }

  /// Steps [from, to) of a body's walk; step 0 is the body itself.
  template <typename F>
  QUADRAT_HD bool walk(std::uint32_t slot, std::uint32_t from, std::uint32_t to, F& f) const {
    const placed_body<T> body = slots[slot];
    const std::uint32_t wrapped = ends[slot] - slot;  // the step at which the walk continues from the first slot
    for (std::uint32_t step = from > 0 ? from : 1; step < to; ++step) {
      const std::uint32_t other = step < wrapped ? slot + step : step - wrapped;
      // Around a periodic box, each body of a pair may reach the other. Then only the earlier slot counts.
      if (step >= wrapped && slot < ends[other]) continue;
      if (!f(body, slots[other])) return false;
    }
    return true;
  }
};

}  // namespace quadrat::detail
