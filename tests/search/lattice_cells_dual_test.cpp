// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/lattice_cells.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/reduced_lattice.hpp"
#include "list_support.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/search/interaction.hpp"
#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/visit.hpp"
#include "quadrat/search/visit_clusters.hpp"
#include "quadrat/search/visit_list.hpp"
#include "quadrat/search/visit_points.hpp"
#include "quadrat/search/visit_radii.hpp"
#include "random_neighbor_problem.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// The visitors over lattice_cells, in boxes of every shape: the pairs of brute force, and on the CPU their bits.

namespace quadrat::test {

namespace {

/// Counts the calls for (i, j) in a table, and keeps the separation.
template <typename T, int D>
struct note_pair {
  std::size_t count;
  std::uint32_t* visits;
  vec<T, D>* separations;

  QUADRAT_HD void operator()(particle_id i, particle_id j, const vec<T, D>& separation, T squared_distance) const {
    // A wrong distance shows as an impossible count.
    atomic_add(visits + i * count + j, squared_norm(separation) == squared_distance ? 1u : 100u);
    separations[i * count + j] = separation;
  }
};

/// Changes its sign with the order of a pair.
struct pair_number {
  template <typename Separation, typename T>
  QUADRAT_HD int operator()(particle_id i, particle_id j, const Separation&, T) const {
    const int sum = 1 + static_cast<int>(i + j) * 3;
    return i < j ? sum : -sum;
  }
};

/// Index: point. Neighbors of a place, in a kernel of its own.
template <typename View, typename T, int D>
struct count_around_place {
  View view;
  points_view<T, D> points;
  T cutoff;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    for_each_neighbor_of_point(view, points, points[i], cutoff, [&](particle_id, const vec<T, D>&, T) { ++count; });
    counts[i] = count;
  }
};

template <typename T, int D>
void check_visitors(const backend_context& context, neighbor_problem<T, D> problem,
                    lattice_cells<backend_context, T, D>& cells) {
  SCOPED_TRACE(describe(problem));
  problem.in_given_boxes = true;
  for (auto& box : problem.boxes) box = detail::reduced(box, false).shape;  // whose rounding the separations have
  const std::size_t count = problem.points.size();
  const T cutoff = problem.options.cutoff;
  const auto wanted = reference::neighbor_list(problem);
  if (!same_bits && wanted.margin < 16) return;  // the GPU's contraction may decide otherwise
  const auto points = to_device(context, problem.points);
  const auto view = points_of(points.data(), count);
  cells.build(view);

  std::vector<std::uint32_t> expected(count * count, 0), neighbors(count, 0);
  std::vector<vec<T, D>> vectors(count * count);
  std::vector<int> sums(count, 0);
  for (const auto& entry : wanted.entries) {
    ++expected[entry.i * count + entry.j];
    ++neighbors[entry.i];
    vectors[entry.i * count + entry.j] = entry.vector;
    sums[entry.i] += pair_number{}(entry.i, entry.j, entry.vector, entry.squared);
  }
  array<std::uint32_t, backend_context> visits(context, count * count);
  array<vec<T, D>, backend_context> separations(context, count * count);
  array<int, backend_context> result(context, count);
  for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
    fill_bytes(context, visits.data(), 0, visits.bytes());
    fill_bytes(context, separations.data(), 0, separations.bytes());
    for_each_pair(context, cells.view(), view, cutoff, pairs,
                  note_pair<T, D>{count, visits.data(), separations.data()});
    const auto found = to_host(context, visits.data(), count * count);
    const auto between = to_host(context, separations.data(), count * count);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const bool listed = pairs == neighbor_pairs::full || k / count < k % count;
      ASSERT_EQ(found[k], listed ? expected[k] : 0u) << k / count << ", " << k % count;
      if (!same_bits || !listed) continue;
      ASSERT_EQ(between[k], vectors[k]) << k / count << ", " << k % count;
    }
  }
  accumulate_neighbors(context, cells.view(), view, cutoff, result.data(), pair_number{});
  EXPECT_EQ(to_host(context, result.data(), count), sums);
  accumulate_pairs(context, cells.view(), view, cutoff, result, pair_number{});
  EXPECT_EQ(to_host(context, result.data(), count), sums);

  if (!problem.options.accept_outside) {
    fill_bytes(context, result.data(), 0xff, result.bytes());
    accumulate_neighbors(context, problem.boxes[0], view, cutoff, result, pair_number{});
    EXPECT_EQ(to_host(context, result.data(), count), sums);
  }

  using around = count_around_place<lattice_cells_view<T, D>, T, D>;
  array<std::uint32_t, backend_context> counts(context, count);
  for_each(context, "around places", count, around{cells.view(), view, cutoff, counts.data()});
  for (auto& own : neighbors) ++own;  // the point at the place itself
  EXPECT_EQ(to_host(context, counts.data(), count), neighbors);
}

