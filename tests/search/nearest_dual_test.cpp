// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "nearest_support.hpp"
#include "support/distributions.hpp"

// Nearest neighbors against brute force: boxes, precisions, crowds, ties, images, queries.

namespace quadrat::test {

namespace {

template <typename T, int D>
[[nodiscard]] vec<T, D> random_place(std::mt19937_64& random, double low, double high) {
  return make_vec<T, D>([&](int) { return static_cast<T>(low + (high - low) * random_unit<double>(random)); });
}

template <typename T, int D>
[[nodiscard]] lattice<T, D> random_box(std::mt19937_64& random) {
  vec<vec<T, D>, D> vectors{};
  vec<bool, D> periodic{};
  const std::uint64_t kind = random() % 4;  // open, periodic, mixed, periodic and triclinic
  for (int axis = 0; axis < D; ++axis) {
    vectors[axis][axis] = static_cast<T>(0.7 + 2 * random_unit<double>(random));
    periodic[axis] = kind == 1 || kind == 3 || (kind == 2 && random() % 2 == 0);
    for (int k = 0; k < D && kind == 3; ++k) vectors[axis][k] += static_cast<T>(0.5 * random_unit<double>(random));
  }
  return make_lattice(random_place<T, D>(random, -2, 2), vectors, periodic);
}

/// Points of some kind: uniform, on a lattice (ties), in clusters, in one place, in a plane; some far outside.
template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> random_points(std::mt19937_64& random, const lattice<T, D>& box, std::size_t n) {
  const std::uint64_t kind = random() % 6;
  const double spread = random() % 3 == 0 ? 4 : 1;
  std::vector<vec<T, D>> points;
  const vec<T, D> one = random_place<T, D>(random, 0, 1);
  for (std::size_t i = 0; i < n; ++i) {
    vec<T, D> f = random_place<T, D>(random, 0, spread);
    for (int axis = 0; axis < D; ++axis) {
      if (kind == 1) f[axis] = std::floor(f[axis] * 4) / 4;
      if (kind == 2) f[axis] = one[axis] + static_cast<T>(i % 3) / 4 + f[axis] * T(1e-3);
      if (kind == 3) f[axis] = one[axis];
    }
    if (kind == 4) f[D - 1] = one[D - 1];
    if (kind == 5 && i % 10 == 0) f *= static_cast<T>(std::pow(10.0, static_cast<double>(random() % 5)));
    vec<T, D> point = box.origin;
    for (int axis = 0; axis < D; ++axis) point += f[axis] * box.vectors[axis];
    points.push_back(point);
  }
  return points;
}

template <typename T, int D>
[[nodiscard]] nearest_problem<T, D> random_nearest_problem(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  nearest_problem<T, D> problem;
  problem.box = random_box<T, D>(random);
  const std::size_t sizes[] = {1, 2, 7, 8, 9, 30, 70, 130};
  const std::size_t ks[] = {1, 2, 3, 8, 9, 16, 17, 33};
  const std::size_t n = sizes[random() % 8];
  problem.options.k = ks[random() % 8];
  if (random() % 3 == 0) problem.options.cutoff = static_cast<T>(0.05 + random_unit<double>(random));
  problem.options.include_self = random() % 4 == 0;
  problem.options.shifts = random() % 2 == 0;
  problem.points = random_points(random, problem.box, n);
  problem.with_queries = random() % 2 == 0;
  if (problem.with_queries) problem.queries = random_points(random, problem.box, 20);
  if (problem.with_queries && random() % 2 == 0) problem.queries = problem.points;
  return problem;
}

}  // namespace

template <typename Shape>
class nearest_test : public backend_test {};
template <typename Precision, int Dimension>
struct nearest_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using nearest_shapes = testing::Types<nearest_shape<float, 2>, nearest_shape<float, 3>, nearest_shape<double, 2>,
                                      nearest_shape<double, 3>>;
TYPED_TEST_SUITE(nearest_test, nearest_shapes);

TYPED_TEST(nearest_test, agrees_with_brute_force_on_random_problems) {
  const std::uint64_t problems = size_or(150, 20);
  for (std::uint64_t seed = 0; seed < problems; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    expect_nearest(random_nearest_problem<typename TypeParam::T, TypeParam::D>(seed));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(nearest_test, agrees_with_brute_force_in_every_distribution) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  const std::size_t n = size_or(1000, 300);
  for (const auto& [which, name] : all_distributions) {
    SCOPED_TRACE(name);
    nearest_problem<T, D> problem;
    const bool periodic = which > distribution::line;
    problem.box = make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(1)), vec<bool, D>::filled(periodic)));
    problem.options.k = 9;
    problem.points = points_of<T, D>(which, n, 1);
    expect_nearest(problem, n / 12);
    problem.queries = points_of<T, D>(which, n / 2, 2);
    problem.with_queries = true;
    expect_nearest(problem, n / 12);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(nearest_test, agrees_with_brute_force_past_one_block_and_in_sparse_space) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(5);
  for (const bool periodic : {false, true}) {
    for (const double apart : {1.0, 1e3, 1e6}) {
      nearest_problem<T, D> problem;
      const auto far = vec<T, D>::filled(static_cast<T>(apart + 2));
      problem.box = make_lattice(make_box<T, D>({}, far, vec<bool, D>::filled(periodic)));
      problem.options.k = 12;
      const std::size_t n = size_or(3000, 600);
      for (std::size_t i = 0; i < n; ++i) {
        problem.points.push_back(random_place<T, D>(random, 0, 1));
        if (i % 2 == 0) problem.points.back()[0] += static_cast<T>(apart);
      }
      problem.points[n / 3] = far * T(0.999);
      expect_nearest(problem, n / 60);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Scales that one curve cannot resolve: each crowd is a cell of the one before.
TYPED_TEST(nearest_test, resolves_crowds_within_crowds) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(6);
  nearest_problem<T, D> problem;
  problem.box = make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(1)), vec<bool, D>{}));
  problem.options.k = 5;
  const int scales = sizeof(T) == 4 ? 5 : 20;
  for (int scale = 0; scale < scales; ++scale) {
    for (int i = 0; i < 100; ++i) {
      problem.points.push_back(random_place<T, D>(random, 0, 1) * static_cast<T>(std::pow(10.0, -3.0 * scale)));
    }
  }
  expect_nearest(problem, 7);
}

