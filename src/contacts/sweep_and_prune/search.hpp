// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"

namespace quadrat::detail {

/// Bodies in the order in which their boxes begin along one axis. Each walks over those behind it that begin before it
/// ends; and where its end reaches over a periodic face, over those from the first slot on that begin before that end
/// as images. All walks stand one behind the other, a step each for the body itself and the bodies that it meets, and
/// are cut into rows of equally many steps: a body that meets all others does not keep one thread busy.
template <typename T>
struct sweep_search {
  const placed_body<T>* slots;
  const std::uint32_t* ends;     ///< by slot: the first slot behind it that begins after it has ended
  const std::uint64_t* offsets;  ///< by slot: where its walk begins; and the end of all
  std::uint32_t count;
  std::uint64_t share;  ///< steps of a row

  /// Calls f(body, body) for pairs that overlap along the axis, until it returns false.
  template <typename F>
  QUADRAT_HD void visit(std::size_t row, F&& f) const {
    const std::uint64_t from = row * share, total = offsets[count];
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
  /// The last slot whose walk begins at this step or before.
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

  /// Steps [from, to) of a body's walk, of which step 0 is the body itself.
  template <typename F>
  QUADRAT_HD bool walk(std::uint32_t slot, std::uint32_t from, std::uint32_t to, F& f) const {
    const placed_body<T> body = slots[slot];
    const std::uint32_t wrapped = ends[slot] - slot;  // the step that begins anew at the first slot
    for (std::uint32_t step = from > 0 ? from : 1; step < to; ++step) {
      const std::uint32_t other = step < wrapped ? slot + step : step - wrapped;
      // Both halves of a pair may reach the other one, round the box; the one in front has met it then.
      if (step >= wrapped && slot < ends[other]) continue;
      if (!f(body, slots[other])) return false;
    }
    return true;
  }
};

}  // namespace quadrat::detail
