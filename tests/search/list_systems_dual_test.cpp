// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "list_support.hpp"
#include "quadrat/core/error.hpp"

// Plain lists of many systems, built again and again. On a GPU, `masks` builds those of systems in order at once from
// the second build on, and finds out on the device whether they are; what does not suit it must be searched as before.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct shape {
  using type = T;
  static constexpr int dimension = D;
};

/// Boxes and points in multiples of 1/64, so that squared distances are exact, even where points are brought closer by
/// a power of two, and CPU and GPU agree about every pair.
template <typename T, int D>
[[nodiscard]] neighbor_problem<T, D> systems_of(const std::vector<std::size_t>& counts, neighbor_pairs pairs) {
  neighbor_problem<T, D> problem;
  std::mt19937_64 random(19);
  const auto some = [&](int below) { return static_cast<T>(random() % static_cast<std::uint64_t>(below)) / T(64); };
  for (std::uint32_t system = 0; system < counts.size(); ++system) {
    vec<vec<T, D>, D> vectors{};
    for (int axis = 0; axis < D; ++axis) vectors[axis][axis] = T(1) + some(64);
    vec<bool, D> periodic = vec<bool, D>::filled(system % 3 != 2);
    if (system % 3 == 1) periodic[1] = false;
    problem.boxes.push_back(make_lattice(vec<T, D>{}, vectors, periodic));
    for (std::size_t i = 0; i < counts[system]; ++i) {
      problem.points.push_back(make_vec<T, D>([&](int axis) { return random_unit<T>(random) * vectors[axis][axis]; }));
      problem.system_of_point.push_back(system);
    }
  }
  problem.options.cutoff = T(0.3);
  problem.options.pairs = pairs;
  return problem;
}

/// Exchanges two points of different systems.
template <typename T, int D>
void bring_into_disorder(neighbor_problem<T, D>& problem) {
  std::swap(problem.points.front(), problem.points.back());
  std::swap(problem.system_of_point.front(), problem.system_of_point.back());
}

/// Builds lists of several problems with the same boxes, one after another, with one object.
template <typename T, int D>
void check_in_turn(const std::vector<neighbor_problem<T, D>>& problems) {
  const backend_context context;
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    neighbor_options<T> options = problems.front().options;
    options.method = method;
    neighbor_list<backend_context, T, D> list(context, options);
    for (std::size_t k = 0; k < problems.size(); ++k) {
      SCOPED_TRACE(k);
      const auto wanted = reference::neighbor_list(problems[k]);
      const neighbor_input_on_device<T, D> stored(context, problems[k]);
      list.build(stored.input());
      expect_same(bring_home(context, list), wanted.entries, problems[k]);
      list.build_async(stored.input());
      list.check();
      expect_same(bring_home(context, list), wanted.entries, problems[k]);
    }
  }
}

/// All of them fit the room that follows from their mean.
const std::vector<std::size_t> ordinary_sizes{100, 0, 110, 1, 128, 64, 127, 96, 90, 120, 33, 128, 100, 65};

}  // namespace

template <typename Shape>
class list_of_systems_test : public backend_test {};

using shapes = testing::Types<shape<float, 2>, shape<float, 3>, shape<double, 3>>;
TYPED_TEST_SUITE(list_of_systems_test, shapes);

TYPED_TEST(list_of_systems_test, holds_the_pairs_in_every_build) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
    const auto problem = systems_of<T, D>(ordinary_sizes, pairs);
    check_in_turn<T, D>({problem, problem, problem});
  }
}

TYPED_TEST(list_of_systems_test, follows_points_and_sizes_that_change) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const auto problem = systems_of<T, D>(ordinary_sizes, neighbor_pairs::full);
  auto crowd = problem;  // more pairs than there is room for
  for (auto& point : crowd.points) point = T(0.25) * point;
  auto exchanged = problem;  // another system is empty
  for (std::uint32_t& system : exchanged.system_of_point) system = system == 2 ? 1 : system;
  for (auto& point : exchanged.points) point = T(0.5) * point;
  auto fewer = problem;
  fewer.points.resize(fewer.points.size() - 150);
  fewer.system_of_point.resize(fewer.points.size());
  auto outside = problem;  // of a periodic box
  outside.points[3][0] += T(4) * problem.boxes[0].vectors[0][0];
  check_in_turn<T, D>({problem, problem, crowd, exchanged, fewer, outside, problem});
}

TYPED_TEST(list_of_systems_test, systems_out_of_order_or_too_large_are_searched_as_well) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const auto problem = systems_of<T, D>(ordinary_sizes, neighbor_pairs::half);
  auto disorder = problem;
  bring_into_disorder(disorder);
  check_in_turn<T, D>({problem, problem, disorder, problem, disorder});
  auto one_large = problem;
  for (std::uint32_t& system : one_large.system_of_point) system = system < 4 ? system : 8;
  for (auto& point : one_large.points) point = T(0.5) * point;
  check_in_turn<T, D>({problem, problem, one_large, problem});
}

TYPED_TEST(list_of_systems_test, names_the_first_impossible_point_of_any_build) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  const auto problem = systems_of<T, D>(ordinary_sizes, neighbor_pairs::full);
  auto not_finite = problem, no_system = problem;
  not_finite.points[123][1] = not_finite.points[321][0] = std::numeric_limits<T>::quiet_NaN();
  no_system.system_of_point[77] = static_cast<std::uint32_t>(no_system.boxes.size());
  const neighbor_input_on_device<T, D> good(context, problem), bad(context, not_finite), lost(context, no_system);
  for (const std::string& method : methods_here()) {
    SCOPED_TRACE(method);
    neighbor_options<T> options = problem.options;
    options.method = method;
    neighbor_list<backend_context, T, D> list(context, options);
    for (int round = 0; round < 2; ++round) {
      for (int build = 0; build < 3; ++build) list.build(good.input());
      expect_words(error_of<data_error>([&] { list.build(bad.input()); }), {"point 123 "});
      for (int build = 0; build < 3; ++build) list.build(good.input());
      expect_words(error_of<data_error>([&] { list.build(lost.input()); }), {"point 77 "});
    }
    list.build(good.input());
    expect_same(bring_home(context, list), reference::neighbor_list(problem).entries, problem);
  }
}

}  // namespace quadrat::test
