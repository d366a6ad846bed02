// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "cells/build_and_check.hpp"
#include "cells/checks.hpp"
#include "core/point_checks.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace detail {

template <template <int> class Numbering, int D>
[[nodiscard]] Numbering<D> number_cells(std::type_identity<Numbering<D>>, const vec<int, D>& cells) {
  return make_numbering<Numbering>(cells);
}

/// The given grid, checked. For low_vertex_anchor it has more slack, for one more subtraction and wrap.
template <typename Anchor, typename T, int D>
[[nodiscard]] foldable_grid<T, D> prepare_grid(const grid<T, D>& given, const cell_list_options<T>& options,
                                               bool cubic) {
  grid<T, D> space = checked_grid(given, options.fold_reach > T(0) ? any_number_of_cells : max_count);
  if constexpr (std::is_same_v<Anchor, low_vertex_anchor<T, D>>) {
    for (int axis = 0; axis < D; ++axis) {
      space.slack[axis] = 2 * space.slack[axis] + 8 * std::numeric_limits<T>::epsilon() * options.radius;
    }
  }
  return {space, options.fold_reach, cubic};
}

template <typename Anchor, typename T>
[[nodiscard]] Anchor make_anchor(std::string_view method, T radius) {
  if constexpr (std::is_empty_v<Anchor>) {
    return {};
  } else {
    require_radius(method, radius);
    return {radius};
  }
}

template <typename Buckets, typename T>
[[nodiscard]] Buckets make_buckets(const cell_list_options<T>& options) {
  if constexpr (std::is_constructible_v<Buckets, std::uint32_t>) {
    require(options.fixed_capacity <= max_count, "the capacity of a cell is ", options.fixed_capacity, "; at most ",
            max_count, " is possible, and 0 lets the library choose");
    return Buckets(options.fixed_capacity);
  } else {
    return Buckets();
  }
}

template <typename Buckets>
[[nodiscard]] std::uint64_t capacity_of(const Buckets& buckets) {
  if constexpr (requires { buckets.capacity(); }) {
    return buckets.capacity();
  } else {
    return 0;
  }
}

}  // namespace detail

template <typename Method, typename Context, typename T, int D>
grid_cells<Method, Context, T, D>::grid_cells(const Context& context, const grid<T, D>& space,
                                              const cell_list_options<T>& options)
    : anchor_(detail::make_anchor<anchor_type>(name, options.radius)),
      space_(detail::prepare_grid<anchor_type>(space, options, !numbering_type::rows_are_contiguous)),
      numbering_(detail::number_cells(std::type_identity<numbering_type>{}, space_.current().stored)),
      buckets_(detail::make_buckets<buckets_type>(options)),
      state_(context),
      accept_outside_(options.accept_outside) {}

template <typename Method, typename Context, typename T, int D>
auto grid_cells<Method, Context, T, D>::fitted(std::size_t points) const -> fit {
  if (!space_.changes(points)) return {space_.current(), numbering_};
  const grid<T, D> space = space_.fitted(points);
  return {space, detail::number_cells(std::type_identity<numbering_type>{}, space.stored)};
}

template <typename Method, typename Context, typename T, int D>
void grid_cells<Method, Context, T, D>::reserve(std::size_t points) {
  detail::require_count(points, "points");
  state_.reserve_in(buckets_, points, fitted(points).numbering.bound());
}

template <typename Method, typename Context, typename T, int D>
auto grid_cells<Method, Context, T, D>::begin_build(const points_view<T, D>& points) -> key_type {
  detail::require_points(points, "points");
  const fit wanted = fitted(points.size());
  state_.begin(points, wanted.numbering.bound());
  space_.take(wanted.space, points.size());
  numbering_ = wanted.numbering;
  return {points, wanted.space, numbering_, anchor_, state_.flag(), accept_outside_};
}

template <typename Method, typename Context, typename T, int D>
void grid_cells<Method, Context, T, D>::build_async(const points_view<T, D>& points) {
  const key_type key_of = begin_build(points);
  buckets_.build(state_.context(), points.size(), numbering_.bound(), key_of, key_of.faults);
}

template <typename Method, typename Context, typename T, int D>
void grid_cells<Method, Context, T, D>::build(const points_view<T, D>& points) {
  detail::build_and_check(*this, state_, points, [&] { build_async(points); });
}

template <typename Method, typename Context, typename T, int D>
void grid_cells<Method, Context, T, D>::build_and_carry_async(const points_view<T, D>& points,
                                                              std::span<const carried_array> arrays)
  requires buckets_type::carries_data
{
  const detail::carried_arrays carried = detail::checked_arrays(arrays, points.size());
  const key_type key_of = begin_build(points);
  buckets_.build(state_.context(), points.size(), numbering_.bound(), key_of, key_of.faults, carried);
}

template <typename Method, typename Context, typename T, int D>
void grid_cells<Method, Context, T, D>::build_and_carry(const points_view<T, D>& points,
                                                        std::span<const carried_array> arrays)
  requires buckets_type::carries_data
{
  detail::build_and_check(*this, state_, points, [&] { build_and_carry_async(points, arrays); });
}

template <typename Method, typename Context, typename T, int D>
void grid_cells<Method, Context, T, D>::check() {
  state_.check(space_.current(), detail::capacity_of(buckets_));
}

}  // namespace quadrat