/// The largest cutoff that a box allows, or less.
template <typename T, int D>
[[nodiscard]] T fitting_cutoff(const lattice<T, D>& shape, T cutoff) {
  for (int axis = 0; axis < D; ++axis) {
    if (shape.periodic[axis]) cutoff = std::fmin(cutoff, shape.height(axis) / 2);
  }
  return cutoff;
}

[[nodiscard]] lattice<double, 3> tilted(const vec<bool, 3>& periodic = {true, true, true}) {
  return make_lattice<double, 3>({1, 2, 3}, {{{{4, 0, 0}}, {{1.5, 3.5, 0}}, {{-1, 1, 3}}}}, periodic);
}

[[nodiscard]] neighbor_problem<double, 3> tilted_problem(std::size_t count, std::uint64_t seed,
                                                         const lattice<double, 3>& shape = tilted()) {
  neighbor_problem<double, 3> problem;
  problem.boxes = {shape};
  problem.options.cutoff = 1.2;
  std::mt19937_64 random(seed);
  problem.points.assign(count, shape.origin);
  for (auto& point : problem.points) {
    for (int k = 0; k < 3; ++k) point += (0.01 + 0.98 * random_unit<double>(random)) * shape.vectors[k];
  }
  return problem;
}

}  // namespace

template <typename Shape>
class lattice_cells_test : public backend_test {};
template <typename Precision, int Dimension>
struct lattice_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using lattice_shapes = testing::Types<lattice_shape<float, 2>, lattice_shape<float, 3>, lattice_shape<double, 2>,
                                      lattice_shape<double, 3>>;
TYPED_TEST_SUITE(lattice_cells_test, lattice_shapes);

TYPED_TEST(lattice_cells_test, visitors_meet_the_pairs_of_random_searches) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  const auto contexts = all_contexts();
  std::size_t searched = 0, tilted_boxes = 0, outside = 0;
  for (std::uint64_t seed = 0; searched < size_or(150, 10); ++seed) {
    auto random = neighbor_problem_maker<T, D>(seed).make();
    if (random.boxes.size() > 1 || random.points.size() < 2) continue;
    neighbor_problem<T, D> problem;
    problem.boxes = random.boxes;
    problem.points = random.points;
    problem.options.cutoff = fitting_cutoff(problem.boxes[0], random.options.cutoff);
    problem.options.accept_outside = random.options.accept_outside;
    const backend_context& context = contexts[seed % contexts.size()];
    auto cells =
        make_lattice_cells(context, problem.boxes[0], {problem.options.cutoff, problem.options.accept_outside});
    check_visitors(context, problem, cells);
    if (this->HasFailure()) return;
    ++searched;
    tilted_boxes += problem.boxes[0].orthorhombic ? 0 : 1;
    outside += problem.options.accept_outside ? 1 : 0;
  }
  EXPECT_GT(tilted_boxes, searched / 5);
  EXPECT_GT(outside, 0u);
}

class lattice_cells_case : public backend_test {};

TEST_F(lattice_cells_case, hold_the_points_of_the_last_build_whatever_their_number) {
  const backend_context context;
  auto cells = make_lattice_cells(context, tilted(), {.cutoff = 1.2});
  for (const std::size_t count :
       {std::size_t{1}, size_or(300, 150), std::size_t{0}, std::size_t{2}, size_or(200, 90)}) {
    check_visitors(context, tilted_problem(count, count), cells);
    if (HasFailure()) return;
  }
}

TEST_F(lattice_cells_case, serve_points_far_outside_of_open_axes) {
  const backend_context context;
  const auto shape = tilted({true, true, false});
  auto cells = make_lattice_cells(context, shape, {.cutoff = 1.2, .accept_outside = true});
  for (const double far : {1.0, 50.0, 1e5}) {
    auto problem = tilted_problem(150, 3, shape);
    problem.options.accept_outside = true;
    for (std::size_t i = 0; i < 75; ++i) problem.points[i] += far * shape.vectors[2];
    check_visitors(context, problem, cells);
  }
}

