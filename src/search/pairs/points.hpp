// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/search/listed_pairs.hpp"
#include "search/search.hpp"

namespace quadrat::detail {

/// Index: point. Copies the caller's values that the functions of visit_list.hpp read.
template <typename T, int D>
struct keep_pair_points {
  neighbor_search<T, D> search;
  pair_point<T, D>* points;
  vec<int, D>* homes;      ///< nullptr: not kept
  std::uint32_t* systems;  ///< nullptr: one system

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t system = search.system_at(search.system_of_point, i);
    vec<int, D> boxes{};
    pair_point<T, D> point{search.wrapped_point(static_cast<particle_id>(i), system, boxes), T(0)};
    if (search.rule == cutoff_rule::table_of_types) {
      // Types out of range are reported; they must not be used as an index.
      point.property = static_cast<T>(search.types[i] < search.type_count ? search.types[i] : 0);
    } else if (search.rule != cutoff_rule::uniform) {
      point.property = search.radii[i];
    }
    points[i] = point;
    if (homes != nullptr) homes[i] = boxes;
    if (systems != nullptr) systems[i] = system;
  }
};

/// The points of the last build or update.
template <typename Context, typename T, int D>
struct kept_points {
  array<pair_point<T, D>, Context> points;
  array<vec<int, D>, Context> homes;
  array<std::uint32_t, Context> systems;
  array<lattice<T, D>, Context> shapes;  ///< of several systems
  std::uint64_t shapes_number = 0;       ///< the boxes_number of these shapes

  void resize(const Context& context, std::size_t count, bool keeps_homes, bool keeps_systems) {
    points.resize_discarding(context, count);
    if (keeps_homes) homes.resize_discarding(context, count);
    if (keeps_systems) systems.resize_discarding(context, count);
  }
  [[nodiscard]] std::size_t bytes() const { return points.bytes() + homes.bytes() + systems.bytes() + shapes.bytes(); }
};

}  // namespace quadrat::detail
