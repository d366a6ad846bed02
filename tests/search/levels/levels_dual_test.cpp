// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "search/list_support.hpp"
#include "search/random_neighbor_problem.hpp"
#include "support/random.hpp"

// Lists by radii of any ratio: every method finds what the reference finds.

namespace quadrat::test {

namespace {

constexpr cutoff_rule radius_rules[] = {cutoff_rule::sum_of_radii, cutoff_rule::larger_radius, cutoff_rule::own_radius};

template <typename T, int D>
struct levels_shape {
  using type = T;
  static constexpr int dimension = D;
};

/// Radii over `octaves`, as many in each; or all equal, or two sizes, or some of them 0.
template <typename T>
[[nodiscard]] std::vector<T> radii_over(std::size_t count, double octaves, T largest, std::mt19937_64& random) {
  std::vector<T> radii;
  const std::size_t kind = random() % 5;
  for (std::size_t i = 0; i < count; ++i) {
    double exponent = octaves * random_unit<double>(random);
    if (kind == 0) exponent = i % 2 == 0 ? 0 : octaves;
    if (kind == 1) exponent = i % 50 == 0 ? 0 : octaves;
    T radius = largest * static_cast<T>(std::pow(2.0, -exponent));
    if (kind == 2 && i % 3 == 0) radius = T(0);
    radii.push_back(radius);
  }
  return radii;
}

/// In boxes of every shape: uniform, on faces, in clumps, in one place.
template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> points_in_box(const lattice<T, D>& box, std::size_t count,
                                                   std::mt19937_64& random) {
  std::vector<vec<T, D>> points;
  const std::size_t kind = random() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    vec<T, D> point = box.origin;
    for (int axis = 0; axis < D; ++axis) {
      T fraction = T(0.01) + T(0.98) * random_unit<T>(random);
      if (kind == 0 && box.orthorhombic) fraction = static_cast<T>(random() % 9) / T(8);
      if (kind == 1) fraction = T(0.5) + T(0.02) * (fraction - T(0.5)) * static_cast<T>(1 + i % 40);
      if (kind == 2 && i % 4 == 0) fraction = T(0.25);
      if (box.periodic[axis] && i % 5 == 0) fraction += static_cast<T>(static_cast<int>(random() % 5) - 2);
      point += fraction * box.vectors[axis];
    }
    points.push_back(point);
  }
  return points;
}

template <typename T, int D>
[[nodiscard]] lattice<T, D> box_of_edges(T low, T high, std::mt19937_64& random) {
  vec<vec<T, D>, D> vectors{};
  vec<bool, D> periodic{};
  const std::size_t kind = random() % 3;
  const bool tilted = random() % 3 == 0;
  for (int axis = 0; axis < D; ++axis) {
    periodic[axis] = kind == 0 || (kind == 1 && random() % 2 == 0);
    vectors[axis][axis] = low + (high - low) * random_unit<T>(random);
    for (int k = 0; k < axis && tilted; ++k) vectors[axis][k] = vectors[k][k] * T(0.4) * random_unit<T>(random);
  }
  return make_lattice(vec<T, D>::filled(T(-1)), vectors, periodic);
}

template <typename T, int D>
[[nodiscard]] neighbor_problem<T, D> problem_with_radii(std::uint64_t seed) {
  std::mt19937_64 random(seed * 77 + 5);
  neighbor_problem<T, D> problem;
  auto& o = problem.options;
  o.rule = radius_rules[random() % 3];
  o.pairs = o.rule != cutoff_rule::own_radius && random() % 2 == 0 ? neighbor_pairs::half : neighbor_pairs::full;
  o.layout = random() % 3 == 0 ? neighbor_layout::pairs : neighbor_layout::csr;
  o.sorted = random() % 2 == 0;
  o.shifts = random() % 3 != 0;
  o.vectors = o.squared_distances = random() % 2 == 0;
  o.accept_outside = random() % 4 == 0;
  const T largest = T(0.5);
  const T reach = o.rule == cutoff_rule::sum_of_radii ? 2 * largest : largest;
  o.cutoff = random() % 3 == 0 ? T(1.7) * reach : reach;  // need not be tight
  if (random() % 4 == 0) o.skin = T(0.1);
  const std::size_t systems = random() % 4 == 0 ? 3 : 1;
  for (std::size_t k = 0; k < systems; ++k) problem.boxes.push_back(box_of_edges<T, D>(reach, 9 * reach, random));
  const std::size_t count = size_or(150 + random() % 250, 120);
  problem.radii = radii_over(count, 8 * random_unit<double>(random), largest, random);
  if (systems == 1) {
    problem.points = points_in_box(problem.boxes[0], count, random);
  } else {
    std::vector<std::vector<vec<T, D>>> all;
    for (const auto& box : problem.boxes) all.push_back(points_in_box(box, count, random));
    for (std::size_t i = 0; i < count; ++i) {
      problem.system_of_point.push_back(static_cast<std::uint32_t>(random() % systems));
      problem.points.push_back(all[problem.system_of_point[i]][i]);
    }
  }
  if (random() % 4 == 0) {
    problem.excluded_offsets.push_back(0);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 3 == 0) problem.excluded.push_back(static_cast<particle_id>(random() % count));
      problem.excluded_offsets.push_back(problem.excluded.size());
    }
  }
  return problem;
}

