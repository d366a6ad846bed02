// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "list_support.hpp"
#include "quadrat/core/error.hpp"

// Plain lists in CSR with many points per cutoff: what `masks` writes in the order of rows on a GPU. The tests cover
// what that depends on: pairs at the cutoff, points that do not fill whole warps, rows of cells with few points, long
// rows, too few masks, and too little room.

namespace quadrat::test {

namespace {

/// `n` uniform points in a part of the unit cube that has these extents.
[[nodiscard]] problem3 dense_problem(std::size_t n, float cutoff, const vec<float, 3>& extents, bool periodic,
                                     neighbor_pairs pairs) {
  problem3 problem;
  std::mt19937_64 random(n);
  problem.boxes = {cube(1, periodic)};
  for (std::size_t i = 0; i < n; ++i) {
    vec<float, 3> point{};
    for (int axis = 0; axis < 3; ++axis) point[axis] = extents[axis] * random_unit<float>(random);
    problem.points.push_back(point);
  }
  problem.options.cutoff = cutoff;
  problem.options.pairs = pairs;
  return problem;
}

/// A cubic lattice of `side` points along each axis, in random order; its distances are exact.
[[nodiscard]] problem3 lattice_problem(int side, int cutoff, bool periodic, neighbor_pairs pairs) {
  problem3 problem = dense_problem(0, static_cast<float>(cutoff), {}, periodic, pairs);
  problem.boxes = {cube(static_cast<float>(side), periodic)};
  for (int k = 0; k < side * side * side; ++k) {
    const int place[3] = {k % side, k / side % side, k / side / side};
    problem.points.push_back(make_vec<float, 3>([&](int axis) { return static_cast<float>(place[axis]); }));
  }
  std::mt19937_64 random(7);
  std::shuffle(problem.points.begin(), problem.points.end(), random);
  return problem;
}

void check_dense(const problem3& problem) {
  const auto wanted = reference::neighbor_list(problem);
  const backend_context context;
  for (const std::string& method : methods_here()) check_method(context, problem, wanted, method);
}

}  // namespace

class dense_list_test : public backend_test {};

TEST_F(dense_list_test, holds_the_pairs_of_uniform_points) {
  for (const bool periodic : {false, true}) {
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
      check_dense(dense_problem(1000, 0.23f, {1, 1, 1}, periodic, pairs));
    }
  }
}

TEST_F(dense_list_test, leaves_out_pairs_at_the_cutoff) {
  check_dense(lattice_problem(10, 2, false, neighbor_pairs::full));
  check_dense(lattice_problem(10, 3, false, neighbor_pairs::half));
  check_dense(lattice_problem(8, 2, true, neighbor_pairs::full));
  check_dense(lattice_problem(8, 3, true, neighbor_pairs::half));
}

TEST_F(dense_list_test, holds_the_pairs_of_any_number_of_points) {
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 65, 127, 129}) {
    SCOPED_TRACE(n);
    check_dense(dense_problem(n, 0.45f, {1, 1, 1}, false, neighbor_pairs::full));
  }
}

TEST_F(dense_list_test, holds_the_pairs_of_sheets_and_of_crowds) {
  check_dense(dense_problem(1500, 0.2f, {1, 1, 0.01f}, false, neighbor_pairs::full));
  check_dense(dense_problem(1500, 0.2f, {0.01f, 1, 1}, false, neighbor_pairs::half));
  check_dense(dense_problem(450, 0.22f, {0.1f, 0.15f, 0.1f}, false, neighbor_pairs::full));
  check_dense(dense_problem(450, 0.22f, {0.1f, 0.15f, 0.1f}, true, neighbor_pairs::half));
}

TEST_F(dense_list_test, fills_a_matrix) {
  problem3 problem = dense_problem(1000, 0.23f, {1, 1, 1}, false, neighbor_pairs::full);
  const auto wanted = reference::neighbor_list(problem);
  problem.options.layout = neighbor_layout::matrix;
  problem.options.width = widest_row(wanted.entries, problem.points.size()) + 1;
  const backend_context context;
  for (const std::string& method : methods_here()) check_method(context, problem, wanted, method);
}

