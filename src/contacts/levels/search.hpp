// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/levels/grids.hpp"

namespace quadrat::detail {

/// The bucket of a body by its level and cell.
template <typename T>
struct level_key {
  const placed_body<T>* bodies;
  level_grids<T> levels;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD placed_body<T> read(std::size_t i) const { return bodies[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t, const placed_body<T>& body) const {
    return levels.cell_of(body.center, body.widest());
  }
};

/// Bodies in the order of cells, finer levels first. Row s holds the partners of the body in slot s: in later slots of
/// its level, and anywhere on coarser levels. Within one level reach is mutual. So each pair is found exactly once,
/// from the finer level or the earlier slot. With one level this is the loose grid (uniform-grid-atomics, section 1),
/// with cells of any size.
template <typename T>
struct level_search {
  level_grids<T> levels;
  const std::uint32_t* offsets;  ///< first slot by cell, and the end
  const placed_body<T>* slots;
  const std::uint64_t* largest;  ///< bits of a half extent, if any body is wider than planned

  /// Calls f(body, body) for pairs whose boxes may meet, until it returns false.
  template <typename F>
  QUADRAT_HD void visit(std::size_t slot, F&& f) const {
    const placed_body<T> body = slots[slot];
    const int own = levels.level_of(body.widest());
    for (int level = own; level < levels.count; ++level) {
      const std::uint32_t from = level == own ? static_cast<std::uint32_t>(slot) + 1 : 0;
      if (!visit_level(level, body, from, f)) return;
    }
  }

 private:
  template <typename F>
  QUADRAT_HD bool visit_level(int level, const placed_body<T>& body, std::uint32_t from, F& f) const {
    const T widest = levels.widest_of(level, *largest);
    vec<T, 3> distance{};
    for (int axis = 0; axis < 3; ++axis) distance[axis] = widened(body.half[axis] + widest);
    const level_range range = levels.reach(level, body.center, distance);
    for (int z = range.along[2].first; z <= range.along[2].last; ++z) {
      for (int y = range.along[1].first; y <= range.along[1].last; ++y) {
        index_range x{};
        const cell_id row = levels.stored_row(level, range, y, z, x);
        if (!visit_row(levels.cells[level].cells[0], row, x, body, from, f)) return false;
      }
    }
    return true;
  }

  /// Cells of a row are contiguous in memory: one range, or two across a periodic face
  /// or the end of a ring.
  template <typename F>
  QUADRAT_HD bool visit_row(int cells, cell_id row, const index_range& reach, const placed_body<T>& body,
                            std::uint32_t from, F& f) const {
    if (reach.first < 0) {
      return visit_run(row + static_cast<cell_id>(reach.first + cells), row + static_cast<cell_id>(cells), body, from,
                       f) &&
             visit_run(row, row + static_cast<cell_id>(reach.last + 1), body, from, f);
    }
    if (reach.last >= cells) {
      return visit_run(row + static_cast<cell_id>(reach.first), row + static_cast<cell_id>(cells), body, from, f) &&
             visit_run(row, row + static_cast<cell_id>(reach.last + 1 - cells), body, from, f);
    }
    return visit_run(row + static_cast<cell_id>(reach.first), row + static_cast<cell_id>(reach.last + 1), body, from,
                     f);
  }

  template <typename F>
  QUADRAT_HD bool visit_run(cell_id first, cell_id last, const placed_body<T>& body, std::uint32_t from, F& f) const {
    const std::uint32_t end = offsets[last];
    std::uint32_t slot = offsets[first];
    for (slot = slot < from ? from : slot; slot < end; ++slot) {
      if (!f(body, slots[slot])) return false;
    }
    return true;
  }
};

}  // namespace quadrat::detail