template <typename T, int D>
void expect_agreement_on_radii(const neighbor_problem<T, D>& problem) {
  SCOPED_TRACE(describe(problem));
  const auto wanted = reference::neighbor_list(problem);
  if (!same_bits && wanted.margin < 16) return;  // the GPU's contraction may decide otherwise
  check_method(backend_context(), problem, wanted, "");
  for (const std::string& method : methods_here()) check_method(backend_context(), problem, wanted, method);
}

}  // namespace

template <typename Shape>
class list_of_radii : public backend_test {};
using levels_shapes =
    testing::Types<levels_shape<float, 2>, levels_shape<float, 3>, levels_shape<double, 2>, levels_shape<double, 3>>;
TYPED_TEST_SUITE(list_of_radii, levels_shapes);

TYPED_TEST(list_of_radii, agrees_with_brute_force_over_random_searches) {
  const std::uint64_t searches = size_or(24, 6);
  for (std::uint64_t seed = 0; seed < searches; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    expect_agreement_on_radii(problem_with_radii<typename TypeParam::type, TypeParam::dimension>(seed));
    if (this->HasFailure()) return;
  }
}

/// More levels than small problems have, and copies of finer ones.
TYPED_TEST(list_of_radii, of_many_levels) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  std::mt19937_64 random(4);
  for (const cutoff_rule rule : radius_rules) {
    for (const bool periodic : {false, true}) {
      neighbor_problem<T, D> problem;
      problem.boxes = {make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(4)), vec<bool, D>::filled(periodic)))};
      for (std::size_t i = 0; i < size_or(periodic && D == 3 ? 700 : 1500, 300); ++i) {
        vec<T, D> point{};
        for (int axis = 0; axis < D; ++axis) point[axis] = T(4) * random_unit<T>(random);
        problem.points.push_back(point);
        problem.radii.push_back(T(0.4) * static_cast<T>(std::pow(2.0, -static_cast<double>(random() % 9))));
      }
      problem.options.rule = rule;
      problem.options.cutoff = rule == cutoff_rule::sum_of_radii ? T(0.8) : T(0.4);
      problem.options.sorted = problem.options.shifts = true;
      expect_agreement_on_radii(problem);
      problem.options.sorted = false;
      problem.options.shifts = false;
      expect_agreement_on_radii(problem);
      if (this->HasFailure()) return;
    }
  }
}

