// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/hashed.hpp"

#include "cells/build_and_check.hpp"
#include "cells/checks.hpp"
#include "cells/ordered_pairs_build.hpp"
#include "core/backend.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

/// Enters each occupied cell. The smaller of two keys keeps the place and the larger moves on, which gives the same
/// table for any timing (J. Shun, G. E. Blelloch, *Phase-Concurrent Hash Tables for Determinism*, 2014). Index: place
/// in the sorted order.
template <int D>
struct enter_cell {
  const std::uint64_t* keys;
  hashed_numbering<D> numbering;
  occupied_cell* table;

  QUADRAT_HD void operator()(std::size_t k) const {
    if (!detail::first_of_bucket(keys, k)) return;
    std::uint64_t key = keys[k];
    for (cell_id place = numbering.home(key);; place = numbering.after(place)) {
      const std::uint64_t found = atomic_min(&table[place].key, key);
      if (found == occupied_cell::no_key) return;
      if (found > key) key = found;
    }
  }
};

/// Writes the range of each cell, and carries data along. Index: place in the sorted order.
template <int D>
struct write_range {
  const std::uint64_t* keys;
  const particle_id* elements;
  std::size_t count;
  hashed_numbering<D> numbering;
  occupied_cell* table;
  detail::carried_arrays carried;

  QUADRAT_HD void operator()(std::size_t k) const {
    const bool first = detail::first_of_bucket(keys, k);
    const bool last = detail::last_of_bucket(keys, k, count);
    if (first || last) {
      occupied_cell& cell = table[numbering.find(keys[k])];
      if (first) cell.begin = static_cast<std::uint32_t>(k);
      if (last) cell.end = static_cast<std::uint32_t>(k) + 1;
    }
    if (carried.count > 0) carried.move(elements[k], k);
  }
};

/// Places of the table, and the one that stays empty.
template <int D>
[[nodiscard]] std::size_t entries_for(std::size_t count) {
  constexpr std::size_t group = hashed_numbering<D>::group;
  return (count == 0 ? 1 : (2 * count + group - 1) / group) * group + 1;
}

}  // namespace

template <typename Context, typename T, int D>
hashed_cells<Context, T, D>::hashed_cells(const Context& context, const grid<T, D>& space,
                                          const cell_list_options<T>& options)
    : space_(detail::checked_grid(space, max_sparse_count)), state_(context), accept_outside_(options.accept_outside) {}

template <typename Context, typename T, int D>
void hashed_cells<Context, T, D>::reserve(std::size_t points) {
  detail::require_count(points, "points", most_points);
  state_.reserve(points, 1, [&](std::size_t elements, std::size_t) {
    table_.resize_discarding(state_.context(), entries_for<D>(elements));
    pairs_.reserve(state_.context(), elements, space_.size());
  });
}

template <typename Context, typename T, int D>
void hashed_cells<Context, T, D>::build(const points_view<T, D>& points) {
  build_and_carry(points, {});
}

template <typename Context, typename T, int D>
void hashed_cells<Context, T, D>::build_async(const points_view<T, D>& points) {
  build_and_carry_async(points, {});
}

template <typename Context, typename T, int D>
void hashed_cells<Context, T, D>::build_and_carry(const points_view<T, D>& points,
                                                  std::span<const carried_array> arrays) {
  detail::build_and_check(
      *this, state_, points, [&] { build_and_carry_async(points, arrays); }, most_points);
}

template <typename Context, typename T, int D>
void hashed_cells<Context, T, D>::build_and_carry_async(const points_view<T, D>& points,
                                                        std::span<const carried_array> arrays) {
  const std::size_t count = points.size();
  const detail::carried_arrays carried = detail::checked_arrays(arrays, count);
  detail::require_points(points, "points", most_points);
  state_.begin(points, 1);
  const Context& context = state_.context();
  table_.resize_discarding(context, entries_for<D>(count));
  fill_bytes(context, table_.data(), 0xff, table_.size() * sizeof(occupied_cell));

  using rows_type = wide_row_major_numbering<D>;
  const rows_type rows{space_.cells};
  const cell_key<T, D, rows_type, center_anchor<T, D>> key_of{points, space_, rows, {}, state_.flag(), accept_outside_};
  pairs_.make(context, count, space_.size(), key_of);
  const enter_cell<D> enter{pairs_.keys(), numbering(), table_.data()};
  for_each(context, "cells.hashed.enter", count, enter);
  const write_range<D> write{pairs_.keys(), pairs_.elements(), count, numbering(), table_.data(), carried};
  for_each(context, "cells.hashed.write_ranges", count, write);
}

template <typename Context, typename T, int D>
void hashed_cells<Context, T, D>::check() {
  state_.check(space_, 0);
}

template class hashed_cells<backend_context, float, 2>;
template class hashed_cells<backend_context, float, 3>;
template class hashed_cells<backend_context, double, 2>;
template class hashed_cells<backend_context, double, 3>;

}  // namespace quadrat
