// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/neighbor_list.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "list_support.hpp"
#include "random_neighbor_problem.hpp"
#include "support/random.hpp"

// Every method agrees with brute force: over random searches of every kind, and in hard cases.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct shape {
  using type = T;
  static constexpr int dimension = D;
};

/// Searches with every method, and with the library's choice; returns the number of pairs.
template <typename T, int D>
std::size_t check_all_methods(const backend_context& context, neighbor_problem<T, D> problem) {
  SCOPED_TRACE(describe(problem));
  const auto wanted = reference::neighbor_list(problem);
  const std::size_t rows = problem.queries ? problem.queries->size() : problem.points.size();
  if (problem.options.layout == neighbor_layout::matrix && problem.options.width == 0) {
    problem.options.width = widest_row(wanted.entries, rows) + (rows % 2) + (wanted.entries.empty() ? 1 : 0);
  }
  check_method(context, problem, wanted, "");
  for (const std::string& method : methods_here()) {
    if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) break;
    check_method(context, problem, wanted, method);
  }
  return wanted.entries.size();
}

[[nodiscard]] std::vector<backend_context> contexts_of_all_levels() {
  std::vector<backend_context> result = all_contexts();
  for (const determinism level : {determinism::run_to_run, determinism::canonical}) {
    backend_context::options chosen;
    chosen.reproducibility = level;
    result.emplace_back(chosen);
  }
  return result;
}

}  // namespace

template <typename Shape>
class neighbor_list_test : public backend_test {};
using shapes = testing::Types<shape<float, 2>, shape<float, 3>, shape<double, 2>, shape<double, 3>>;
TYPED_TEST_SUITE(neighbor_list_test, shapes);

// Four shapes: 2,400 searches.
TYPED_TEST(neighbor_list_test, agrees_with_brute_force_over_random_searches) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const auto contexts = contexts_of_all_levels();
  const std::size_t searches = size_or(600, 40);
  std::size_t undecided = 0, empty = 0;
  for (std::size_t seed = 0; seed < searches; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    const auto problem = neighbor_problem_maker<T, D>(seed).make();
    // A compiler that contracts may decide differently on a pair at exactly the cutoff.
    if (!same_bits && reference::neighbor_list(problem).margin < 16) {
      ++undecided;
      continue;
    }
    if (check_all_methods(contexts[seed % contexts.size()], problem) == 0) ++empty;
    if (this->HasFailure()) return;
  }
  EXPECT_LE(empty, searches / 4) << "too many searches find nothing";
  EXPECT_LE(undecided, searches / 4);
}

// All numbers are representable, so that every compiler decides alike: many pairs at exactly the cutoff, which are not
// neighbors, and points on faces of the box and of the cells.
TYPED_TEST(neighbor_list_test, pairs_at_exactly_the_cutoff_are_no_neighbors) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const T cutoff : {T(0.25), T(0.5), D == 2 ? T(1.25) : T(0.75)}) {
    for (int walls = 0; walls < (1 << D); ++walls) {
      neighbor_problem<T, D> problem;
      vec<vec<T, D>, D> vectors{};
      vec<bool, D> periodic{};
      for (int axis = 0; axis < D; ++axis) {
        vectors[axis][axis] = T(1);
        periodic[axis] = (walls >> axis & 1) != 0;
      }
      problem.boxes = {make_lattice(vec<T, D>{}, vectors, periodic)};
      for (int k = 0; k < (D == 2 ? 25 : 125); ++k) {
        vec<T, D> point{};
        for (int axis = 0, rest = k; axis < D; ++axis, rest /= 5) point[axis] = T(0.25) * static_cast<T>(rest % 5);
        problem.points.push_back(point);
      }
      problem.options.cutoff = cutoff;
      problem.options.shifts = problem.options.squared_distances = problem.options.sorted = true;
      check_all_methods(context, problem);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(neighbor_list_test, few_points) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const bool periodic : {false, true}) {
    for (const std::size_t count : {0u, 1u, 2u, 3u}) {
      for (const neighbor_layout layout : {neighbor_layout::csr, neighbor_layout::pairs, neighbor_layout::matrix}) {
        neighbor_problem<T, D> problem;
        vec<vec<T, D>, D> vectors{};
        for (int axis = 0; axis < D; ++axis) vectors[axis][axis] = T(1);
        problem.boxes = {make_lattice(vec<T, D>{}, vectors, vec<bool, D>::filled(periodic))};
        problem.points.assign(count, vec<T, D>::filled(T(0.5)));  // all in one place
        problem.options.cutoff = T(1.5);
        problem.options.layout = layout;
        problem.options.shifts = problem.options.vectors = true;
        check_all_methods(context, problem);
        problem.options.pairs = neighbor_pairs::half;
        problem.options.width = 0;
        check_all_methods(context, problem);
      }
    }
  }
}