TYPED_TEST(nearest_test, breaks_ties_by_index) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  nearest_problem<T, D> problem;
  problem.box = make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(8)), vec<bool, D>::filled(true)));
  problem.options.k = 20;
  problem.options.shifts = true;
  for (int i = 0; i < 300; ++i) {  // several points in each place of a lattice, in a scattered order
    problem.points.push_back(
        make_vec<T, D>([&](int axis) { return static_cast<T>((i * 7 / (axis == 0 ? 1 : 4 * axis)) % 4 * 2); }));
  }
  expect_nearest(problem);
}

TYPED_TEST(nearest_test, finds_nothing_without_points_and_nothing_for_no_queries) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  nearest_problem<T, D> problem;
  problem.box = make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(1)), vec<bool, D>::filled(true)));
  problem.options.k = 3;
  problem.options.shifts = true;
  expect_nearest(problem);
  problem.with_queries = true;
  expect_nearest(problem);
  problem.queries.resize(4);
  expect_nearest(problem);
  problem.points.resize(1);
  problem.queries.clear();
  expect_nearest(problem);
}

TYPED_TEST(nearest_test, finds_64_images_of_one_point) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  for (const T flat : {T(1), T(0.01)}) {
    nearest_problem<T, D> problem;
    vec<T, D> edges = vec<T, D>::filled(T(1));
    edges[0] = flat;
    problem.box = make_lattice(make_box<T, D>({}, edges, vec<bool, D>::filled(true)));
    problem.options.k = 64;
    problem.options.shifts = true;
    problem.points.push_back(vec<T, D>::filled(T(0.005)));
    expect_nearest(problem);
  }
}

TYPED_TEST(nearest_test, gives_the_same_bits_on_every_context_and_to_queries_at_the_points) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(8);
  nearest_problem<T, D> problem;
  problem.box = make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(1)), vec<bool, D>::filled(true)));
  for (const std::size_t k : {std::size_t{8}, std::size_t{16}, std::size_t{40}}) {
    problem.options.k = k;
    problem.options.shifts = problem.options.include_self = true;
    problem.with_queries = false;
    problem.points.clear();
    for (std::size_t i = 0; i < size_or(4000, 1000); ++i) problem.points.push_back(random_place<T, D>(random, 0, 1));
    const auto wanted = find_nearest(backend_context(), problem);
    problem.queries = problem.points;
    for (const backend_context& context : all_contexts()) {
      problem.with_queries = false;
      EXPECT_TRUE(find_nearest(context, problem) == wanted);
      problem.with_queries = true;
      EXPECT_TRUE(find_nearest(context, problem) == wanted);
    }
  }
}

}  // namespace quadrat::test
