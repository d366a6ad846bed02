// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/cluster_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../list_support.hpp"
#include "../pair_sums.hpp"
#include "../random_neighbor_problem.hpp"
#include "../random_walk.hpp"
#include "quadrat/search/visit_clusters.hpp"

// The pairs and sums of cluster pairs are those of brute force at the points of the last build or update, over random
// boxes and points of every kind.

namespace quadrat::test {

namespace {

/// Depends on both ids and on the separation; the energy counts pairs.
template <typename T, int D>
struct tag_cluster_pair {
  QUADRAT_HD tensor_interaction<T, D> operator()(particle_id i, particle_id j, const vec<T, D>& r,
                                                 T /*squared*/) const {
    return make_tensor_interaction(r, T(2), static_cast<T>(1 + (i + 2 * j) % 5));
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
void expect_cluster_sums(const backend_context& context, cluster_pair_list<backend_context, T, D>& list,
                         const neighbor_problem<T, D>& problem, const neighbor_result<T, D>& wanted) {
  array<tensor_interaction<T, D>, backend_context> sums(context, problem.points.size()), total(context, 1);
  accumulate_neighbors(list, sums, total.data(), tag_cluster_pair<T, D>{});
  expect_interactions(to_host(context, sums), to_host(context, total)[0], tag_cluster_pair<double, D>{}, problem,
                      wanted);
}

template <typename T, int D>
void expect_cluster_pairs(const backend_context& context, cluster_pair_list<backend_context, T, D>& list,
                          neighbor_problem<T, D> problem) {
  problem.options.skin = T(0);
  const auto wanted = reference::neighbor_list(problem);
  // A pair at exactly the cutoff may round to either side of it.
  if (!same_bits && wanted.margin < 64) return;
  expect_visits(context, list, problem, wanted);
  expect_cluster_sums(context, list, problem, wanted);
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
