// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/reduced_lattice.hpp"
#include "nearest_support.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "quadrat/search/cluster_pairs.hpp"
#include "quadrat/search/interaction.hpp"
#include "quadrat/search/lattice_cells.hpp"
#include "quadrat/search/pair_histogram.hpp"
#include "quadrat/search/visit.hpp"
#include "quadrat/search/visit_clusters.hpp"
#include "search/nearest/box.hpp"
#include "support/backend.hpp"

// Nearest neighbors, clusters, distributions and cells in strongly sheared boxes: those of the same lattice with the
// shortest vectors, at the same cost. Lists: sheared_boxes_dual_test.cpp.

namespace quadrat::test {

namespace {

class sheared_searches_test : public backend_test {};

/// The same lattice for every shear. With an open axis that vector stays, and points may be anywhere along it.
template <int D>
[[nodiscard]] lattice<double, D> box_sheared_by(int by, int open, bool left) {
  vec<vec<double, D>, D> vectors{};
  for (int k = 0; k < D; ++k) vectors[k][k] = 4 + 0.5 * k;
  if (D == 3) vectors[D - 1][0] = open < 0 ? 0.75 : 0.0;
  if (left) vectors[0] = -vectors[0];
  auto periodic = vec<bool, D>::filled(true);
  if (open >= 0) periodic[open] = false;
  int last = -1;  // each periodic vector is sheared along the one before it
  for (int k = 0; k < D; ++k) {
    if (!periodic[k]) continue;
    if (last >= 0) vectors[k] += (k == D - 1 && D == 3 && open < 0 ? 1.0 : static_cast<double>(by)) * vectors[last];
    last = k;
  }
  if (by == 0 && D == 3 && open < 0) vectors[2] -= vectors[1];
  return make_lattice<double, D>(vec<double, D>::filled(0.5), vectors, periodic);
}

template <int D>
[[nodiscard]] std::vector<vec<double, D>> points_around(std::size_t count) {
  std::mt19937_64 random(11);
  std::vector<vec<double, D>> points(count);
  for (auto& point : points) point = make_vec<double, D>([&](int) { return 0.6 + 14 * random_unit<double>(random); });
  return points;
}

/// Calls test(box, the same lattice upright) for boxes of all kinds.
template <int D, typename F>
void for_each_sheared_box(const F& test) {
  for (const int by : {1, 10, 30, 300}) {
    for (int open = D == 3 ? -1 : -1; open < (D == 3 ? D : 0); ++open) {
      for (const bool left : {false, true}) {
        if (D == 3 && by == 300 && open < 0) continue;  // the third vector holds more than 300 of the first
        SCOPED_TRACE(message(D, "D, sheared by ", by, ", open axis ", open, left ? ", left-handed" : ""));
        test(box_sheared_by<D>(by, open, left), box_sheared_by<D>(0, open, left));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

template <int D>
void expect_nearest_of_sheared_boxes() {
  const auto points = points_around<D>(60);
  const backend_context context;
  for_each_sheared_box<D>([&](const lattice<double, D>& box, const lattice<double, D>& upright) {
    for (const std::size_t k : {std::size_t{1}, std::size_t{12}}) {
      const nearest_options<double> options{.k = k, .shifts = true};
      const auto rows = find_nearest(context, nearest_problem<double, D>{box, options, points, {}, false});
      const auto same = find_nearest(context, nearest_problem<double, D>{upright, options, points, {}, false});
      for (std::size_t entry = 0; entry < rows.squared.size(); ++entry) {
        ASSERT_NEAR(rows.squared[entry], same.squared[entry], 1e-9);
        // The shift is that of the box as given.
        vec<double, D> r = points[rows.neighbors[entry]] - points[entry / k];
        for (int a = 0; a < D; ++a) r += rows.shifts[entry][a] * box.vectors[a];
        ASSERT_NEAR(squared_norm(r), rows.squared[entry], 1e-8) << "row " << entry / k;
      }
      // No more images are searched.
      EXPECT_EQ(detail::make_nearest_images(detail::reduced(box, true).shape, options).most,
                detail::make_nearest_images(detail::reduced(upright, true).shape, options).most);
    }
  });
}

template <int D>
[[nodiscard]] std::vector<std::int32_t> labels_in(const backend_context& context, const lattice<double, D>& box,
                                                  const std::vector<vec<double, D>>& points, double cutoff) {
  cluster_finder<backend_context, double, D> finder(context, box,
                                                    {.cutoff = cutoff, .min_points = 3, .accept_outside = true});
  const auto stored = to_device(context, points);
  finder.find(points_of(stored));
  return to_host(context, finder.view().labels, points.size());
}

template <int D>
void expect_clusters_of_sheared_boxes() {
  const auto points = points_around<D>(D == 2 ? 30 : 60);
  const backend_context context;
  for_each_sheared_box<D>([&](const lattice<double, D>& box, const lattice<double, D>& upright) {
    for (const double cutoff : {0.6, 1.0, 0.4 * 4}) {
      EXPECT_EQ(labels_in(context, box, points, cutoff), labels_in(context, upright, points, cutoff)) << cutoff;
    }
  });
}

template <int D>
[[nodiscard]] std::vector<std::uint64_t> distances_in(const backend_context& context, const lattice<double, D>& box,
                                                      const std::vector<vec<double, D>>& points) {
  pair_histogram<backend_context, double, D> histogram(context, {.cutoff = 5, .bins = 100, .accept_outside = true});
  const auto stored = to_device(context, points);
  histogram.add(points_of(stored), box);
  return histogram.result().counts;
}

template <int D>
void expect_distances_of_sheared_boxes() {
  const auto points = points_around<D>(40);
  const backend_context context;
  for_each_sheared_box<D>([&](const lattice<double, D>& box, const lattice<double, D>& upright) {
    EXPECT_EQ(distances_in(context, box, points), distances_in(context, upright, points));
  });
}

struct add_pair {
  template <typename T, int D>
  QUADRAT_HD tensor_interaction<T, D> operator()(particle_id, particle_id, const vec<T, D>& r, T) const {
    return make_tensor_interaction(r, T(2), T(1));
  }
};

template <int D>
[[nodiscard]] std::vector<tensor_interaction<double, D>> cluster_sums_in(const backend_context& context,
                                                                         const lattice<double, D>& box,
                                                                         const std::vector<vec<double, D>>& points) {
  auto list = make_cluster_pair_list(context, box, {.cutoff = 1.7, .skin = 0.2});
  const auto stored = to_device(context, points);
  list.build(points_of(stored));
  auto moved = points;
  for (auto& point : moved) point[0] += 0.01;
  const auto there = to_device(context, moved);
  EXPECT_FALSE(list.update(points_of(there)));
  array<tensor_interaction<double, D>, backend_context> sums(context, points.size());
  accumulate_neighbors(list, sums.data(), add_pair{});
  return to_host(context, sums);
}

[[nodiscard]] inline std::vector<tensor_interaction<double, 3>> cell_sums_in(
    const backend_context& context, const lattice<double, 3>& box, const std::vector<vec<double, 3>>& points) {
  auto cells = make_lattice_cells(context, box, {.cutoff = 1.7, .accept_outside = true});
  const auto stored = to_device(context, points);
  cells.build(points_of(stored));
  array<tensor_interaction<double, 3>, backend_context> sums(context, points.size());
  accumulate_neighbors(context, cells.view(), points_of(stored), 1.7, sums.data(), add_pair{});
  return to_host(context, sums);
}

}  // namespace

TEST_F(sheared_searches_test, find_the_nearest_with_shifts_of_the_box_as_given) {
  expect_nearest_of_sheared_boxes<2>();
  expect_nearest_of_sheared_boxes<3>();
}

TEST_F(sheared_searches_test, find_the_clusters_that_links_up_to_half_a_height_make) {
  expect_clusters_of_sheared_boxes<2>();
  expect_clusters_of_sheared_boxes<3>();
}

TEST_F(sheared_searches_test, count_the_distances_of_the_same_lattice) {
  expect_distances_of_sheared_boxes<2>();
  expect_distances_of_sheared_boxes<3>();
}

TEST_F(sheared_searches_test, sum_over_the_same_pairs_of_clusters_and_of_cells) {
  const auto points = points_around<3>(60);
  const backend_context context;
  for_each_sheared_box<3>([&](const lattice<double, 3>& box, const lattice<double, 3>& upright) {
    for (const bool cells : {false, true}) {
      const auto sums = [&](const auto& of) {
        return cells ? cell_sums_in(context, of, points) : cluster_sums_in<3>(context, of, points);
      };
      const auto got = sums(box), wanted = sums(upright);
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_EQ(got[i].energy, wanted[i].energy) << i;
        ASSERT_LT(norm(got[i].force - wanted[i].force), 1e-9) << i;
        for (int k = 0; k < 9; ++k) ASSERT_NEAR(got[i].virial[k], wanted[i].virial[k], 1e-9) << i;
      }
    }
  });
}

TEST_F(sheared_searches_test, say_that_a_height_is_too_small_for_a_link) {
  const auto box = make_lattice<double, 2>({}, {{{{4, 0}}, {{1, 2}}}}, {true, true});
  const auto problem = error_of<argument_error>(
      [&] { static_cast<void>(cluster_finder<backend_context, double, 2>({}, box, {.cutoff = 1.5})); });
  expect_words(problem, {"cutoff 1.5", "vector 1", "height 2", "at most 1"});
}

}  // namespace quadrat::test
