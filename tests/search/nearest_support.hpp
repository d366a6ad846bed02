// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/reduced_lattice.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/search/make_nearest_neighbors.hpp"
#include "reference/nearest_neighbors.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Shared by the tests of nearest neighbors: results on the host, and the comparison with the reference.

namespace quadrat::test {

using reference::nearest_entry;
using reference::nearest_problem;

/// A result on the host.
template <typename T, int D>
struct nearest_rows {
  std::size_t k = 0;
  std::vector<particle_id> neighbors;
  std::vector<T> squared;
  std::vector<vec<int, D>> shifts;

  bool operator==(const nearest_rows&) const = default;
};

template <typename T, int D>
[[nodiscard]] nearest_rows<T, D> rows_of(const backend_context& context,
                                         const nearest_neighbors<backend_context, T, D>& found) {
  const auto view = found.view();
  const std::size_t entries = view.rows * view.k;
  nearest_rows<T, D> rows{
      view.k, to_host(context, view.neighbors, entries), to_host(context, view.squared_distances, entries), {}};
  if (view.shifts != nullptr) rows.shifts = to_host(context, view.shifts, entries);
  return rows;
}

template <typename T, int D>
[[nodiscard]] nearest_rows<T, D> find_nearest(const backend_context& context, const nearest_problem<T, D>& problem) {
  auto nearest = make_nearest_neighbors(context, problem.box, problem.options);
  const auto points = to_device(context, problem.points);
  nearest.build(points_of(points));
  if (problem.with_queries) {
    const auto queries = to_device(context, problem.queries);
    nearest.search(points_of(queries));
  } else {
    nearest.search();
  }
  return rows_of(context, nearest);
}

/// A bound on the error of squared distances whose points were wrapped from far away, with another rounding.
template <typename T, int D>
[[nodiscard]] double rounding_of_wrapping(const nearest_problem<T, D>& problem, double squared) {
  double size = 0;
  for (const auto* points : {&problem.points, &problem.queries}) {
    for (const vec<T, D>& point : *points) {
      for (int axis = 0; axis < D; ++axis) size = std::fmax(size, std::fabs(static_cast<double>(point[axis])));
    }
  }
  const double error = 4 * D * static_cast<double>(std::numeric_limits<T>::epsilon()) * size;
  return (2 * std::sqrt(squared) + error) * error;
}

/// The row of the reference in the box that is searched, with the shifts of the given one: what is equally far away is
/// in the order of the box that is searched, and distances have its rounding.
template <typename T, int D>
[[nodiscard]] std::vector<nearest_entry<T, D>> wanted_row(nearest_problem<T, D> problem, std::size_t i) {
  const auto searched = detail::reduced(problem.box, true);
  problem.box = searched.shape;
  auto row = reference::nearest_row(problem, i);
  for (auto& entry : row) {
    if (searched.changed) entry.shift = searched.map.to_given(entry.shift);
  }
  return row;
}

/// CPU: the same bits as the reference. GPU: distances of each row agree to rounding; ids and shifts belong to them.
template <typename T, int D>
void expect_row(const nearest_problem<T, D>& problem, const nearest_rows<T, D>& rows, std::size_t i) {
  const auto wanted = wanted_row(problem, i);
  for (std::size_t place = 0; place < rows.k; ++place) {
    const std::size_t entry = i * rows.k + place;
    if (place >= wanted.size()) {
      ASSERT_EQ(rows.neighbors[entry], no_particle) << "row " << i << ", place " << place;
      ASSERT_EQ(rows.squared[entry], std::numeric_limits<T>::infinity());
      if (!rows.shifts.empty()) {
        ASSERT_EQ(rows.shifts[entry], (vec<int, D>{}));
      }
      continue;
    }
#if QUADRAT_BACKEND_CPU
    ASSERT_EQ(rows.squared[entry], wanted[place].squared) << "row " << i << ", place " << place;
    ASSERT_EQ(rows.neighbors[entry], wanted[place].j) << "row " << i << ", place " << place;
    if (!rows.shifts.empty()) {
      ASSERT_EQ(rows.shifts[entry], wanted[place].shift) << "row " << i << ", place " << place;
    }
#else
    const double expected = static_cast<double>(wanted[place].squared);
    ASSERT_NEAR(static_cast<double>(rows.squared[entry]), expected,
                64 * std::numeric_limits<T>::epsilon() * (1 + expected) + rounding_of_wrapping(problem, expected))
        << "row " << i << ", place " << place;
    ASSERT_LT(rows.neighbors[entry], problem.points.size());
#endif
  }
}

template <typename T, int D>
void expect_nearest(const nearest_problem<T, D>& problem, std::size_t stride = 1) {
  const auto rows = find_nearest(backend_context(), problem);
  const std::size_t count = problem.with_queries ? problem.queries.size() : problem.points.size();
  ASSERT_EQ(rows.neighbors.size(), count * problem.options.k);
  for (std::size_t i = 0; i < count; i += stride) {
    expect_row(problem, rows, i);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace quadrat::test
