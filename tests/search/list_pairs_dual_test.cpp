// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "list_support.hpp"
#include "pair_sums.hpp"
#include "quadrat/search/visit_list.hpp"
#include "random_neighbor_problem.hpp"
#include "random_walk.hpp"

// The pairs that visit_list.hpp visits are those nearer than the cutoff at the points of the last update, and the sums
// are theirs: over random lists of every kind, against brute force.

namespace quadrat::test {

namespace {

/// A force that is the same function of each image, and shares that count pairs.
template <typename T, int D>
struct tag_interaction {
  QUADRAT_HD tensor_interaction<T, D> operator()(particle_id i, particle_id j, const vec<T, D>& r,
                                                 T /*squared*/) const {
    return make_tensor_interaction(r, T(2), static_cast<T>(1 + (i + j) % 5));
  }
};

/// The pairs at these points, full or half as in the options.
template <typename T, int D>
[[nodiscard]] neighbor_result<T, D> pairs_within_cutoff(neighbor_problem<T, D> problem) {
  problem.options.skin = T(0);
  return reference::neighbor_list(problem);
}

/// `wanted`: the entries of the full list.
template <typename T, int D>
void expect_sums(const backend_context& context, neighbor_list<backend_context, T, D>& list,
                 const neighbor_problem<T, D>& problem, const neighbor_result<T, D>& wanted) {
  array<tensor_interaction<T, D>, backend_context> sums(context, problem.points.size()), total(context, 1);
  accumulate_pairs(list, sums.data(), total.data(), tag_interaction<T, D>{});
  expect_interactions(to_host(context, sums), to_host(context, total)[0], tag_interaction<double, D>{}, problem,
                      wanted);
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
