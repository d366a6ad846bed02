// SPDX-License-Identifier: BSD-3-Clause
#include <span>

#include "calls/calls.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/distributed/visit.hpp"
#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/visit.hpp"
#include "quadrat/search/visit_clusters.hpp"
#include "quadrat/search/visit_list.hpp"
#include "quadrat/search/visit_points.hpp"
#include "quadrat/search/visit_radii.hpp"

namespace quadrat::test {

namespace {

class calls_of_visitors : public calls_test {};

TEST_F(calls_of_visitors, over_cells) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  array<float, backend_context> sums(context(), count);
  const auto radii = some_numbers<float>(count, 1);
  const particle_radii<float> given{radii.data(), cutoff_rule::sum_of_radii};
  const count_one f;
  auto cells = make_cells(context(), unit_box(), 0.2f);
  cells.build(points);
  const auto view = cells.view();
  const auto full = neighbor_pairs::full;
  float* const to = sums.data();
  const backend_context& here = context();
  expect_call("visit.hpp::for_each_pair", waits, [&] { for_each_pair(here, view, points, 0.2f, full, f); });
  expect_call("visit.hpp::for_each_pair_async", enqueues,
              [&] { for_each_pair_async(here, view, points, 0.2f, full, f); });
  expect_call("visit.hpp::accumulate_neighbors", waits, [&] { accumulate_neighbors(here, view, points, 0.2f, to, f); });
  expect_call("visit.hpp::accumulate_neighbors_async", enqueues,
              [&] { accumulate_neighbors_async(here, view, points, 0.2f, to, f); });
  expect_call("visit.hpp::accumulate_pairs", waits, [&] { accumulate_pairs(here, view, points, 0.2f, to, f); });
  expect_call("visit.hpp::accumulate_pairs_async", enqueues,
              [&] { accumulate_pairs_async(here, view, points, 0.2f, to, f); });
  expect_call("visit.hpp::for_each_own_pair", waits,
              [&] { for_each_own_pair(here, view, points, count, nullptr, 0.2f, full, f); });
  expect_call("visit.hpp::for_each_own_pair_async", enqueues,
              [&] { for_each_own_pair_async(here, view, points, count, nullptr, 0.2f, full, f); });
  expect_call("visit_radii.hpp::for_each_pair", grows_and_waits,
              [&] { for_each_pair(here, view, points, given, full, f); });
  expect_call("visit_radii.hpp::accumulate_neighbors", grows_and_waits,
              [&] { accumulate_neighbors(here, view, points, given, to, f); });
  expect_call("visit_radii.hpp::accumulate_pairs", grows_and_waits,
              [&] { accumulate_pairs(here, view, points, given, to, f); });
  expect_call("visit_points.hpp::accumulate_neighbors", takes_and_waits,
              [&] { accumulate_neighbors(here, unit_box(), points, 0.2f, std::span(to, count), f); });
}

TEST_F(calls_of_visitors, over_lists) {
  const auto stored = some_points();
  array<float, backend_context> sums(context(), count), total(context(), 1);
  const count_one f;
  auto list = make_neighbor_list(context(), unit_box(), {.cutoff = 0.2f, .keeps_points = true});
  list.build(points_of(stored));
  expect_call("visit_list.hpp::for_each_pair", waits, [&] { for_each_pair(list, f); });
  expect_call("visit_list.hpp::for_each_pair_async", enqueues, [&] { for_each_pair_async(list, f); });
  expect_call("visit_list.hpp::accumulate_neighbors", waits, [&] { accumulate_neighbors(list, sums.data(), f); });
  expect_call("visit_list.hpp::accumulate_neighbors_async", enqueues,
              [&] { accumulate_neighbors_async(list, sums.data(), f); });
  expect_call("visit_list.hpp::accumulate_pairs", waits, [&] { accumulate_pairs(list, sums.data(), total.data(), f); });
  expect_call("visit_list.hpp::accumulate_pairs_async", enqueues,
              [&] { accumulate_pairs_async(list, sums.data(), total.data(), f); });

  auto tiles = make_cluster_pair_list(context(), unit_box(), {.cutoff = 0.2f});
  tiles.build(points_of(stored));
  expect_call("visit_clusters.hpp::for_each_pair", waits, [&] { for_each_pair(tiles, f); });
  expect_call("visit_clusters.hpp::for_each_pair_async", enqueues, [&] { for_each_pair_async(tiles, f); });
  expect_call("visit_clusters.hpp::accumulate_neighbors", waits,
              [&] { accumulate_neighbors(tiles, sums.data(), total.data(), f); });
  expect_call("visit_clusters.hpp::accumulate_neighbors_async", enqueues,
              [&] { accumulate_neighbors_async(tiles, sums.data(), total.data(), f); });
}

}  // namespace

}  // namespace quadrat::test