TEST_F(lattice_cells_case, serve_smaller_cutoffs_and_radii) {
  const backend_context context;
  auto problem = tilted_problem(200, 4);
  auto cells = make_lattice_cells(context, tilted(), {.cutoff = 1.4});
  check_visitors(context, problem, cells);
  problem.options.rule = cutoff_rule::sum_of_radii;
  for (std::size_t i = 0; i < problem.points.size(); ++i) {
    problem.radii.push_back(0.6 * static_cast<double>(i % 7) / 7);
  }
  const auto wanted = reference::neighbor_list(problem);
  ASSERT_GT(wanted.entries.size(), problem.points.size());
  std::vector<int> sums(problem.points.size(), 0);
  for (const auto& entry : wanted.entries) sums[entry.i] += pair_number{}(entry.i, entry.j, entry.vector, 0.0);
  const auto points = to_device(context, problem.points);
  const auto radii = to_device(context, problem.radii);
  array<int, backend_context> result(context, sums.size());
  accumulate_neighbors(context, cells.view(), points_of(points.data(), points.size()),
                       particle_radii<double>{radii.data(), cutoff_rule::sum_of_radii}, result, pair_number{});
  EXPECT_EQ(to_host(context, result.data(), sums.size()), sums);
}

TEST_F(lattice_cells_case, of_one_call_serve_a_box_and_name_what_is_wrong) {
  const backend_context context;
  const auto domain = make_box<float, 2>({0, 0}, {4, 3}, {true, false});
  std::vector<vec<float, 2>> where{{0.1f, 1}, {3.9f, 1.5f}, {2, 1}, {0.5f, 3}};
  array<int, backend_context> sums(context, where.size());
  const auto sum = [&](float cutoff, std::size_t room) {
    const auto points = to_device(context, where);
    accumulate_neighbors(context, domain, points_of(points), cutoff, std::span(sums.data(), room), pair_number{});
  };
  sum(0.6f, 4);
  EXPECT_EQ(to_host(context, sums), (std::vector<int>{4, -4, 0, 0})) << "across the periodic face";
  const auto complaint = [&](float cutoff, std::size_t room) {
    return error_of<argument_error>([&] { sum(cutoff, room); });
  };
  expect_words(complaint(0.6f, 3), {"4 points", "room for 3 results"});
  expect_words(complaint(2.1f, 4), {"2.1", "more than half"});
  expect_words(complaint(0, 4), {"the cutoff is 0"});
  where[3][1] = 3.5f;
  expect_words(error_of<data_error>([&] { sum(0.6f, 4); }), {"point 3"});
}

/// Whole numbers: sums in any order have the same bits.
struct whole_interaction {
  QUADRAT_HD interaction<double, 3> operator()(particle_id i, particle_id j, const vec<double, 3>& r, double rr) const {
    interaction<double, 3> result{};
    result.force = vec<double, 3>::filled(pair_number{}(i, j, r, rr));
    result.energy = static_cast<double>(i + j);
    return result;
  }
};

TEST_F(lattice_cells_case, give_the_interactions_that_a_list_gives_each_pair_called_once_or_twice) {
  const backend_context context;
  const auto domain = make_box<double, 3>({0, 0, 0}, {4, 3, 3}, {true, false, true});
  std::mt19937_64 random(8);
  std::vector<vec<double, 3>> where(size_or(300, 100));
  for (auto& one : where) {
    one = {4 * random_unit<double>(random), 3 * random_unit<double>(random), 3 * random_unit<double>(random)};
  }
  const auto stored = to_device(context, where);
  const auto points = points_of(stored);
  constexpr double cutoff = 0.8;
  array<interaction<double, 3>, backend_context> sums(context, where.size());
  const auto found = [&](auto&& accumulate) {
    fill_bytes(context, sums.data(), 0xff, sums.bytes());
    accumulate();
    return to_host(context, sums);
  };
  auto list = make_neighbor_list(context, domain, {.cutoff = cutoff, .keeps_points = true});
  list.build(points);
  const auto wanted = found([&] { accumulate_neighbors(list, sums.data(), whole_interaction{}); });
  auto of_lattice = make_lattice_cells(context, domain, {.cutoff = cutoff});
  of_lattice.build(points);
  auto of_grid = make_cells(context, domain, cutoff);
  of_grid.build(points);
  const auto expect_wanted = [&](const auto& got) {
    double energy = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(got[i].force, wanted[i].force) << i;
      ASSERT_EQ(got[i].energy, wanted[i].energy) << i;
      energy += wanted[i].energy;
    }
    EXPECT_GT(energy, 0);
  };
  const auto over = [&](const auto& cells) {
    expect_wanted(
        found([&] { accumulate_neighbors(context, cells, points, cutoff, sums.data(), whole_interaction{}); }));
    expect_wanted(found([&] { accumulate_pairs(context, cells, points, cutoff, sums.data(), whole_interaction{}); }));
  };
  over(of_lattice.view());
  over(of_grid.view());
  expect_wanted(found([&] { accumulate_pairs(list, sums.data(), whole_interaction{}); }));
}