/// All numbers are representable: many pairs at exactly their cutoff, which are not neighbors, on faces of cells.
TYPED_TEST(list_of_radii, at_exactly_the_cutoff_are_no_neighbors) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  for (const cutoff_rule rule : radius_rules) {
    for (const bool periodic : {false, true}) {
      neighbor_problem<T, D> problem;
      problem.boxes = {make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(2)), vec<bool, D>::filled(periodic)))};
      for (int k = 0; k < (D == 2 ? 400 : 512); ++k) {
        vec<T, D> point{};
        for (int axis = 0, rest = k; axis < D; ++axis, rest /= D == 2 ? 20 : 8) {
          point[axis] = T(D == 2 ? 0.0625 : 0.25) * static_cast<T>(rest % (D == 2 ? 20 : 8));
        }
        problem.points.push_back(point);
        problem.radii.push_back(static_cast<T>(std::ldexp(0.5, -(k * 7 % 5))));
      }
      problem.options.rule = rule;
      problem.options.cutoff = T(1);
      problem.options.sorted = problem.options.shifts = problem.options.squared_distances = true;
      expect_agreement_on_radii(problem);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(list_of_radii, of_few_points_and_of_points_in_one_place) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  for (const cutoff_rule rule : radius_rules) {
    for (const std::size_t count : {0u, 1u, 2u, 300u}) {
      neighbor_problem<T, D> problem;
      problem.boxes = {make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(3)), vec<bool, D>::filled(true)))};
      problem.points.assign(count, vec<T, D>::filled(T(0.5)));
      for (std::size_t i = 0; i < count; ++i) {
        problem.radii.push_back(static_cast<T>(std::ldexp(1.0, -static_cast<int>(i % 6))));
      }
      problem.options.rule = rule;
      problem.options.cutoff = T(2);
      problem.options.sorted = problem.options.shifts = true;
      expect_agreement_on_radii(problem);
      if (this->HasFailure()) return;
    }
  }
}

namespace {

/// Coordinates and radii with which no squared distance is near a squared cutoff: multiples of 1/32, and an odd number
/// of 1/128 for every radius. One point in 500 is `large`.
template <typename T, int D>
[[nodiscard]] neighbor_problem<T, D> few_large_among_small(T large, cutoff_rule rule, bool periodic) {
  std::mt19937_64 random(8);
  neighbor_problem<T, D> problem;
  vec<bool, D> along{};
  along[0] = periodic;
  problem.boxes = {make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(4)), along))};
  const std::size_t count = size_or(1600, 1300);
  for (std::size_t i = 0; i < count; ++i) {
    problem.points.push_back(make_vec<T, D>([&](int) { return static_cast<T>(random() % 128) / T(32); }));
    problem.radii.push_back((i % 500 == 7 ? large : T(0.0625) * static_cast<T>(1 + i % 2)) + T(1) / T(128));
  }
  problem.options.rule = rule;
  problem.options.cutoff = (rule == cutoff_rule::sum_of_radii ? 2 : 1) * (large + T(1) / T(128));
  return problem;
}

}  // namespace

/// On a GPU several warps share such a row; also if an image of its own point is within reach.
TYPED_TEST(list_of_radii, with_rows_too_long_for_a_thread) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  for (const cutoff_rule rule : radius_rules) {
    for (const T large : {T(1.5), T(4)}) {
      auto problem = few_large_among_small<T, D>(large, rule, rule == cutoff_rule::sum_of_radii);
      if (rule == cutoff_rule::larger_radius) problem.options.pairs = neighbor_pairs::half;
      const auto wanted = reference::neighbor_list(problem);
      EXPECT_GT(wanted.margin, 16);
      check_method(backend_context(), problem, wanted, "levels");
      problem.options.vectors = problem.options.shifts = problem.options.sorted = true;
      check_method(backend_context(), problem, wanted, "");
      problem.options.sorted = problem.options.vectors = false;
      check_method(backend_context(), problem, wanted, "levels");
      if (rule == cutoff_rule::own_radius) {
        problem.options.layout = neighbor_layout::matrix;
        problem.options.width = problem.points.size();
        check_method(backend_context(), problem, wanted, "levels");
      }
      if (this->HasFailure()) return;
    }
  }
}

namespace {

[[nodiscard]] problem3 clump_of_radii(std::size_t count, int octaves, std::uint64_t seed) {
  problem3 problem = some_problem(true, seed, count);
  std::mt19937_64 random(seed);
  problem.options.rule = cutoff_rule::sum_of_radii;
  problem.options.cutoff = 0.8f;
  problem.options.sorted = problem.options.shifts = false;
  for (std::size_t i = 0; i < count; ++i) {
    const int halvings = octaves > 0 ? static_cast<int>(random() % static_cast<std::size_t>(octaves)) : 0;
    problem.radii.push_back(std::ldexp(0.4f, -halvings));
  }
  return problem;
}

}  // namespace

