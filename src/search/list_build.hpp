// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "cells/counting_build.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "search/checks.hpp"
#include "search/list_implementation.hpp"
#include "search/sort.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
detail::neighbor_search<T, D> neighbor_list<Context, T, D>::implementation::search(const neighbor_input<T, D>& input) {
  detail::neighbor_search<T, D> result{};
  result.points = input.points;
  result.own_queries = input.queries.has_value();
  result.queries = input.queries.value_or(points_view<T, D>{});
  result.systems = systems.data();
  result.system_count = static_cast<std::uint32_t>(boxes.size());
  result.system_of_point = input.system_of_point;
  result.system_of_query = input.system_of_query;
  result.records = records.data();
  result.reach = options.cutoff + options.skin;
  result.squared_reach = result.reach * result.reach;
  result.skin = options.skin;
  result.rule = options.rule;
  result.half = options.pairs == neighbor_pairs::half;
  result.radii = input.radii;
  result.types = input.types;
  result.type_count = options.rule == cutoff_rule::table_of_types ? detail::type_count(options) : 0;
  result.type_cutoffs = type_cutoffs.data();
  result.excluded_offsets = input.excluded_offsets;
  result.excluded = input.excluded;
  return result;
}

template <typename Context, typename T, int D>
detail::neighbor_sink<T, D> neighbor_list<Context, T, D>::implementation::sink(bool refuse) {
  return {matrix() ? nullptr : offsets.data(),
          counts.data(),
          options.width,
          capacity,
          options.sorted ? keys.data() : nullptr,
          neighbors.data(),
          options.layout == neighbor_layout::pairs ? first.data() : nullptr,
          options.squared_distances ? squared_distances.data() : nullptr,
          options.vectors ? vectors.data() : nullptr,
          keeps_shifts() ? shifts.data() : nullptr,
          faults(),
          control.data() + size_word,
          refuse};
}

template <typename Context, typename T, int D>
detail::masks_search<T, D> neighbor_list<Context, T, D>::implementation::masks(
    const detail::neighbor_search<T, D>& what) {
  const bool long_rows = words_a_row >= detail::masks_of_long_rows;
  return {what,
          first_system,
          any_periodic,
          by_warps(),
          small_boxes,
          static_cast<std::uint32_t>(rows),
          small() ? small_elements.data() : buckets.view().elements,
          positions_xy.data(),
          positions_z.data(),
          mask_words.data(),
          words_a_row,
          long_rows ? words_a_row : std::size_t{1},
          long_rows ? std::size_t{1} : rows,
          mask_shares.data(),
          control.data() + masks_word};
}

template <typename Context, typename T, int D>
detail::sweeps_search<T, D> neighbor_list<Context, T, D>::implementation::sweeps(
    const detail::neighbor_search<T, D>& what) {
  return {
      what, cells, buckets.view().elements, coordinates.data(), slot_ids.data(), point_count + detail::sweeps_padding};
}

template <typename Context, typename T, int D>
detail::walk_search<T, D> neighbor_list<Context, T, D>::implementation::walk(
    const detail::neighbor_search<T, D>& what) {
  detail::walking_order order{};
  detail::neighbor_method_list::with("neighbor method", method, [&](auto named) { order = decltype(named)::order; });
  return {what, first_system, slot_boxes(), order};
}