namespace {

/// Uniform points in a cube of edge 1, with a cutoff for a given mean number of neighbors.
template <typename T, int D>
neighbor_problem<T, D> uniform_problem(std::size_t count, double neighbors, bool periodic, std::uint64_t seed) {
  neighbor_problem<T, D> problem;
  std::mt19937_64 random(seed);
  vec<vec<T, D>, D> vectors{};
  for (int axis = 0; axis < D; ++axis) vectors[axis][axis] = T(1);
  problem.boxes = {make_lattice(vec<T, D>{}, vectors, vec<bool, D>::filled(periodic))};
  problem.points.resize(count);
  for (auto& point : problem.points) {
    for (int axis = 0; axis < D; ++axis) point[axis] = random_unit<T>(random);
  }
  const double ball = D == 2 ? 3.14159265358979 : 4.18879020478639;
  problem.options.cutoff = static_cast<T>(std::pow(neighbors / (ball * static_cast<double>(count)), 1.0 / D));
  return problem;
}

}  // namespace

// Exact numbers again: shifts are between the points as given, whatever their size.
TYPED_TEST(neighbor_list_test, points_very_many_boxes_away) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const int farthest : {3, 700, 100'000}) {
    auto problem = uniform_problem<T, D>(60, 8, true, 13);
    std::mt19937_64 random(17);
    for (auto& point : problem.points) {
      for (int axis = 0; axis < D; ++axis) {
        const auto number = static_cast<int>(random() % static_cast<std::uint64_t>(2 * farthest + 1)) - farthest;
        point[axis] = std::floor(point[axis] * T(64)) / T(64) + static_cast<T>(number);
      }
    }
    problem.options.cutoff = T(0.40625);
    problem.options.shifts = problem.options.vectors = true;
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
      for (const bool sorted : {false, true}) {
        problem.options.pairs = pairs;
        problem.options.sorted = sorted;
        check_all_methods(context, problem);
      }
    }
  }
}

TYPED_TEST(neighbor_list_test, more_points_than_a_block_has) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  for (const bool periodic : {false, true}) {
    for (std::uint64_t seed = 1;; ++seed) {
      auto problem = uniform_problem<T, D>(size_or(periodic ? 1000 : 3000, 400), 20, periodic, seed);
      if (!same_bits && seed < 50 && reference::neighbor_list(problem).margin < 4) continue;
      check_all_methods(context, problem);
      break;
    }
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(neighbor_list_test, dense_crowds) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  // A crowd in which all are neighbors, beside isolated points.
  auto problem = uniform_problem<T, D>(size_or(700, 200), 20, false, 5);
  problem.options.cutoff = T(0.05);
  problem.options.sorted = true;
  for (std::size_t i = 0; i < problem.points.size() - 20; ++i) {
    problem.points[i] = vec<T, D>::filled(T(0.25)) + T(1.0 / 64) * problem.points[i];
  }
  check_all_methods(context, problem);
}

TYPED_TEST(neighbor_list_test, many_small_systems) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  neighbor_problem<T, D> problem;
  std::mt19937_64 random(11);
  for (std::uint32_t system = 0; system < size_or(400, 40); ++system) {
    vec<vec<T, D>, D> vectors{};
    for (int axis = 0; axis < D; ++axis) vectors[axis][axis] = T(1) + random_unit<T>(random);
    problem.boxes.push_back(make_lattice(vec<T, D>{}, vectors, vec<bool, D>::filled(system % 2 == 0)));
    for (std::size_t count = random() % 12; count > 0; --count) {  // some have no points
      vec<T, D> point{};
      for (int axis = 0; axis < D; ++axis) point[axis] = random_unit<T>(random) * vectors[axis][axis];
      problem.points.push_back(point);
      problem.system_of_point.push_back(system);
    }
  }
  problem.options.cutoff = T(0.6);
  problem.options.sorted = problem.options.shifts = true;
  if (!same_bits && reference::neighbor_list(problem).margin < 16) GTEST_SKIP() << "a pair lies at the cutoff";
  check_all_methods(context, problem);
}

/// On a GPU a block searches a system of about average size, by tiles of 32 x 32 pairs; larger ones are searched by
/// all blocks.
TYPED_TEST(neighbor_list_test, systems_of_very_different_sizes) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  neighbor_problem<T, D> problem;
  std::mt19937_64 random(13);
  std::uint32_t system = 0;
  for (const std::size_t count : {70u, 0u, 100u, 1u, 300u, 33u, 900u, 32u, 64u, 65u, 200u, 128u}) {
    vec<vec<T, D>, D> vectors{};
    for (int axis = 0; axis < D; ++axis) vectors[axis][axis] = T(1) + random_unit<T>(random);
    vec<bool, D> periodic = vec<bool, D>::filled(system % 3 != 2);
    if (system % 3 == 1) periodic[1] = false;
    problem.boxes.push_back(make_lattice(vec<T, D>{}, vectors, periodic));
    for (std::size_t i = 0; i < count; ++i) {
      vec<T, D> point{};
      for (int axis = 0; axis < D; ++axis) point[axis] = random_unit<T>(random) * vectors[axis][axis];
      problem.points.push_back(point);
      problem.system_of_point.push_back(system);
    }
    ++system;
  }
  problem.options.cutoff = T(0.3);
  problem.options.sorted = problem.options.shifts = true;
  if (!same_bits && reference::neighbor_list(problem).margin < 4) GTEST_SKIP() << "a pair lies at the cutoff";
  for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
    problem.options.pairs = pairs;
    check_all_methods(context, problem);
  }
}