// The masks that were enough for the uniform points are too few for the crowd: its rows are searched again.
TEST_F(dense_list_test, holds_the_pairs_of_a_crowd_in_the_memory_of_uniform_points) {
  const problem3 uniform = dense_problem(500, 0.28f, {1, 1, 1}, false, neighbor_pairs::full);
  const problem3 crowd = dense_problem(500, 0.28f, {0.3f, 0.1f, 0.1f}, false, neighbor_pairs::full);
  const auto wanted = reference::neighbor_list(crowd);
  const backend_context context;
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    problem3 of_method = crowd;
    of_method.options.method = method;
    list3 list(context, of_method.options);
    const neighbor_input_on_device<float, 3> before(context, uniform), stored(context, of_method);
    list.build(before.input());
    const auto build_without_room = [&] {
      list.build_async(stored.input());
      list.check();
    };
    EXPECT_THROW(build_without_room(), overflow_error);
    list.build(before.input());
    list.reserve(wanted.entries.size());
    list.build(stored.input());
    expect_same(bring_home(context, list), wanted.entries, of_method);
  }
}

// Rows of hundreds of pairs get cells of half the edge once they have been counted, and keep them.
TEST_F(dense_list_test, holds_the_pairs_of_long_rows_in_every_build) {
  const backend_context context;
  for (const bool periodic : {false, true}) {
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
      if (small_sizes() && periodic != (pairs == neighbor_pairs::half)) continue;
      problem3 problem = dense_problem(1200, 0.45f, {1, 1, 1}, periodic, pairs);
      problem.options.vectors = problem.options.shifts = periodic;
      if (periodic) problem.points[7] += vec<float, 3>{2, -1, 0};
      const auto wanted = reference::neighbor_list(problem);
      for (const std::string& method : methods_here()) {
        SCOPED_TRACE(method);
        problem3 of_method = problem;
        of_method.options.method = method;
        list3 list(context, of_method.options);
        const neighbor_input_on_device<float, 3> stored(context, of_method);
        for (int build = 0; build < 3; ++build) {
          list.build(stored.input());
          expect_same(bring_home(context, list), wanted.entries, of_method);
        }
      }
    }
  }
}

// Boxes that are mostly empty: with all cells that cover them, with fewer that are folded, and of points with so many
// neighbors that smaller cells would have to be folded.
TEST_F(dense_list_test, holds_the_pairs_of_a_fluid_on_the_floor_in_every_build) {
  const backend_context context;
  for (const float cutoff : {0.141f, 0.08f, 0.06f, 0.04f}) {
    for (const vec<float, 3>& extents : {vec<float, 3>{1, 0.02f, 1}, vec<float, 3>{0.2f, 0.03f, 0.2f}}) {
      for (const bool periodic : {false, true}) {
        const problem3 problem = dense_problem(size_or(1500, 700), cutoff, extents, periodic, neighbor_pairs::full);
        const auto wanted = reference::neighbor_list(problem);
        for (const std::string& method : methods_here()) {
          SCOPED_TRACE(message(method, ", cutoff ", cutoff, ", width ", extents[0]));
          problem3 of_method = problem;
          of_method.options.method = method;
          list3 list(context, of_method.options);
          const neighbor_input_on_device<float, 3> stored(context, of_method);
          for (int build = 0; build < 2; ++build) {
            list.build(stored.input());
            expect_same(bring_home(context, list), wanted.entries, of_method);
          }
        }
      }
    }
  }
}

TEST_F(dense_list_test, holds_the_pairs_of_long_rows_of_several_systems) {
  problem3 problem = dense_problem(1500, 0.45f, {1, 1, 1}, true, neighbor_pairs::full);
  problem.boxes.push_back(cube(1, false));
  for (std::size_t i = 0; i < problem.points.size(); ++i) problem.system_of_point.push_back(i % 3 == 0 ? 1 : 0);
  check_dense(problem);
}

// Few points of which many are in one row of cells: more than one thread of a warp takes.
TEST_F(dense_list_test, holds_the_pairs_of_a_crowd_among_few_points) {
  for (const bool periodic : {false, true}) {
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
      problem3 problem = dense_problem(2000, 0.12f, {1, 1, 1}, periodic, pairs);
      for (std::size_t i = 0; i < 300; ++i) problem.points[5 * i] = problem.points[5 * i] * 0.03f;
      check_dense(problem);
    }
  }
}

}  // namespace quadrat::test
