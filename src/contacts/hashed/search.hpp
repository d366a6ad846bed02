// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/bodies/placed.hpp"
#include "contacts/hashed/cells.hpp"

namespace quadrat::detail {

/// The bucket of a body.
template <typename T>
struct hashed_key {
  const placed_body<T>* bodies;
  hashed_levels<T> levels;
  system_domains<T> domains;
  cell_buckets buckets;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD placed_body<T> read(std::size_t i) const { return bodies[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t, const placed_body<T>& body) const {
    return buckets.of(levels.cell_of(body, domains));
  }
};

/// Index: slot. Puts bodies and the names of their cells in the order of buckets.
template <typename T>
struct gather_named {
  const placed_body<T>* bodies;
  const particle_id* elements;
  hashed_levels<T> levels;
  system_domains<T> domains;
  placed_body<T>* slots;
  cell_name* names;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const placed_body<T> body = bodies[elements[slot]];
    slots[slot] = body;
    names[slot] = levels.cell_of(body, domains);
  }
};

/// Row s holds the partners of the body in slot s: in later slots of its level, and anywhere on coarser levels, as in
/// level_search. The cells in reach are looked up by their names, so a body is met once, and only by bodies of its
/// system, whatever else its bucket holds.
template <typename T>
struct hashed_search {
  hashed_levels<T> levels;
  system_domains<T> domains;
  cell_buckets buckets;
  const std::uint32_t* offsets;  ///< first slot by bucket, and the end
  const placed_body<T>* slots;
  const cell_name* names;
  std::uint32_t count;           ///< of slots
  const std::uint64_t* largest;  ///< bits of a half extent, if any body is wider than planned

  /// Calls f(body, body) for pairs whose boxes may meet, until it returns false.
  template <typename F>
  QUADRAT_HD void visit(std::size_t slot, F&& f) const {
    const placed_body<T> body = slots[slot];
    const std::uint32_t named = names[slot].level;
    const std::uint32_t own = named % most_levels;
    for (std::uint32_t level = own; level < static_cast<std::uint32_t>(levels.count); ++level) {
      const std::uint32_t from = level == own ? static_cast<std::uint32_t>(slot) + 1 : 0;
      if (!visit_level(named - own + level, body, from, f)) return;
    }
  }

 private:
  template <typename F>
  QUADRAT_HD bool visit_level(std::uint32_t named, const placed_body<T>& body, std::uint32_t from, F& f) const {
    const int level = static_cast<int>(named % most_levels);
    const box<T, 3>& domain = domains.of(body.id);
    const T widest = levels.widest_of(level, *largest);
    cell_span span[3];
    bool few = true;
    for (int axis = 0; axis < 3; ++axis) {
      const cell_axis<T> cells(domain, axis, levels.edge(level));
      few = few && cells.reach(body.center[axis], widened(body.half[axis] + widest), count, span[axis]);
    }
    // A body far wider than planned would look up more rows than there are bodies.
    if (!few || std::uint64_t{span[1].count} * span[2].count >= count) return visit_all(named, body, from, f);
    const std::uint32_t of_level = cell_buckets::mix_level(named);
    for (std::uint32_t z = 0; z < span[2].count; ++z) {
      const std::uint32_t of_z = cell_buckets::mix_index(of_level, span[2][z]);
      for (std::uint32_t y = 0; y < span[1].count; ++y) {
        const cell_name row{{0, span[1][y], span[2][z]}, named};
        if (!visit_row(row, cell_buckets::mix_index(of_z, row.at[1]), span[0], body, from, f)) return false;
      }
    }
    return true;
  }

  template <typename F>
  QUADRAT_HD bool visit_all(std::uint32_t named, const placed_body<T>& body, std::uint32_t from, F& f) const {
    for (std::uint32_t slot = from; slot < count; ++slot) {
      if (names[slot].level == named && !f(body, slots[slot])) return false;
    }
    return true;
  }

  /// A row of cells: a run of them in each block. `mixed`: from the indices along y and z.
  template <typename F>
  QUADRAT_HD bool visit_row(cell_name run, std::uint32_t mixed, const cell_span& span, const placed_body<T>& body,
                            std::uint32_t from, F& f) const {
    for (std::uint32_t k = 0; k < span.count;) {
      run.at[0] = span[k];
      const std::uint32_t cells = span.together(k, run.at[0]);
      const std::uint32_t bucket = buckets.of(cell_buckets::mix_index(mixed, run.at[0]), run.at);
      if (!visit_run(run, bucket, cells, body, from, f)) return false;
      k += cells;
    }
    return true;
  }

  /// The buckets of a run follow each other.
  template <typename F>
  QUADRAT_HD bool visit_run(const cell_name& run, std::uint32_t bucket, std::uint32_t cells, const placed_body<T>& body,
                            std::uint32_t from, F& f) const {
    const std::uint32_t begin = offsets[bucket], end = offsets[bucket + cells];
    for (std::uint32_t slot = begin < from ? from : begin; slot < end; ++slot) {
      const cell_name name = names[slot];
      const bool in_run = name.level == run.level && name.at[1] == run.at[1] && name.at[2] == run.at[2] &&
                          name.at[0] - run.at[0] < cells;
      if (in_run && !f(body, slots[slot])) return false;
    }
    return true;
  }
};

}  // namespace quadrat::detail
