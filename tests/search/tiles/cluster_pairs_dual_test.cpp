// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/cluster_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../list_support.hpp"
#include "../random_neighbor_problem.hpp"
#include "../random_walk.hpp"
#include "quadrat/search/visit_clusters.hpp"

// The pairs and sums of cluster pairs are those of brute force at the points of the last build or update, over random
// boxes and points of every kind.

namespace quadrat::test {

namespace {

/// Counts the visits of (i, j) in a table, and adds up the squared distances.
template <typename T, int D>
struct tick_cluster_pair {
  std::size_t count;
  std::uint32_t* visits;
  T* squared;

  QUADRAT_HD void operator()(particle_id i, particle_id j, const vec<T, D>& r, T squared_distance) const {
    atomic_add(visits + i * count + j, squared_norm(r) == squared_distance ? 1u : 1000u);
    atomic_add(squared + i * count + j, squared_distance);
  }
};

/// Depends on both ids and on the separation; the energy counts pairs.
template <typename T, int D>
struct tag_cluster_pair {
  QUADRAT_HD interaction<T, D> operator()(particle_id i, particle_id j, const vec<T, D>& r, T squared_distance) const {
    return {r * static_cast<T>(1 + (i + 2 * j) % 5), T(1), squared_distance};
  }
};

/// A problem that cluster pairs serve: one system, one cutoff, no queries or exclusions.
template <typename T, int D>
[[nodiscard]] neighbor_problem<T, D> cluster_problem(std::uint64_t seed) {
  neighbor_problem<T, D> problem = neighbor_problem_maker<T, D>(seed).make();
  problem.boxes.resize(1);
  problem.system_of_point.clear();
  problem.queries.reset();
  problem.system_of_query.clear();
  problem.excluded_offsets.clear();
  problem.excluded.clear();
  problem.options.rule = cutoff_rule::uniform;
  problem.options.pairs = neighbor_pairs::full;
  problem.options.accept_outside = true;
  // Points anywhere along an open vector would enlarge a skewed box without end.
  lattice<T, D>& box = problem.boxes[0];
  if (!box.orthorhombic && !(box.periodic == vec<bool, D>::filled(box.periodic[0]))) {
    box = make_lattice(box.origin, box.vectors, vec<bool, D>::filled(true));
  }
  return problem;
}

template <typename T, int D>
[[nodiscard]] cluster_pair_list<backend_context, T, D> list_for(const backend_context& context,
                                                                const neighbor_problem<T, D>& problem) {
  return make_cluster_pair_list(context, problem.boxes[0],
                                {.cutoff = problem.options.cutoff, .skin = problem.options.skin});
}

template <typename T, int D>
[[nodiscard]] double separation_rounding(const neighbor_problem<T, D>& problem) {
  double largest = static_cast<double>(problem.options.cutoff);
  for (const auto& point : problem.points) largest += norm(cast<double>(point));
  largest += norm(cast<double>(problem.boxes[0].origin));
  return 64 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
}

template <typename T, int D>
void expect_cluster_visits(const backend_context& context, const cluster_pair_list<backend_context, T, D>& list,
                           const neighbor_problem<T, D>& problem, const neighbor_result<T, D>& wanted) {
  const std::size_t n = problem.points.size();
  auto visits = to_device(context, std::vector<std::uint32_t>(n * n, 0));
  auto squared = to_device(context, std::vector<T>(n * n, T(0)));
  for_each_pair(list, tick_cluster_pair<T, D>{n, visits.data(), squared.data()});
  std::vector<std::uint32_t> times(n * n, 0);
  std::vector<double> sums(n * n, 0);
  for (const auto& entry : wanted.entries) {
    ++times[entry.i * n + entry.j];
    sums[entry.i * n + entry.j] += static_cast<double>(entry.squared);
  }
  const auto got = to_host(context, visits);
  const auto got_sums = to_host(context, squared);
  const double tolerance = separation_rounding(problem) * static_cast<double>(problem.options.cutoff) * 8;
  for (std::size_t k = 0; k < n * n; ++k) {
    ASSERT_EQ(got[k] % 1000, times[k]) << "pair " << k / n << ", " << k % n;
    if (same_bits) {
      ASSERT_LT(got[k], 1000u) << "pair " << k / n << ", " << k % n;
    }
    ASSERT_NEAR(static_cast<double>(got_sums[k]), sums[k], tolerance * (1 + times[k]));
  }
}

template <tile_order Order, typename T, int D>
void expect_cluster_sums(const backend_context& context, cluster_pair_list<backend_context, T, D>& list,
                         const neighbor_problem<T, D>& problem, const neighbor_result<T, D>& wanted) {
  const std::size_t n = problem.points.size();
  array<interaction<T, D>, backend_context> sums(context, n), total(context, 1);
  accumulate_neighbors<Order>(list, sums.data(), total.data(), tag_cluster_pair<T, D>{});
  const auto got = to_host(context, sums);
  std::vector<interaction<double, D>> sums_wanted(n);
  double pairs = 0;
  for (const auto& entry : wanted.entries) {
    sums_wanted[entry.i] +=
        tag_cluster_pair<double, D>{}(entry.i, entry.j, cast<double>(entry.vector), static_cast<double>(entry.squared));
    pairs += 1;
  }
  const double unit = 40 * separation_rounding(problem) * (1 + static_cast<double>(problem.options.cutoff));
  for (std::size_t i = 0; i < n; ++i) {
    const double tolerance = unit * (1 + sums_wanted[i].energy);
    ASSERT_EQ(static_cast<double>(got[i].energy), sums_wanted[i].energy) << "point " << i;
    ASSERT_NEAR(static_cast<double>(got[i].virial), sums_wanted[i].virial, tolerance) << "point " << i;
    for (int axis = 0; axis < D; ++axis) {
      ASSERT_NEAR(static_cast<double>(got[i].force[axis]), sums_wanted[i].force[axis], tolerance) << "point " << i;
    }
  }
  EXPECT_EQ(static_cast<double>(to_host(context, total)[0].energy), pairs);
}

template <typename T, int D>
void expect_cluster_pairs(const backend_context& context, cluster_pair_list<backend_context, T, D>& list,
                          neighbor_problem<T, D> problem) {
  problem.options.skin = T(0);
  const auto wanted = reference::neighbor_list(problem);
  // A pair at exactly the cutoff may round to either side of it.
  if (!same_bits && wanted.margin < 64) return;
  expect_cluster_visits(context, list, problem, wanted);
  expect_cluster_sums<tile_order::bits>(context, list, problem, wanted);
  if (same_bits) return;
  expect_cluster_sums<tile_order::tiles>(context, list, problem, wanted);
  expect_cluster_sums<tile_order::points>(context, list, problem, wanted);
}

template <typename T, int D>
struct cluster_pair_shape {
  using type = T;
  static constexpr int dimension = D;
};

}  // namespace

template <typename Shape>
class cluster_pairs_test : public backend_test {};
using cluster_pair_shapes = testing::Types<cluster_pair_shape<float, 2>, cluster_pair_shape<float, 3>,
                                           cluster_pair_shape<double, 2>, cluster_pair_shape<double, 3>>;
TYPED_TEST_SUITE(cluster_pairs_test, cluster_pair_shapes);

TYPED_TEST(cluster_pairs_test, are_those_of_brute_force_over_random_boxes_and_points) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const auto contexts = all_contexts();
  for (std::size_t seed = 0; seed < size_or(300, 30); ++seed) {
    const auto problem = cluster_problem<T, D>(seed);
    SCOPED_TRACE(message("seed ", seed, ": ", describe(problem)));
    const backend_context& context = contexts[seed % contexts.size()];
    const auto points = to_device(context, problem.points);
    auto list = list_for(context, problem);
    list.build(points_of(points));
    expect_cluster_pairs(context, list, problem);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(cluster_pairs_test, follow_points_that_move_and_are_wrapped) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  int kept = 0;
  for (std::size_t seed = 0; seed < size_or(120, 12); ++seed) {
    auto problem = cluster_problem<T, D>(seed);
    problem.options.skin = problem.options.cutoff * T(0.3);
    SCOPED_TRACE(message("seed ", seed, ": ", describe(problem)));
    auto list = list_for(context, problem);
    random_walk<T, D> walk(problem, seed);
    for (int step = 0; step < 5; ++step) {
      const auto points = to_device(context, problem.points);
      kept += list.update(points_of(points)) ? 0 : 1;
      expect_cluster_pairs(context, list, problem);
      if (this->HasFailure()) return;
      walk.step();
    }
  }
  EXPECT_GT(kept, 30) << "lists that were updated and not rebuilt";
}

/// Numbers of points around a group, a row and a block.
TYPED_TEST(cluster_pairs_test, serve_numbers_of_points_that_do_not_fill_groups_and_rows) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  std::mt19937_64 random(5);
  for (const std::size_t count : {0u, 1u, 2u, 7u, 8u, 9u, 31u, 32u, 33u, 64u, 65u, 257u}) {
    SCOPED_TRACE(count);
    neighbor_problem<T, D> problem;
    problem.boxes = {make_lattice(make_box<T, D>({}, vec<T, D>::filled(4), vec<bool, D>::filled(true)))};
    problem.options.cutoff = T(1.3);
    for (std::size_t i = 0; i < count; ++i) {
      problem.points.push_back(make_vec<T, D>([&](int) { return 4 * random_unit<T>(random); }));
    }
    const auto points = to_device(context, problem.points);
    auto list = list_for(context, problem);
    list.build(points_of(points));
    EXPECT_EQ(list.view().rows, (count + 31) / 32);
    expect_cluster_pairs(context, list, problem);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(cluster_pairs_test, serve_crowds_in_one_place_and_more_pairs_than_are_staged) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  const backend_context context;
  std::mt19937_64 random(6);
  neighbor_problem<T, D> problem;
  problem.boxes = {make_lattice(make_box<T, D>({}, vec<T, D>::filled(3), vec<bool, D>::filled(true)))};
  problem.options.cutoff = T(1);
  for (std::size_t i = 0; i < size_or(700, 350); ++i) {
    const T extent = i % 2 == 0 ? T(0) : T(0.4);
    problem.points.push_back(make_vec<T, D>([&](int) { return T(1.5) + extent * random_unit<T>(random); }));
  }
  const auto points = to_device(context, problem.points);
  auto list = list_for(context, problem);
  list.build(points_of(points));
  expect_cluster_pairs(context, list, problem);
}

}  // namespace quadrat::test
