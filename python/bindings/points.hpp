// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "arrays.hpp"

namespace quadrat::python {

/// Of the points of a call, or of its queries.
struct point_arrays {
  given_array points;
  std::optional<given_array> queries{};

  void receive(worker& reader) {
    points.receive(reader);
    if (queries) queries->receive(reader);
  }
  [[nodiscard]] int dimension() const { return static_cast<int>(points.shape()[1]); }
  [[nodiscard]] bool wide() const { return is_wide(points.type()); }
  [[nodiscard]] std::optional<quadrat_points> queries_given() const {
    return queries ? std::optional(queries->points()) : std::nullopt;
  }
  [[nodiscard]] std::size_t rows() const { return (queries ? *queries : points).shape()[0]; }
};

[[nodiscard]] inline point_arrays point_arrays_from(nb::handle points, nb::handle queries,
                                                    const origin_of_arrays& where) {
  point_arrays result{points_from(points, where, 2)};
  if (!queries.is_none()) {
    result.queries = points_from(queries, where, 2, "queries", result.points.type(), result.dimension());
  }
  return result;
}

/// Real numbers of the points' type, one for each of them; nothing for None.
[[nodiscard]] std::optional<given_array> reals_by_point(nb::handle value, const char* name, const given_array& points,
                                                        const origin_of_arrays& where);

}  // namespace quadrat::python
