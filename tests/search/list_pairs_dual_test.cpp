// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "list_support.hpp"
#include "quadrat/search/visit_list.hpp"
#include "random_neighbor_problem.hpp"
#include "random_walk.hpp"

// The pairs that visit_list.hpp visits are those nearer than the cutoff at the points of the last update, and the sums
// are theirs: over random lists of every kind, against brute force.

namespace quadrat::test {

namespace {

/// Counts the visits of (i, j) in a table, and adds up the squared distances.
template <typename T, int D>
struct tick_listed_pair {
  std::size_t count;
  std::uint32_t* visits;
  T* squared;

  QUADRAT_HD void operator()(particle_id i, particle_id j, const vec<T, D>& r, T squared_distance) const {
    // A wrong separation shows as an impossible count.
    atomic_add(visits + i * count + j, squared_norm(r) == squared_distance ? 1u : 1000u);
    atomic_add(squared + i * count + j, squared_distance);
  }
};

/// A force that is the same function of each image, and shares that count pairs.
template <typename T, int D>
struct tag_interaction {
  QUADRAT_HD interaction<T, D> operator()(particle_id i, particle_id j, const vec<T, D>& r, T squared_distance) const {
    return {r * static_cast<T>(1 + (i + j) % 5), T(1), squared_distance};
  }
};

/// The pairs at these points, full or half as in the options.
template <typename T, int D>
[[nodiscard]] neighbor_result<T, D> pairs_within_cutoff(neighbor_problem<T, D> problem) {
  problem.options.skin = T(0);
  return reference::neighbor_list(problem);
}

/// A bound on the rounding of a separation.
template <typename T, int D>
[[nodiscard]] double rounding_of(const neighbor_problem<T, D>& problem) {
  double largest = static_cast<double>(problem.options.cutoff);
  for (const auto& point : problem.points) largest += std::sqrt(static_cast<double>(squared_norm(point)));
  for (const auto& box : problem.boxes) largest += std::sqrt(static_cast<double>(squared_norm(box.origin)));
  return 64 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
}

template <typename T, int D>
void expect_visits(const backend_context& context, neighbor_list<backend_context, T, D>& list,
                   const neighbor_problem<T, D>& problem, const neighbor_result<T, D>& wanted) {
  const std::size_t n = problem.points.size();
  auto visits = to_device(context, std::vector<std::uint32_t>(n * n, 0));
  auto squared = to_device(context, std::vector<T>(n * n, T(0)));
  for_each_pair(list, tick_listed_pair<T, D>{n, visits.data(), squared.data()});
  std::vector<std::uint32_t> times(n * n, 0);
  std::vector<double> sums(n * n, 0);
  for (const auto& entry : wanted.entries) {
    ++times[entry.i * n + entry.j];
    sums[entry.i * n + entry.j] += static_cast<double>(entry.squared);
  }
  const auto got = to_host(context, visits);
  const auto got_sums = to_host(context, squared);
  const double tolerance = rounding_of(problem) * static_cast<double>(problem.options.cutoff) * 8;
  for (std::size_t k = 0; k < n * n; ++k) {
    ASSERT_EQ(got[k] % 1000, times[k]) << "pair " << k / n << ", " << k % n;
    if (same_bits) {
      ASSERT_LT(got[k], 1000u) << "pair " << k / n << ", " << k % n;
    }
    ASSERT_NEAR(static_cast<double>(got_sums[k]), sums[k], tolerance * (1 + times[k]));
  }
}

/// `wanted`: the entries of the full list.
template <typename T, int D>
void expect_sums(const backend_context& context, neighbor_list<backend_context, T, D>& list,
                 const neighbor_problem<T, D>& problem, const neighbor_result<T, D>& wanted) {
  const std::size_t n = problem.points.size();
  array<interaction<T, D>, backend_context> sums(context, n), total(context, 1);
  accumulate_pairs(list, sums.data(), total.data(), tag_interaction<T, D>{});
  const auto got = to_host(context, sums);
  std::vector<interaction<double, D>> sums_wanted(n);
  interaction<double, D> all{};
  for (const auto& entry : wanted.entries) {
    const auto term =
        tag_interaction<double, D>{}(entry.i, entry.j, cast<double>(entry.vector), static_cast<double>(entry.squared));
    sums_wanted[entry.i] += term;
    all += term;
  }
  const double unit = 40 * rounding_of(problem) * (1 + static_cast<double>(problem.options.cutoff));
  for (std::size_t i = 0; i < n; ++i) {
    const double tolerance = unit * (1 + sums_wanted[i].energy);
    ASSERT_EQ(static_cast<double>(got[i].energy), sums_wanted[i].energy) << "point " << i;
    ASSERT_NEAR(static_cast<double>(got[i].virial), sums_wanted[i].virial, tolerance) << "point " << i;
    for (int axis = 0; axis < D; ++axis) {
      ASSERT_NEAR(static_cast<double>(got[i].force[axis]), sums_wanted[i].force[axis], tolerance) << "point " << i;
    }
  }
  const auto system = to_host(context, total)[0];
  EXPECT_EQ(static_cast<double>(system.energy), all.energy);
  EXPECT_NEAR(static_cast<double>(system.virial), all.virial, unit * (1 + all.energy));
}

template <typename T, int D>
void expect_pairs(const backend_context& context, neighbor_list<backend_context, T, D>& list,
                  const neighbor_problem<T, D>& problem) {
  const auto wanted = pairs_within_cutoff(problem);
  // A pair at exactly the cutoff may round to either side of it.
  if (!same_bits && wanted.margin < 64) return;
  // Which of two opposite images of a point itself is listed may depend on the points of the build; both have the same
  // length.
  expect_visits(context, list, problem, wanted);
  neighbor_problem<T, D> full = problem;
  full.options.pairs = neighbor_pairs::full;
  expect_sums(context, list, problem, pairs_within_cutoff(full));
}

/// Random lists of every kind whose pairs can be visited. Problems with queries have none.
template <typename T, int D>
[[nodiscard]] neighbor_problem<T, D> visitable_problem(std::uint64_t seed) {
  neighbor_problem<T, D> problem = neighbor_problem_maker<T, D>(seed).make();
  neighbor_options<T>& o = problem.options;
  problem.queries.reset();
  problem.system_of_query.clear();
  o.keeps_points = true;
  // Without shifts one image of each pair must be the nearest.
  for (const auto& box : problem.boxes) {
    for (int axis = 0; axis < D; ++axis) {
      if (box.periodic[axis] && box.height(axis) < T(2.01) * (o.cutoff + o.skin)) o.shifts = true;
    }
  }
  if (o.layout == neighbor_layout::matrix) {
    o.width = 2 * widest_row(reference::neighbor_list(problem).entries, problem.points.size()) + 8;
  }
  return problem;
}

template <typename T, int D>
struct pair_shape {
  using type = T;
  static constexpr int dimension = D;
};

}  // namespace

template <typename Shape>
class list_pairs_test : public backend_test {};
using pair_shapes =
    testing::Types<pair_shape<float, 2>, pair_shape<float, 3>, pair_shape<double, 2>, pair_shape<double, 3>>;
TYPED_TEST_SUITE(list_pairs_test, pair_shapes);

TYPED_TEST(list_pairs_test, are_those_of_brute_force_over_random_lists) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const auto contexts = all_contexts();
  for (std::size_t seed = 0; seed < size_or(300, 30); ++seed) {
    const auto problem = visitable_problem<T, D>(seed);
    SCOPED_TRACE(message("seed ", seed, ": ", describe(problem)));
    const backend_context& context = contexts[seed % contexts.size()];
    const neighbor_input_on_device<T, D> stored(context, problem);
    neighbor_list<backend_context, T, D> list(context, problem.options);
    list.build(stored.input());
    expect_pairs(context, list, problem);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(list_pairs_test, follow_points_that_move_and_are_wrapped) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  int kept = 0;
  for (std::size_t seed = 0; seed < size_or(120, 12); ++seed) {
    auto problem = visitable_problem<T, D>(seed);
    problem.options.skin = problem.options.cutoff * T(0.3);
    problem.options.shifts = true;
    if (problem.options.layout == neighbor_layout::matrix) problem.options.layout = neighbor_layout::csr;
    SCOPED_TRACE(message("seed ", seed, ": ", describe(problem)));
    neighbor_input_on_device<T, D> stored(context, problem);
    neighbor_list<backend_context, T, D> list(context, problem.options);
    random_walk<T, D> walk(problem, seed);
    for (int step = 0; step < 5; ++step) {
      kept += list.update(stored.input()) ? 0 : 1;
      expect_pairs(context, list, problem);
      if (this->HasFailure()) return;
      walk.step();
      give_points(context, stored, problem);
    }
  }
  EXPECT_GT(kept, 30) << "lists that were updated and not rebuilt";
}

}  // namespace quadrat::test
