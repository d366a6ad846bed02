// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "core/memory_check.hpp"
#include "quadrat/core/error.hpp"
#include "search/checks.hpp"
#include "search/list_implementation.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
neighbor_list<Context, T, D>::implementation::implementation(const Context& where, const neighbor_options<T>& chosen)
    : context(where), options(chosen), control(where, control_words) {
  detail::check_neighbor_options(options, cuda);
  fill_bytes(context, control.data(), 0, control.bytes());
  fill_bytes(context, control.data() + fault_word, 0xff, sizeof(std::uint64_t));
  if (options.rule == cutoff_rule::table_of_types) type_cutoffs = to_device(context, options.type_cutoffs);
}

template <typename Context, typename T, int D>
std::size_t neighbor_list<Context, T, D>::implementation::bytes() const {
  return offsets.bytes() + counts.bytes() + neighbors.bytes() + first.bytes() + squared_distances.bytes() +
         vectors.bytes() + shifts.bytes() + systems.bytes() + type_cutoffs.bytes() + buckets.bytes() +
         small_offsets.bytes() + small_elements.bytes() + records.bytes() + positions_xy.bytes() + positions_z.bytes() +
         coordinates.bytes() + slot_ids.bytes() + boxes_by_slot.bytes() + remembered.bytes() + properties.bytes() +
         boxes_since.bytes() + turns.bytes() + keys.bytes() + mask_words.bytes() + mask_shares.bytes() +
         control.bytes() + scratch.bytes();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::grow(std::uint64_t entries) {
  if (entries <= capacity) return;
  const std::size_t entry_bytes =
      sizeof(particle_id) * (options.layout == neighbor_layout::pairs ? 2 : 1) +
      (options.squared_distances ? sizeof(T) : 0) + (options.vectors ? sizeof(vec<T, D>) : 0) +
      (options.shifts ? sizeof(vec<int, D>) : 0) + (options.sorted ? sizeof(std::uint64_t) : 0);
  detail::require_memory(context.memory(), message("a neighbor list with room for ", entries, " pairs"),
                         entries * entry_bytes, capacity * entry_bytes, "To count neighbors takes no room for pairs");
  capacity = 0;
  neighbors.resize_discarding(context, entries);
  if (options.layout == neighbor_layout::pairs) first.resize_discarding(context, entries);
  if (options.squared_distances) squared_distances.resize_discarding(context, entries);
  if (options.vectors) vectors.resize_discarding(context, entries);
  if (keeps_shifts()) shifts.resize_discarding(context, entries);
  if (options.sorted) keys.resize_discarding(context, entries);
  capacity = entries;
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::choose_method(const neighbor_input<T, D>& input) {
  const bool serve = boxes_of_one_image && detail::masks_serve_input(options, input);
  if (!options.method.empty()) {
    detail::neighbor_method_list::with("neighbor method", options.method,
                                       [&](auto named) { method = decltype(named)::name; });
    reason = "asked for";
    require(!(by_masks() || by_sweeps()) || serve, "the neighbor method ", method,
            " was asked for; it serves "
            "orthorhombic boxes, of which no periodic axis is shorter than 1.1 cutoffs, with the uniform rule, without "
            "queries, excluded pairs or points outside");
  } else if (cuda && QUADRAT_HAS_CUDA && serve) {
    const bool small = input.points.count <= detail::warps_most_points;
    method = small ? detail::neighbor_search_methods::warps::name : detail::neighbor_search_methods::masks::name;
    reason = message("orthorhombic boxes and one cutoff on a GPU, ", small ? "at most " : "more than ",
                     detail::warps_most_points, " points");
  } else if (!cuda && input.points.count > 64 && serve) {
    method = detail::neighbor_search_methods::sweeps::name;
    reason = "orthorhombic boxes and one cutoff on a CPU";
  } else if (input.points.count <= 64) {
    method = detail::neighbor_search_methods::brute_force::name;
    reason = "at most 64 points, fewer than a neighborhood of cells would hold";
  } else {
    method = detail::neighbor_search_methods::strips::name;
    reason = "rows of cells are the longest ranges that a search can read";
  }
  small_boxes = by_masks() && !by_warps() && boxes_of_nearest_image && input.boxes.size() > 1 &&
                input.points.count <= detail::all_pairs_most_points * input.boxes.size();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::set_boxes(std::span<const lattice<T, D>> given, std::size_t count) {
  const T reach = options.cutoff + options.skin;
  bool one_cell = false;
  detail::neighbor_method_list::with("neighbor method", method,
                                     [&](auto named) { one_cell = decltype(named)::one_cell; });
  // More cells than points would only be empty ones.
  const std::size_t most = one_cell || small_boxes ? 1 : std::size_t{64} + 4 * count;
  vec<T, D> edges = vec<T, D>::filled(reach);
  if (by_masks() || by_sweeps()) edges[0] /= T(detail::masks_cells_along_first_axis);
  const auto made = detail::make_search_systems(given, edges, reach, most);
  first_system = made.front();
  any_periodic = false;
  double volume = 0;
  for (const lattice<T, D>& shape : given) {
    double product = 1;
    for (int axis = 0; axis < D; ++axis) product *= static_cast<double>(shape.height(axis) / reach);
    volume += product;
    for (int axis = 0; axis < D; ++axis) any_periodic = any_periodic || shape.periodic[axis];
  }
  words_a_row = small_boxes ? static_cast<std::uint32_t>(count / given.size() / 20 + 2)
                            : detail::masks_a_row<D>(static_cast<double>(count) / volume);
  cells = detail::cell_count(made);
  systems = to_device(context, made);
  boxes.assign(given.begin(), given.end());
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::prepare(const neighbor_input<T, D>& input) {
  prepared = false;
  detail::check_neighbor_input(options, input);
  given_systems = input.system_of_point != nullptr;
  const bool other_size = input.points.count > 2 * point_count || 2 * input.points.count < point_count;
  const bool other_boxes = !detail::same_boxes(boxes, input.boxes);
  if (other_boxes) {
    boxes.clear();
    boxes_of_one_image = detail::boxes_hold(options, input.boxes, static_cast<T>(detail::boxes_of_one_image));
    boxes_of_nearest_image = detail::boxes_hold(options, input.boxes, static_cast<T>(detail::boxes_of_nearest_image));
  }
  const std::string_view before = method;
  const bool small_before = small_boxes;
  choose_method(input);
  if (other_boxes || other_size || before != method || small_before != small_boxes) {
    set_boxes(input.boxes, input.points.count);
  }
  rows = input.queries.has_value() ? input.queries->count : input.points.count;
  require(!matrix() || rows == 0 || options.width <= (std::uint64_t{1} << 40) / rows, "a matrix of ", rows, " x ",
          options.width, " entries was asked for; at most 2^40 are possible");
  counts.resize_discarding(context, rows);
  if (!matrix()) offsets.resize_discarding(context, rows + 1);
  if (by_sweeps()) {
    coordinates.resize_discarding(context, D * (input.points.count + detail::sweeps_padding));
    slot_ids.resize_discarding(context, input.points.count + detail::sweeps_padding);
  } else {
    records.resize_discarding(context, input.points.count + detail::masks_padding);
  }
  point_count = input.points.count;
  if (by_masks() && !by_warps()) {
    mask_words.resize_discarding(context, static_cast<std::size_t>(words_a_row) * rows);
    mask_shares.resize_discarding(context, rows);
  }
  if (by_masks()) {
    positions_xy.resize_discarding(context, 2 * (point_count + detail::masks_padding));
    positions_z.resize_discarding(context, point_count + detail::masks_padding);
  }
  if (needs_slot_boxes()) boxes_by_slot.resize_discarding(context, point_count);
  if (small()) {
    small_offsets.resize_discarding(context, cells + 1);
    small_elements.resize_discarding(context, point_count);
  }
  if (options.skin > T(0)) {
    remembered.resize_discarding(context, point_count);
    properties.resize_discarding(context, point_count);
    if (keeps_shifts()) boxes_since.resize_discarding(context, point_count);
    if (keeps_shifts()) turns.resize_discarding(context, point_count);
  }
  last = input;
  last.boxes = {};
  prepared = true;
}

}  // namespace quadrat