/// See walk_search.
template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::walks_plainly(const detail::neighbor_search<T, D>& what) const {
  return one_system() && !what.own_queries && what.rule == cutoff_rule::uniform && what.excluded_offsets == nullptr &&
         static_cast<double>(point_count) * detail::most_images(first_system.shape, what.reach) < 4294967296.0;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::count_by_walk(const detail::neighbor_search<T, D>& what) {
  const auto by = [&]<bool Plain>() {
    for_each(context, "search.count", rows, detail::count_row<T, D, Plain>{walk(what), counts.data(), faults()});
  };
  walks_plainly(what) ? by.template operator()<true>() : by.template operator()<false>();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::fill_by_walk(const detail::neighbor_search<T, D>& what,
                                                                const detail::neighbor_sink<T, D>& to) {
  const auto by = [&]<bool Plain>() {
    for_each(context, "search.fill", rows, detail::fill_row<T, D, Plain>{walk(what), to, rows});
  };
  walks_plainly(what) ? by.template operator()<true>() : by.template operator()<false>();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_cells(const neighbor_input<T, D>& input) {
  detail::neighbor_search<T, D> what = search(input);
  const detail::search_key<T, D> key{what, options.accept_outside, faults()};
  if (small()) {
    const detail::search_key_of_one<T, D> key_of_one{key, first_system};
    if constexpr (cuda) {
      detail::enqueue_small_cells(context, key_of_one, point_count, cells,
                                  {small_offsets.data(), small_elements.data(), records.data(), split()});
    }
  } else {
    if (one_system()) {
      buckets.build(context, point_count, cells, detail::search_key_of_one<T, D>{key, first_system}, faults());
    } else {
      buckets.build(context, point_count, cells, key, faults());
    }
    gather(what);
  }
  if (what.own_queries) for_each(context, "search.check_queries", rows, detail::check_queries<T, D>{key});
  if (options.skin > T(0)) {
    for_each(context, "search.remember", input.points.count, detail::remember_points<T, D>{what, memory()});
  }
}

/// Points in the order of their cells.
template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::gather(const detail::neighbor_search<T, D>& what) {
  if constexpr (!cuda) {
    if (by_sweeps()) return detail::gather_for_sweeps(context, sweeps(what));
  }
  const T most_radius = options.rule == cutoff_rule::sum_of_radii ? options.cutoff / 2 : options.cutoff;
  const detail::gather_search_points<T, D> body{
      what, buckets.view().elements, most_radius, faults(), records.data(), slot_boxes(), split()};
  for_each(context, "search.gather", point_count, body);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_row_counts(const neighbor_input<T, D>& input) {
  detail::neighbor_search<T, D> what = search(input);
  what.cell_offsets = small() ? small_offsets.data() : buckets.view().offsets;
  if constexpr (cuda) {
    if (by_masks()) {
      detail::enqueue_masks(context, masks(what), counts.data());
    }
  } else if (by_sweeps()) {
    detail::count_by_sweeps(context, sweeps(what), counts.data());
  }
  if (!by_masks() && !by_sweeps()) count_by_walk(what);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_counts(const neighbor_input<T, D>& input) {
  enqueue_row_counts(input);
  if (matrix()) return;
  exclusive_scan_with_total(context, counts.data(), offsets.data(), rows, scratch);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_entries(const neighbor_input<T, D>& input, bool refuse) {
  detail::neighbor_search<T, D> what = search(input);
  what.cell_offsets = small() ? small_offsets.data() : buckets.view().offsets;
  const detail::neighbor_sink<T, D> to = sink(refuse);
  if constexpr (cuda) {
    if (by_masks()) {
      detail::enqueue_entries_of_masks(context, masks(what), to);
    }
  } else if (by_sweeps()) {
    detail::fill_by_sweeps(context, sweeps(what), to);
  }
  if (!by_masks() && !by_sweeps()) fill_by_walk(what, to);
  if (!options.sorted) return;
  detail::sort_rows(context, {to.offsets, to.counts, to.width, to.capacity, rows, to.keys});
  constexpr unsigned lanes = cuda ? 32 : 1;
  for_each(context, "search.expand", lanes * rows, detail::expand_row<T, D>{what, to, lanes});
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::enqueue_size_of_counts() {
  const detail::count_of_row body{counts.data()};
  reduce_into(context, "search.size", rows, body, plus_operation{}, std::uint64_t{0}, control.data() + size_word,
              scratch);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build(const neighbor_input<T, D>& input) {
  state = stage::failed;
  failure = nullptr;
  replayed = false;
  prepare(input);
  if (rows == 0) fill_bytes(context, control.data() + size_word, 0, sizeof(std::uint64_t));
  enqueue_cells(input);
  if (matrix()) {
    grow(static_cast<std::uint64_t>(rows) * options.width);
    if (by_masks()) enqueue_counts(input);
    enqueue_entries(input, true);
    enqueue_size_of_counts();
    read_control();
    return;
  }
  enqueue_counts(input);
  if (capacity > 0) {
    enqueue_entries(input, false);
  } else {
    for_each(context, "search.size", 1, detail::report_size<T, D>{sink(false), rows});
  }
  read_control();
  if (size <= capacity) return;
  // The first time, or more pairs than ever: the counts stand, the entries follow.
  state = stage::failed;
  grow(size);
  if (grow_masks()) enqueue_counts(input);
  enqueue_entries(input, false);
  state = stage::built;
}

/// Rows that need more masks than there are room for would be searched twice. Says whether the counting must be done
/// again to fill the new room, which is at most that of the list.
template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::implementation::grow_masks() {
  if (!by_masks() || by_warps()) return false;
  const std::uint64_t fair = size * sizeof(particle_id) / (rows * sizeof(detail::candidate_mask));
  const std::uint64_t wanted = std::min(most_masks, fair);
  if (wanted <= words_a_row) return false;
  words_a_row = static_cast<std::uint32_t>(wanted);
  mask_words.resize_discarding(context, wanted * rows);
  return true;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::build_asynchronously(const neighbor_input<T, D>& input) {
  detail::check_neighbor_input(options, input);
  const std::size_t asked = input.queries.has_value() ? input.queries->count : input.points.count;
  require(prepared, "build has not been called; it finds the memory that build_asynchronously works in");
  require(input.points.count == point_count && asked == rows, "there are ", input.points.count, " points and ", asked,
          " rows, but the last build had ", point_count, " and ", rows,
          "; build_asynchronously works in the memory of that build");
  require(detail::same_boxes(boxes, input.boxes), "the boxes are not those of the last build; call build");
  require(given_systems == (input.system_of_point != nullptr),
          "system_of_point was given to one of this build and the last, and not to the other; call build");
  require(!(by_masks() || by_sweeps()) || detail::masks_serve_input(options, input), "the method of the last build, ",
          method, ", does not serve queries or excluded pairs; call build");
  last = input;
  last.boxes = {};
  failure = nullptr;
  enqueue_cells(input);
  if (!matrix() || by_masks()) enqueue_counts(input);
  enqueue_entries(input, true);
  if (matrix()) enqueue_size_of_counts();
  state = stage::built;
  replayed = true;
}

}  // namespace quadrat