TYPED_TEST(neighbor_list_test, points_with_a_stride_and_in_separate_arrays) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  auto problem = uniform_problem<T, D>(300, 10, true, 3);
  problem.options.sorted = true;
  const auto wanted = reference::neighbor_list(problem);
  std::vector<T> records(problem.points.size() * 5), columns(problem.points.size() * D);
  for (std::size_t i = 0; i < problem.points.size(); ++i) {
    for (int axis = 0; axis < D; ++axis) {
      records[5 * i + static_cast<std::size_t>(axis)] = problem.points[i][axis];
      columns[static_cast<std::size_t>(axis) * problem.points.size() + i] = problem.points[i][axis];
    }
  }
  const auto stored_records = to_device(context, records);
  const auto stored_columns = to_device(context, columns);
  std::array<const T*, D> components{};
  for (std::size_t axis = 0; axis < D; ++axis) components[axis] = stored_columns.data() + axis * problem.points.size();
  neighbor_list<backend_context, T, D> list(context, problem.options);
  neighbor_input<T, D> input;
  input.boxes = problem.boxes;
  input.points = strided_points<D>(stored_records.data(), problem.points.size(), 5);
  list.build(input);
  expect_same(bring_home(context, list), wanted.entries, problem);
  input.points = component_points(components, problem.points.size());
  list.build(input);
  expect_same(bring_home(context, list), wanted.entries, problem);
}

// Sorted lists have the same bits for any method, number of threads and level; other lists in every run if the context
// asks for it.
TYPED_TEST(neighbor_list_test, the_same_list_in_every_run) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  auto problem = uniform_problem<T, D>(size_or(4000, 500), 16, true, 9);
  problem.options.shifts = true;
  const auto order_of = [&](const backend_context& context) {
    const neighbor_input_on_device<T, D> stored(context, problem);
    neighbor_list<backend_context, T, D> list(context, problem.options);
    list.build(stored.input());
    std::vector<particle_id> order;
    for (const auto& entry : bring_home(context, list).entries) order.push_back(entry.j);
    return order;
  };
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    problem.options.method = method;
    backend_context::options chosen;
    chosen.reproducibility = determinism::run_to_run;
    const auto first = order_of(backend_context(chosen));
    EXPECT_EQ(order_of(backend_context(chosen)), first);
#if QUADRAT_BACKEND_CPU
    chosen.threads = 3;
    EXPECT_EQ(order_of(backend_context(chosen)), first);
#endif
  }
  problem.options.sorted = true;
  problem.options.method.clear();
  const auto first = order_of(backend_context());
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    problem.options.method = method;
    for (const backend_context& context : all_contexts()) EXPECT_EQ(order_of(context), first);
  }
}

// A single system has special kernels, which are not used if points name their system.
TYPED_TEST(neighbor_list_test, one_system_is_searched_alike_whether_points_name_it_or_not) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  backend_context::options chosen;
  chosen.reproducibility = determinism::run_to_run;
  const backend_context context(chosen);
  auto problem = uniform_problem<T, D>(size_or(600, 300), 16, true, 11);
  for (std::size_t i = 0; i < problem.points.size(); i += 3) problem.points[i][0] += static_cast<T>(i % 7) - T(3);
  problem.options.shifts = problem.options.vectors = true;
  for (const std::string& method : methods_here()) {
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
      SCOPED_TRACE(method);
      problem.options.method = method;
      problem.options.pairs = pairs;
      problem.system_of_point.clear();
      neighbor_list<backend_context, T, D> list(context, problem.options);
      list.build(neighbor_input_on_device<T, D>(context, problem).input());
      const auto plain = bring_home(context, list).entries;
      problem.system_of_point.assign(problem.points.size(), 0);
      list.build(neighbor_input_on_device<T, D>(context, problem).input());
      const auto named = bring_home(context, list).entries;
      ASSERT_GT(plain.size(), 2 * problem.points.size());
      ASSERT_EQ(named.size(), plain.size());
      for (std::size_t k = 0; k < plain.size(); ++k) {
        ASSERT_TRUE(same_entry(named[k], plain[k], true, 1e-5))
            << describe(named[k]) << "; plain " << describe(plain[k]);
      }
    }
  }
}

}  // namespace quadrat::test