class list_of_radii_state : public backend_test {};

TEST_F(list_of_radii_state, every_build_belongs_to_its_own_radii) {
  const backend_context context;
  for (const std::string method : {"levels", same_bits ? "sweeps" : "levels"}) {
    neighbor_options<float> options = clump_of_radii(1, 0, 1).options;
    options.method = method;
    list3 list(context, options);
    std::uint64_t seed = 0;
    for (const std::size_t count : {400u, 400u, 400u, 1200u, 400u, 0u, 1u, 300u}) {
      const int octaves = static_cast<int>(++seed * 3 % 7);
      SCOPED_TRACE(message(method, ", ", count, " points, ", octaves, " octaves"));
      problem3 problem = clump_of_radii(count, octaves, seed);
      problem.options = options;
      const auto wanted = reference::neighbor_list(problem);
      if (!same_bits && wanted.margin < 16) continue;
      const neighbor_input_on_device<float, 3> stored(context, problem);
      list.build(stored.input());
      expect_same(bring_home(context, list), wanted.entries, problem);
      EXPECT_EQ(list.count(stored.input()).total, wanted.entries.size());
    }
  }
}

TEST_F(list_of_radii_state, an_asynchronous_build_takes_other_radii_where_their_levels_have_room) {
  const backend_context context;
  for (const std::string method : {"levels", same_bits ? "sweeps" : "levels"}) {
    problem3 problem = clump_of_radii(600, 5, 3);
    problem.options.method = method;
    const neighbor_input_on_device<float, 3> stored(context, problem);
    list3 list(context, problem.options);
    list.build(stored.input());
    list.reserve(1'000'000);
    list.build(stored.input());
    // Fewer small ones than there were.
    problem3 larger = problem;
    for (std::size_t i = 0; i < 600; i += 3) larger.radii[i] = 0.3f;
    const neighbor_input_on_device<float, 3> stored_larger(context, larger);
    list.build_async(stored_larger.input());
    list.check();
    expect_same(bring_home(context, list), reference::neighbor_list(larger).entries, larger);
    // More than there were.
    problem3 smaller = problem;
    smaller.radii.assign(600, 0.01f);
    const neighbor_input_on_device<float, 3> stored_smaller(context, smaller);
    const auto error_of_build = [&](const auto& input) {
      return error_of<data_error>([&] {
        list.build_async(input);
        list.check();
      });
    };
    expect_words(error_of_build(stored_smaller.input()), {"0.01", "call build"});
    list.build(stored_smaller.input());
    expect_same(bring_home(context, list), reference::neighbor_list(smaller).entries, smaller);
    // Larger than all were.
    expect_words(error_of_build(stored.input()), {"call build"});
  }
}

TEST_F(list_of_radii_state, impossible_radii_are_named) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const std::string& method : methods_here()) {
    for (const float radius : {nan, infinity, -infinity, -0.125f, 0.5f}) {
      problem3 problem = clump_of_radii(600, 5, 3);
      problem.options.method = method;
      if (!serves(method, problem)) continue;
      problem.radii[123] = radius;
      const backend_context context;
      const neighbor_input_on_device<float, 3> stored(context, problem);
      list3 list(context, problem.options);
      expect_words(error_of<data_error>([&] { list.build(stored.input()); }), {"point 123", "radius", "from 0 to 0.4"});
    }
  }
}

/// Rows that are too long to be recorded while they are counted, beside others.
TEST_F(list_of_radii_state, long_and_short_rows_in_every_build) {
  const backend_context context;
  problem3 problem = clump_of_radii(size_or(2500, 600), 0, 5);
  problem.radii.assign(problem.points.size(), 0.05f);
  for (std::size_t i = 0; i < 5; ++i) problem.radii[100 * i] = 0.95f;
  problem.options.rule = cutoff_rule::larger_radius;
  problem.options.cutoff = 0.95f;
  const auto wanted = reference::neighbor_list(problem);
  if (!same_bits && wanted.margin < 16) GTEST_SKIP() << "a pair lies at the cutoff";
  const neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  for (int build = 0; build < 3; ++build) {
    list.build(stored.input());
    expect_same(bring_home(context, list), wanted.entries, problem);
  }
}

}  // namespace quadrat::test