/// How often results of this number are refused by the visitors that check it.
[[nodiscard]] int refusals(const backend_context& context, const points_view<double, 3>& points, std::size_t room) {
  const auto domain = make_box<double, 3>({0, 0, 0}, {4, 4, 4}, {true, true, true});
  auto cells = make_lattice_cells(context, domain, {.cutoff = 0.8});
  cells.build(points);
  auto list = make_neighbor_list(context, domain, {.cutoff = 0.8, .keeps_points = true});
  list.build(points);
  auto tiles = make_cluster_pair_list(context, domain, {.cutoff = 0.8});
  tiles.build(points);
  array<interaction<double, 3>, backend_context> sums(context, 20), total(context, 1);
  array<double, backend_context> radii(context, points.count);
  fill_bytes(context, radii.data(), 0, radii.bytes());
  const particle_radii<double> by_radius{radii.data(), cutoff_rule::sum_of_radii};
  const std::span results(sums.data(), room);
  const auto view = cells.view();
  constexpr whole_interaction f{};
  int count = 0;
  const auto visit = [&](auto&& call) {
    const std::string text = error_of<argument_error>(call);
    if (text == "no error") return;
    ++count;
    expect_words(text, {message(points.count, " points"), message("room for ", room, " results")});
  };
  visit([&] { accumulate_neighbors(context, domain, points, 0.8, results, f); });
  visit([&] { accumulate_neighbors(context, view, points, 0.8, results, f); });
  visit([&] { accumulate_pairs(context, view, points, 0.8, results, f); });
  visit([&] { accumulate_neighbors(context, view, points, by_radius, results, f); });
  visit([&] { accumulate_pairs(context, view, points, by_radius, results, f); });
  visit([&] { accumulate_neighbors(list, results, f); });
  visit([&] { accumulate_pairs(list, results, f); });
  visit([&] { accumulate_pairs(list, results, total.data(), f); });
  visit([&] { accumulate_neighbors(tiles, results, f); });
  visit([&] { accumulate_neighbors(tiles, results, total.data(), f); });
  return count;
}

TEST_F(lattice_cells_case, and_lists_refuse_results_of_another_number) {
  const backend_context context;
  const auto stored = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1.5, 1, 1}, {3, 3, 3}});
  EXPECT_EQ(refusals(context, points_of(stored), 3), 0);
  EXPECT_EQ(refusals(context, points_of(stored), 2), 10);
  EXPECT_EQ(refusals(context, points_of(stored), 4), 10);
}

TEST_F(lattice_cells_case, refuse_what_they_cannot_serve) {
  const backend_context context;
  const double half = fitting_cutoff(tilted(), 100.0);
  const auto complaint_about = [&](const lattice<double, 3>& shape, double cutoff) {
    return error_of<argument_error>([&] { static_cast<void>(make_lattice_cells(context, shape, {.cutoff = cutoff})); });
  };
  expect_words(complaint_about(tilted(), half * 1.01), {"more than half", "vector"});
  for (const double cutoff : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1e200, 1e-200}) {
    expect_words(complaint_about(tilted({}), cutoff), {"the cutoff is", "must be positive"});
  }
  auto cells = make_lattice_cells(context, tilted({true, true, false}), {.cutoff = 1.2});
  EXPECT_THROW(static_cast<void>(cells.view()), argument_error);
  auto problem = tilted_problem(20, 6);
  auto points = to_device(context, problem.points);
  cells.build(points_of(points.data(), points.size()));
  EXPECT_THROW(for_each_pair(context, cells.view(), points_of(points.data(), points.size()), 1.21, neighbor_pairs::full,
                             note_pair<double, 3>{}),
               argument_error);
  problem.points[7] += 2.0 * tilted().vectors[2];
  points = to_device(context, problem.points);
  const auto build = [&] { cells.build(points_of(points.data(), points.size())); };
  expect_words(error_of<data_error>(build), {"point 7", "open vector 2"});
  EXPECT_THROW(static_cast<void>(cells.view()), argument_error);
  problem.points[7][0] = std::numeric_limits<double>::quiet_NaN();
  points = to_device(context, problem.points);
  cells.build_async(points_of(points.data(), points.size()));
  for (int call = 0; call < 2; ++call) {
    expect_words(error_of<data_error>([&] { cells.check(); }), {"point 7", "not finite"});
  }
  problem.points[7][0] = 0;
  problem.points[7][2] = 0;
  expect_words(error_of<argument_error>([&] { cells.build_async(points_of(points.data(), 100)); }), {"room for"});
}

}  // namespace quadrat::test
