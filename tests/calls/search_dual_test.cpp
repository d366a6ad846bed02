// SPDX-License-Identifier: BSD-3-Clause
#include "calls/calls.hpp"
#include "quadrat/search/cluster_pairs.hpp"
#include "quadrat/search/lattice_cells.hpp"
#include "quadrat/search/line.hpp"
#include "quadrat/search/make_cluster_finder.hpp"
#include "quadrat/search/make_nearest_neighbors.hpp"
#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/pair_counts.hpp"
#include "quadrat/search/pair_histogram.hpp"

namespace quadrat::test {

namespace {

class calls_of_search : public calls_test {};

TEST_F(calls_of_search, neighbor_lists) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  auto list = make_neighbor_list(context(), unit_box(), {.cutoff = 0.2f});
  expect_call("neighbor_list::count", grows_and_waits, [&] { static_cast<void>(list.count(points)); });
  expect_call("neighbor_list::build", grows_and_waits, [&] { list.build(points); });
  expect_call("neighbor_list::build_async", enqueues, [&] { list.build_async(points); });
  expect_call("neighbor_list::check", waits, [&] {
    list.build_async(points);
    list.check();
  });
  expect_call("neighbor_list::size", waits, [&] {
    list.build_async(points);
    static_cast<void>(list.size());
  });
  expect_call("neighbor_list::explanation", keeps_still, [&] { static_cast<void>(list.explanation()); });
  std::size_t room = list.size();
  expect_call("neighbor_list::reserve", grows_and_waits, [&] {
    list.build(points);
    list.build_async(points);
    list.reserve(room += 1000);
  });
  auto kept = make_neighbor_list(context(), unit_box(), {.cutoff = 0.2f, .skin = 0.05f});
  expect_call("neighbor_list::update", grows_and_waits, [&] { static_cast<void>(kept.update(points)); });
}

TEST_F(calls_of_search, nearest_neighbors) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  auto nearest = make_nearest_neighbors(context(), unit_box(), {.k = 4});
  expect_call("nearest_neighbors::build", takes_and_waits, [&] { nearest.build(points); });
  expect_call("nearest_neighbors::search", grows_and_waits, [&] { nearest.search(); });
  expect_call("nearest_neighbors::build_async", enqueues, [&] { nearest.build_async(points); });
  expect_call("nearest_neighbors::search_async", enqueues, [&] { nearest.search_async(); });
  expect_call("nearest_neighbors::check", waits, [&] { nearest.check(); });
}

TEST_F(calls_of_search, clusters) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  auto finder = make_cluster_finder(context(), unit_box(), {.cutoff = 0.05f});
  expect_call("cluster_finder::find", grows_and_waits, [&] { finder.find(points); });
  finder.reserve(count);
  expect_call("cluster_finder::find_async", enqueues, [&] { finder.find_async(points); });
  expect_call("cluster_finder::check", waits, [&] {
    finder.find_async(points);
    finder.check();
  });
  expect_call("cluster_finder::reserve", takes_and_waits, [&] {
    finder.find_async(points);
    finder.reserve(count);
  });
  finder.find(points);
  expect_call("cluster_finder::members", grows_and_waits, [&] { static_cast<void>(finder.members()); });
  expect_call("cluster_finder::centers", grows_and_waits, [&] { static_cast<void>(finder.centers()); });
  expect_call("cluster_finder::catalog", grows_and_waits, [&] { static_cast<void>(finder.catalog()); });
}

TEST_F(calls_of_search, other_searches) {
  const auto stored = some_points();
  const auto points = points_of(stored);
  auto tiles = make_cluster_pair_list(context(), unit_box(), {.cutoff = 0.2f, .skin = 0.05f});
  expect_call("cluster_pair_list::build", grows_and_waits, [&] { tiles.build(points); });
  expect_call("cluster_pair_list::update", grows_and_waits, [&] { static_cast<void>(tiles.update(points)); });

  auto cells = make_lattice_cells(context(), unit_box(), {.cutoff = 0.2f});
  expect_call("lattice_cells::build", grows_and_waits, [&] { cells.build(points); });
  expect_call("lattice_cells::build_async", enqueues, [&] { cells.build_async(points); });
  expect_call("lattice_cells::check", waits, [&] { cells.check(); });
  expect_call("lattice_cells::reserve", makes_room, [&] { cells.reserve(count); });

  pair_histogram<backend_context, float, 3> histogram(context(), {.cutoff = 0.2f});
  expect_call("pair_histogram::add", grows_and_waits, [&] { histogram.add(points, unit_box()); });
  expect_call("pair_histogram::result", waits, [&] { static_cast<void>(histogram.result()); });
  expect_call("pair_histogram::clear", keeps_still, [&] { histogram.clear(); });

  pair_counts<backend_context, float, 3> pairs(context(), unit_box(), {pair_coordinates::r, {0, 0.2}, {}});
  expect_call("pair_counts::count", grows_and_waits, [&] { static_cast<void>(pairs.count(points)); });
  expect_call("pair_counts::count_between", grows_and_waits,
              [&] { static_cast<void>(pairs.count_between(points, points)); });

  line_points<backend_context, float> line(context());
  const auto x = some_numbers<float>(count, count);
  expect_call("line_points::view", makes_room, [&] { static_cast<void>(line.view(x.data(), count)); });
}

}  // namespace

}  // namespace quadrat::test
