// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "reference/neighbor_list.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Shared by the tests of neighbor lists: a search with its input on the device, its list on the host, and the
// comparison with the reference.

namespace quadrat::test {

using reference::neighbor_entry;
using reference::neighbor_problem;
using reference::neighbor_result;

/// If one compiler compiles library and reference without contraction, they agree in bits; otherwise to within
/// rounding.
#if QUADRAT_BACKEND_CPU
inline constexpr bool same_bits = true;
#else
inline constexpr bool same_bits = false;
#endif

/// The names of the methods that this backend has.
[[nodiscard]] inline std::vector<std::string> methods_here() {
  std::vector<std::string> names;
  for (const neighbor_method& method : neighbor_methods()) {
    if (same_bits ? method.on_cpu : method.on_cuda) names.emplace_back(method.name);
  }
  return names;
}

/// A problem with its arrays on the device.
template <typename T, int D>
class neighbor_input_on_device {
 public:
  neighbor_input_on_device(const backend_context& context, const neighbor_problem<T, D>& problem)
      : problem_(problem),
        points_(to_device(context, problem.points)),
        system_of_point_(to_device(context, problem.system_of_point)),
        system_of_query_(to_device(context, problem.system_of_query)),
        radii_(to_device(context, problem.radii)),
        types_(to_device(context, problem.types)),
        radii_of_queries_(to_device(context, problem.radii_of_queries)),
        types_of_queries_(to_device(context, problem.types_of_queries)),
        excluded_offsets_(to_device(context, problem.excluded_offsets)),
        excluded_(to_device(context, problem.excluded)) {
    if (problem.queries) queries_ = to_device(context, *problem.queries);
  }

  [[nodiscard]] neighbor_input<T, D> input() const {
    neighbor_input<T, D> result;
    result.points = points_of(points_.data(), points_.size());
    result.boxes = problem_.boxes;
    result.system_of_point = unless_empty(system_of_point_);
    if (problem_.queries) result.queries = points_of(queries_.data(), queries_.size());
    result.system_of_query = unless_empty(system_of_query_);
    result.radii = unless_empty(radii_);
    result.types = unless_empty(types_);
    result.radii_of_queries = unless_empty(radii_of_queries_);
    result.types_of_queries = unless_empty(types_of_queries_);
    result.excluded_offsets = unless_empty(excluded_offsets_);
    result.excluded = unless_empty(excluded_);
    return result;
  }
  [[nodiscard]] array<vec<T, D>, backend_context>& points() { return points_; }

 private:
  template <typename U>
  static const U* unless_empty(const array<U, backend_context>& values) {
    return values.size() == 0 ? nullptr : values.data();
  }

