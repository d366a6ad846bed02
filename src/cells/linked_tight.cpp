// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/cells/linked_tight.hpp"

#include "cells/build_and_check.hpp"
#include "cells/checks.hpp"
#include "cells/linked_build.hpp"
#include "cells/ordered_pairs_build.hpp"
#include "core/backend.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

/// The links of one particle's entries, written with 16-byte stores.
template <int D>
struct alignas(16) entry_links {
  std::uint32_t next[1 << D];
};

/// Inserts all entries of particle i. The exchanges do not wait for each other; the links are stored together.
template <typename T, int D>
struct insert_entries {
  points_view<T, D> points;
  grid<T, D> space;
  row_major_numbering<D> numbering;
  touch_rule<T, D> touch;
  std::uint32_t* heads;
  entry_links<D>* links;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    const vec<T, D> point = points[i];
    check_point(space.domain, point, i, faults);
    entry_links<D> former_heads{};
    touch.for_each(space, numbering, space.domain.wrap(point), [&](cell_id cell, std::uint32_t mask) {
      const std::uint32_t entry = static_cast<std::uint32_t>(i) << D | mask;
      former_heads.next[mask] = atomic_exchange(heads + cell, entry);
    });
    links[i] = former_heads;
  }
};

/// The cell of an entry; `absent`, one past the last cell, if the particle's box touches no such cell.
template <typename T, int D>
struct entry_key {
  points_view<T, D> points;
  grid<T, D> space;
  row_major_numbering<D> numbering;
  touch_rule<T, D> touch;
  cell_id absent;
  fault_flag faults;

  QUADRAT_HD cell_id operator()(std::size_t entry) const {
    const std::size_t i = entry >> D;
    const auto wanted = static_cast<std::uint32_t>(entry) & ((1u << D) - 1);
    const vec<T, D> point = points[i];
    check_point(space.domain, point, i, faults);
    cell_id found = absent;
    touch.for_each(space, numbering, space.domain.wrap(point), [&](cell_id cell, std::uint32_t mask) {
      if (mask == wanted) found = cell;
    });
    return found;
  }
};

}  // namespace

template <typename Context, typename T, int D>
linked_tight_cells<Context, T, D>::linked_tight_cells(const Context& context, const grid<T, D>& space,
                                                      const cell_list_options<T>& options)
    : given_(detail::checked_grid(space, options.fold_reach > T(0) ? any_number_of_cells : max_count),
             options.fold_reach),
      fit_(given_.current(), options.radius),
      state_(context) {}

/// The last head collects the absent entries.
template <typename Context, typename T, int D>
void linked_tight_cells<Context, T, D>::reserve(std::size_t points) {
  detail::require_count(points, "points", most_points);
  state_.reserve(points, fitted(points).numbering().bound(), [&](std::size_t elements, std::size_t cells) {
    const Context& context = state_.context();
    heads_.resize_discarding(context, cells + 1);
    nexts_.resize_discarding(context, elements << D);
    if (context.reproducibility() != determinism::none) pairs_.reserve(context, elements << D, cells + 1);
  });
}

template <typename Context, typename T, int D>
void linked_tight_cells<Context, T, D>::build(const points_view<T, D>& points) {
  detail::build_and_check(
      *this, state_, points, [&] { build_async(points); }, most_points);
}

template <typename Context, typename T, int D>
void linked_tight_cells<Context, T, D>::build_async(const points_view<T, D>& points) {
  detail::require_points(points, "points", most_points);
  const fit wanted = fitted(points.size());
  const row_major_numbering<D> numbering = wanted.numbering();
  const std::size_t cells = numbering.bound();
  state_.begin(points, cells);
  given_.take(given_.fitted(points.size()), points.size());
  fit_ = wanted;
  const Context& context = state_.context();
  const std::size_t entries = points.size() << D;
  heads_.resize_discarding(context, cells + 1);
  nexts_.resize_discarding(context, entries);
  fill_bytes(context, heads_.data(), 0xff, heads_.size() * sizeof(std::uint32_t));
  if (context.reproducibility() == determinism::none) {
    auto* links = reinterpret_cast<entry_links<D>*>(nexts_.data());
    const insert_entries<T, D> body{points, fit_.space, numbering, fit_.touch, heads_.data(), links, state_.flag()};
    for_each(context, "cells.linked_tight.insert", points.size(), body);
    return;
  }
  const entry_key<T, D> key_of{points, fit_.space, numbering, fit_.touch, static_cast<cell_id>(cells), state_.flag()};
  pairs_.make(context, entries, cells + 1, key_of);
  const detail::link_in_order body{pairs_.keys(), pairs_.elements(), entries, heads_.data(), nexts_.data()};
  for_each(context, "cells.linked_tight.link_in_order", entries, body);
}

template <typename Context, typename T, int D>
void linked_tight_cells<Context, T, D>::check() {
  state_.check(fit_.space, 0);
}

template class linked_tight_cells<backend_context, float, 2>;
template class linked_tight_cells<backend_context, float, 3>;
template class linked_tight_cells<backend_context, double, 2>;
template class linked_tight_cells<backend_context, double, 3>;

}  // namespace quadrat
