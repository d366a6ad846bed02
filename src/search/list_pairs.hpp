// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/checks.hpp"
#include "search/list.hpp"
#include "search/pairs/select.hpp"
#include "search/request.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::implementation::keep_points(const neighbor_input<T, D>& input) {
  for_each(context, "search.keep_points", input.points.count,
           detail::keep_pair_points<T, D>{search(input), kept.points.data(),
                                          results.keeps_shifts() ? kept.homes.data() : nullptr,
                                          given_systems ? kept.systems.data() : nullptr});
}

namespace detail {

/// Whether the nearest image of a point is the only one that the list can hold. Without shifts it must be.
template <typename T, int D>
[[nodiscard]] bool lists_nearest_images(std::span<const lattice<T, D>> boxes, T reach, bool shifts) {
  const T least = static_cast<T>(boxes_of_nearest_image) * reach;
  for (const lattice<T, D>& shape : boxes) {
    for (int axis = 0; axis < D; ++axis) {
      if (!shape.periodic[axis] || shape.height(axis) >= least) continue;
      require(shifts, "the height of the box along its periodic vector ", axis, " is ", shape.height(axis),
              ", so several images of a point may be listed; the pairs of such a list need options.shifts, or boxes of "
              "at least ",
              least);
      return false;
    }
  }
  return true;
}

}  // namespace detail

template <typename Context, typename T, int D>
listed_pairs<T, D> neighbor_list<Context, T, D>::implementation::pairs() const {
  require(!last.queries.has_value(),
          "the list was built for queries; sums over pairs need the neighbors of the points");
  require(keeps_points(), "the list keeps no points; give it a skin, or set options.keeps_points");
  const bool nearest = detail::lists_nearest_images<T, D>(boxes, options.cutoff + options.skin, results.keeps_shifts());
  const neighbor_list_view<T, D> entries = results.view(rows);
  listed_pairs<T, D> result{};
  result.rows = rows;
  result.width = entries.width;
  result.capacity = results.capacity();
  result.offsets = entries.offsets;
  result.counts = entries.counts;
  result.neighbors = entries.neighbors;
  result.shifts = nearest ? nullptr : results.shifts();
  result.points = kept.points.data();
  result.homes = kept.homes.data();
  result.system_of_point = given_systems ? kept.systems.data() : nullptr;
  result.shapes = kept.shapes.data();
  result.shape = boxes.front();
  result.half = options.pairs == neighbor_pairs::half;
  result.rule = options.rule;
  result.cutoff = options.cutoff;
  result.type_cutoffs = type_cutoffs.data();
  result.type_count = options.rule == cutoff_rule::table_of_types ? detail::type_count(options) : 0;
  result.version = version;
  if constexpr (!cuda) result.select = detail::fastest_selection<T, D>();
  return result;
}

}  // namespace quadrat