  const neighbor_problem<T, D>& problem_;
  array<vec<T, D>, backend_context> points_, queries_;
  array<std::uint32_t, backend_context> system_of_point_, system_of_query_;
  array<T, backend_context> radii_;
  array<std::uint32_t, backend_context> types_;
  array<T, backend_context> radii_of_queries_;
  array<std::uint32_t, backend_context> types_of_queries_;
  array<std::uint64_t, backend_context> excluded_offsets_;
  array<particle_id, backend_context> excluded_;
};

/// A list on the host. Fields that were not requested are zero.
template <typename T, int D>
struct neighbor_list_on_host {
  std::size_t rows = 0;
  std::vector<neighbor_entry<T, D>> entries;  ///< in the order of the list
};

/// Copies a list to the host; checks that its arrays are consistent and that exactly the requested ones exist.
template <typename T, int D>
[[nodiscard]] neighbor_list_on_host<T, D> bring_home(const backend_context& context,
                                                     neighbor_list<backend_context, T, D>& list) {
  neighbor_list_on_host<T, D> result;
  const neighbor_list_view<T, D> view = list.view();
  const neighbor_options<T>& asked = list.options();
  const bool matrix = asked.layout == neighbor_layout::matrix;
  result.rows = view.rows;
  const auto counts = to_host(context, view.counts, view.rows);
  std::vector<std::uint64_t> begin(view.rows + 1);
  if (matrix) {
    EXPECT_EQ(view.width, asked.width);
    EXPECT_EQ(view.offsets, nullptr);
    for (std::size_t i = 0; i <= view.rows; ++i) begin[i] = i * view.width;
  } else {
    EXPECT_EQ(view.width, 0u);
    begin = to_host(context, view.offsets, view.rows + 1);
  }
  const std::size_t stored = begin[view.rows];
  const bool some = stored > 0;
  if (some) {
    EXPECT_NE(view.neighbors, nullptr);
    EXPECT_EQ(view.first != nullptr, asked.layout == neighbor_layout::pairs);
    EXPECT_EQ(view.squared_distances != nullptr, asked.squared_distances);
    EXPECT_EQ(view.vectors != nullptr, asked.vectors);
    EXPECT_EQ(view.shifts != nullptr, asked.shifts);
  }
  const auto fetch = [&](const auto* values) {
    return to_host(context, values, values != nullptr && some ? stored : 0);
  };
  const auto neighbors = fetch(view.neighbors);
  const auto first = fetch(view.first);
  const auto squared = fetch(view.squared_distances);
  const auto vectors = fetch(view.vectors);
  const auto shifts = fetch(view.shifts);
  for (std::size_t i = 0; i < view.rows; ++i) {
    if (!matrix && counts[i] != begin[i + 1] - begin[i]) ADD_FAILURE() << "counts and offsets disagree at row " << i;
    if (matrix && counts[i] > view.width) ADD_FAILURE() << "row " << i << " is fuller than it can be";
    for (std::uint64_t k = begin[i]; k < begin[i + 1]; ++k) {
      if (k >= begin[i] + counts[i]) {
        if (neighbors[k] != no_particle) ADD_FAILURE() << "row " << i << " is not padded";
        continue;
      }
      neighbor_entry<T, D> entry{static_cast<std::uint32_t>(i), neighbors[k], {}, T(0), {}};
      if (!first.empty() && first[k] != i) ADD_FAILURE() << "entry " << k << " of row " << i << " says " << first[k];
      if (!squared.empty()) entry.squared = squared[k];
      if (!vectors.empty()) entry.vector = vectors[k];
      if (!shifts.empty()) entry.shift = shifts[k];
      result.entries.push_back(entry);
    }
  }
  EXPECT_EQ(list.size(), result.entries.size());
  return result;
}

template <typename T, int D>
[[nodiscard]] std::string describe(const neighbor_entry<T, D>& e) {
  std::string text = message("(", e.i, ", ", e.j, ") S");
  for (int axis = 0; axis < D; ++axis) text += message(" ", e.shift[axis]);
  text += message(" d2 ", e.squared, " d");
  for (int axis = 0; axis < D; ++axis) text += message(" ", e.vector[axis]);
  return text;
}

/// An order for comparing entries of unsorted lists, whatever fields were requested.
template <typename T, int D>
[[nodiscard]] bool in_any_order(const neighbor_entry<T, D>& a, const neighbor_entry<T, D>& b) {
  if (comes_before(a, b)) return true;
  if (comes_before(b, a)) return false;
  if (a.squared != b.squared) return a.squared < b.squared;
  for (int axis = 0; axis < D; ++axis) {
    if (a.vector[axis] != b.vector[axis]) return a.vector[axis] < b.vector[axis];
  }
  return false;
}

/// Whether two entries are equal. `in_step`: entries of one pair come in the same order in both lists.
template <typename T, int D>
[[nodiscard]] bool same_entry(const neighbor_entry<T, D>& got, const neighbor_entry<T, D>& wanted, bool in_step,
                              double tolerance) {
  if (got.i != wanted.i || got.j != wanted.j || !(got.shift == wanted.shift)) return false;
  if (same_bits) return got.squared == wanted.squared && got.vector == wanted.vector;
  const auto near = [&](T a, T b) { return std::fabs(static_cast<double>(a) - static_cast<double>(b)) <= tolerance; };
  if (!in_step) return true;
  for (int axis = 0; axis < D; ++axis) {
    if (!near(got.vector[axis], wanted.vector[axis])) return false;
  }
  return near(std::sqrt(got.squared), std::sqrt(wanted.squared));
}

/// Compares a list with the reference's result for the problem.
template <typename T, int D>
void expect_same(neighbor_list_on_host<T, D> got, std::vector<neighbor_entry<T, D>> wanted,
                 const neighbor_problem<T, D>& problem) {
  const neighbor_options<T>& asked = problem.options;
  ASSERT_EQ(got.rows, problem.queries ? problem.queries->size() : problem.points.size());
  double largest = 0;
  for (const auto& point : problem.points)
    largest = std::max(largest, std::sqrt(static_cast<double>(squared_norm(point))));
  const double tolerance = 64 * std::numeric_limits<T>::epsilon() * (largest + 20 * asked.cutoff);
  for (auto& entry : wanted) {
    if (!asked.squared_distances) entry.squared = T(0);
    if (!asked.vectors) entry.vector = {};
    if (!asked.shifts) entry.shift = {};
  }
  if (!asked.sorted) {
    std::sort(got.entries.begin(), got.entries.end(), in_any_order<T, D>);
    std::sort(wanted.begin(), wanted.end(), in_any_order<T, D>);
  }
  const bool in_step = asked.sorted || asked.shifts;
  const std::size_t common = std::min(got.entries.size(), wanted.size());
  for (std::size_t k = 0; k < common; ++k) {
    ASSERT_TRUE(same_entry(got.entries[k], wanted[k], in_step, tolerance))
        << "entry " << k << " is " << describe(got.entries[k]) << "; expected " << describe(wanted[k]);
  }
  ASSERT_EQ(got.entries.size(), wanted.size());
}

/// The width of a matrix that holds the result.
template <typename T, int D>
[[nodiscard]] std::size_t widest_row(const std::vector<neighbor_entry<T, D>>& entries, std::size_t rows) {
  std::vector<std::size_t> counts(rows + 1, 0);
  for (const auto& entry : entries) ++counts[entry.i];
  return *std::max_element(counts.begin(), counts.end());
}

/// Whether a method serves a problem; its message for others is tested once.
template <typename T, int D>
[[nodiscard]] bool serves(const std::string& method, const neighbor_problem<T, D>& problem) {
  const neighbor_input_on_device<T, D> stored(backend_context(), problem);
  return method.empty() || neighbor_method_serves(method, problem.options, stored.input());
}

/// Searches with one method (empty: the library's choice) and compares.
template <typename T, int D>
void check_method(const backend_context& context, neighbor_problem<T, D> problem, const neighbor_result<T, D>& wanted,
                  const std::string& method) {
  SCOPED_TRACE(method.empty() ? "method chosen" : "method " + method);
  problem.options.method = method;
  if (!serves(method, problem)) return;
  const neighbor_input_on_device<T, D> stored(context, problem);
  neighbor_list<backend_context, T, D> list(context, problem.options);
  list.build(stored.input());
  if (!method.empty()) {
    EXPECT_EQ(list.method(), method);
  }
  EXPECT_FALSE(list.method().empty());
  expect_same(bring_home(context, list), wanted.entries, problem);
}

using list3 = neighbor_list<backend_context, float, 3>;
using problem3 = neighbor_problem<float, 3>;

[[nodiscard]] inline lattice<float, 3> cube(float edge, bool periodic) {
  return make_lattice<float, 3>({}, {{{{edge, 0, 0}}, {{0, edge, 0}}, {{0, 0, edge}}}}, vec<bool, 3>::filled(periodic));
}

/// 60 points of a cube of edge 2.
[[nodiscard]] inline problem3 some_problem(bool periodic = true, std::uint64_t seed = 1, std::size_t count = 60) {
  problem3 problem;
  std::mt19937_64 random(seed);
  problem.boxes = {cube(2, periodic)};
  for (std::size_t i = 0; i < count; ++i) {
    problem.points.push_back(
        {2 * random_unit<float>(random), 2 * random_unit<float>(random), 2 * random_unit<float>(random)});
  }
  problem.options.cutoff = 0.5f;
  problem.options.sorted = problem.options.shifts = true;
  return problem;
}

}  // namespace quadrat::test
