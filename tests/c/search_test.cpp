// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "c/support.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "quadrat/search/pair_counts.hpp"
#include "quadrat/search/pair_histogram.hpp"

namespace quadrat::testing {
namespace {

constexpr double sheared_sides[9] = {1, 0, 0, 0.2, 1, 0, 0, 0.1, 1};

[[nodiscard]] lattice<double, 3> sheared() {
  return make_lattice(vec<double, 3>{}, vec<vec<double, 3>, 3>{{{{1, 0, 0}}, {{0.2, 1, 0}}, {{0, 0.1, 1}}}},
                      vec<bool, 3>{true, true, true});
}
[[nodiscard]] points_view<double, 3> view_of(const std::vector<double>& places) {
  return strided_points<3>(places.data(), places.size() / 3);
}

QUADRAT_ON_DEVICES(c_neighbor_list);

class list_of_c {
 public:
  list_of_c(quadrat_context* context, const quadrat_neighbor_options& options) {
    QUADRAT_EXPECT_OK(quadrat_neighbor_list_create(context, &options, &list));
  }
  ~list_of_c() { quadrat_neighbor_list_destroy(list); }
  list_of_c(const list_of_c&) = delete;
  list_of_c& operator=(const list_of_c&) = delete;
  quadrat_neighbor_list* list = nullptr;
};

[[nodiscard]] quadrat_neighbor_options sorted_options() {
  auto options = sized<quadrat_neighbor_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 3;
  options.cutoff = 0.15;
  options.sorted = 1;
  return options;
}
[[nodiscard]] quadrat_neighbor_input input_at(const double* places) {
  auto input = sized<quadrat_neighbor_input>();
  input.points = {places, count, 0, 0};
  input.boxes.vectors = sheared_sides;
  return input;
}

TEST_P(c_neighbor_list, has_the_arrays_of_the_list_in_cpp) {
  auto options = sorted_options();
  options.outputs =
      QUADRAT_NEIGHBOR_FIRST | QUADRAT_NEIGHBOR_SHIFTS | QUADRAT_NEIGHBOR_VECTORS | QUADRAT_NEIGHBOR_SQUARED_DISTANCES;
  const list_of_c built(context_, options);
  const std::vector<double> places = uniform<double>(3 * count, 0, 1);
  const quadrat_neighbor_input input = input_at(on_device(places));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_build(built.list, &input));
  auto view = sized<quadrat_neighbor_view>();
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_view(built.list, &view));

  neighbor_options<double> same;
  same.cutoff = 0.15;
  same.sorted = same.shifts = same.vectors = same.squared_distances = true;
  same.layout = neighbor_layout::pairs;
  neighbor_list<cpu_context, double, 3> expected(cpu_context{}, {sheared()}, same);
  expected.build(view_of(places));
  const auto list = expected.view();
  const auto entries = static_cast<std::size_t>(expected.size());
  ASSERT_GT(entries, count);
  ASSERT_EQ(view.rows, count);
  ASSERT_EQ(view.entries, entries);
  EXPECT_EQ(on_host<std::uint64_t>(view.offsets, count + 1), std::vector(list.offsets, list.offsets + count + 1));
  EXPECT_EQ(on_host<std::uint32_t>(view.neighbors, entries), std::vector(list.neighbors, list.neighbors + entries));
  EXPECT_EQ(on_host<std::uint32_t>(view.first, entries), std::vector(list.first, list.first + entries));
  const int* const shifts = list.shifts->component;
  EXPECT_EQ(on_host<int>(view.shifts, 3 * entries), std::vector(shifts, shifts + 3 * entries));
  const double* const vectors = list.vectors->component;
  expect_close(on_host<double>(view.vectors, 3 * entries), std::vector(vectors, vectors + 3 * entries), 1e-14);

  // The same arrays as the caller's types.
  auto* const wide = room<std::int64_t>(3 * entries);
  QUADRAT_EXPECT_OK(quadrat_neighbor_list_write(built.list, QUADRAT_NEIGHBOR_OFFSETS, QUADRAT_INT64, wide));
  EXPECT_EQ(on_host<std::uint64_t>(wide, count + 1), on_host<std::uint64_t>(view.offsets, count + 1));
  QUADRAT_EXPECT_OK(quadrat_neighbor_list_write(built.list, QUADRAT_NEIGHBOR_INDICES, QUADRAT_INT32, wide));
  EXPECT_EQ(on_host<std::uint32_t>(wide, entries), on_host<std::uint32_t>(view.neighbors, entries));
  QUADRAT_EXPECT_OK(quadrat_neighbor_list_write(built.list, QUADRAT_NEIGHBOR_SHIFTS, QUADRAT_INT32, wide));
  EXPECT_EQ(on_host<std::int32_t>(wide, 3 * entries), on_host<std::int32_t>(view.shifts, 3 * entries));
  auto* const lengths = room<double>(entries);
  QUADRAT_EXPECT_OK(quadrat_neighbor_list_write(built.list, QUADRAT_NEIGHBOR_DISTANCES, QUADRAT_INT64, lengths));
  const std::vector<double> found = on_host<double>(lengths, entries);
  for (std::size_t k = 0; k < entries; ++k) EXPECT_NEAR(found[k] * found[k], list.squared_distances[k], 1e-15);

  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_neighbor_list_info(built.list, &info));
  EXPECT_NE(std::string(info.method), "");
  EXPECT_GT(info.bytes, 0u);
}

TEST_P(c_neighbor_list, takes_systems_queries_exclusions_and_columns) {
  const list_of_c built(context_, sorted_options());
  const std::vector<double> places = uniform<double>(3 * count, 0, 1), queries = uniform<double>(30, 0, 1, 2);
  std::vector<double> columns(3 * count);
  std::vector<std::int64_t> systems(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t a = 0; a < 3; ++a) columns[a * count + i] = places[3 * i + a];
    systems[i] = static_cast<std::int64_t>(i % 2);
  }
  const std::vector<std::uint32_t> excluded{3, 9, 4, 10};
  const std::vector<double> both{1, 0, 0, 0.2, 1, 0, 0, 0.1, 1, 1, 0, 0, 0.2, 1, 0, 0, 0.1, 1};
  auto input = input_at(on_device(columns));
  input.points.stride = 1;
  input.points.component_stride = count;
  input.boxes.vectors = both.data();
  input.boxes.count = 2;
  input.system_of_point = {on_device(systems), count, QUADRAT_INT64};
  input.excluded = excluded.data();
  input.excluded_count = 2;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_build(built.list, &input));
  auto view = sized<quadrat_neighbor_view>();
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_view(built.list, &view));

  neighbor_options<double> same;
  same.cutoff = 0.15;
  same.sorted = true;
  const cpu_context cpu;
  neighbor_list<cpu_context, double, 3> expected(cpu, {sheared(), sheared()}, same);
  const std::vector<std::uint32_t> numbers(systems.begin(), systems.end());
  std::vector<std::uint64_t> offsets(count + 1, 0);
  for (std::size_t i = 4; i <= count; ++i) offsets[i] = i > 4 ? 2 : 1;
  const std::vector<std::uint32_t> others{9, 10};
  auto given = expected.input(view_of(places), numbers.data());
  given.excluded_offsets = offsets.data();
  given.excluded = others.data();
  expected.build(given);
  ASSERT_EQ(view.entries, expected.size());
  const auto list = expected.view();
  EXPECT_EQ(on_host<std::uint32_t>(view.neighbors, view.entries),
            std::vector(list.neighbors, list.neighbors + view.entries));

  auto asked = input_at(on_device(places));
  const quadrat_points around{on_device(queries), 10, 0, 0};
  asked.queries = &around;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_build(built.list, &asked));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_view(built.list, &view));
  EXPECT_EQ(view.rows, 10u);
}

TEST_P(c_neighbor_list, updates_within_its_skin_and_builds_again_without_waiting) {
  auto options = sorted_options();
  options.skin = 0.02;
  const list_of_c built(context_, options);
  std::vector<double> places = uniform<double>(3 * count, 0, 1);
  quadrat_neighbor_input input = input_at(on_device(places));
  int rebuilt = -1;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_update(built.list, &input, &rebuilt));
  EXPECT_EQ(rebuilt, 1);
  places[0] += 0.005;
  input = input_at(on_device(places));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_update(built.list, &input, &rebuilt));
  EXPECT_EQ(rebuilt, 0);
  places[0] += 0.3;
  input = input_at(on_device(places));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_update(built.list, &input, nullptr));

  const list_of_c again(context_, sorted_options());
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_build(again.list, &input));
  auto first = sized<quadrat_neighbor_view>(), second = first;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_view(again.list, &first));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_build_async(again.list, &input));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_check(again.list));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_view(again.list, &second));
  EXPECT_EQ(first.entries, second.entries);
}

TEST_P(c_neighbor_list, writes_arrays_of_its_capacity_without_waiting) {
  auto options = sorted_options();
  options.outputs = QUADRAT_NEIGHBOR_FIRST | QUADRAT_NEIGHBOR_SHIFTS | QUADRAT_NEIGHBOR_DISTANCES;
  const list_of_c built(context_, options);
  const std::vector<double> places = uniform<double>(3 * count, 0, 1), others = uniform<double>(3 * count, 0, 1, 5);
  quadrat_neighbor_input input = input_at(on_device(places));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_build(built.list, &input));
  const std::size_t capacity = 40 * count;
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_reserve(built.list, capacity));
  input = input_at(on_device(others));
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_build_async(built.list, &input));
  auto* const first = room<std::int32_t>(capacity);
  auto* const second = room<std::int64_t>(capacity);
  auto* const shifts = room<std::int32_t>(3 * capacity);
  auto* const lengths = room<double>(capacity);
  const auto write = [&](int output, int type, void* to) {
    QUADRAT_EXPECT_OK(quadrat_neighbor_list_write_padded_async(built.list, output, type, capacity, to));
  };
  const auto write_all = [&] {
    write(QUADRAT_NEIGHBOR_FIRST, QUADRAT_INT32, first);
    write(QUADRAT_NEIGHBOR_INDICES, QUADRAT_INT64, second);
    write(QUADRAT_NEIGHBOR_SHIFTS, QUADRAT_INT32, shifts);
    write(QUADRAT_NEIGHBOR_DISTANCES, QUADRAT_INT32, lengths);
  };
  write_all();
  QUADRAT_ASSERT_OK(quadrat_neighbor_list_check(built.list));

  neighbor_options<double> same;
  same.cutoff = 0.15;
  same.sorted = same.shifts = same.squared_distances = true;
  same.layout = neighbor_layout::pairs;
  neighbor_list<cpu_context, double, 3> expected(cpu_context{}, {sheared()}, same);
  expected.build(view_of(others));
  const auto list = expected.view();
  const auto entries = static_cast<std::size_t>(expected.size());
  ASSERT_GT(entries, count);
  ASSERT_LT(entries, capacity);
  for (std::size_t e = 0; e < capacity; ++e) {
    const bool pair = e < entries;
    ASSERT_EQ(on_host<std::int32_t>(first + e, 1)[0], pair ? static_cast<int>(list.first[e]) : static_cast<int>(count));
    ASSERT_EQ(on_host<std::int64_t>(second + e, 1)[0], static_cast<std::int64_t>(pair ? list.neighbors[e] : count));
    ASSERT_EQ(on_host<std::int32_t>(shifts + 3 * e + 2, 1)[0], pair ? list.shifts[e][2] : 0);
    ASSERT_NEAR(on_host<double>(lengths + e, 1)[0], pair ? std::sqrt(list.squared_distances[e]) : 0.15, 1e-14);
  }
  expect_error(
      quadrat_neighbor_list_write_padded(built.list, QUADRAT_NEIGHBOR_FIRST, QUADRAT_INT32, capacity - 1, first),
      QUADRAT_ARGUMENT_ERROR, std::to_string(capacity - 1));
  expect_error(quadrat_neighbor_list_write_padded(built.list, QUADRAT_NEIGHBOR_VECTORS, QUADRAT_INT32, capacity, first),
               QUADRAT_ARGUMENT_ERROR, "did not request");
  expect_error(quadrat_neighbor_list_write_padded(built.list, QUADRAT_NEIGHBOR_OFFSETS, QUADRAT_INT32, capacity, first),
               QUADRAT_ARGUMENT_ERROR, "that has entries");
}

TEST_P(c_neighbor_list, names_the_point_that_is_not_finite) {
  const list_of_c built(context_, sorted_options());
  std::vector<double> places = uniform<double>(3 * count, 0, 1);
  places[3 * 77 + 1] = std::nan("");
  const quadrat_neighbor_input input = input_at(on_device(places));
  expect_error(quadrat_neighbor_list_build(built.list, &input), QUADRAT_DATA_ERROR, "77");
  EXPECT_EQ(quadrat_error_number(), 77);
  auto view = sized<quadrat_neighbor_view>();
  EXPECT_EQ(quadrat_neighbor_list_view(built.list, &view), QUADRAT_ARGUMENT_ERROR);
}

QUADRAT_ON_DEVICES(c_nearest_neighbors);

TEST_P(c_nearest_neighbors, finds_what_the_class_in_cpp_finds) {
  auto options = sized<quadrat_nearest_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 3;
  options.k = 4;
  options.shifts = 1;
  quadrat_boxes box{};
  box.vectors = sheared_sides;
  quadrat_nearest_neighbors* nearest = nullptr;
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_create(context_, &box, &options, &nearest));
  const std::vector<double> places = uniform<double>(3 * count, 0, 1), asked = uniform<double>(30, 0, 1, 3);
  const quadrat_points points{on_device(places), count, 0, 0}, queries{on_device(asked), 10, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_build(nearest, &points, nullptr));
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_search(nearest, nullptr, nullptr));

  nearest_options<double> same;
  same.k = 4;
  same.shifts = true;
  nearest_neighbors<cpu_context, double, 3> expected(cpu_context{}, sheared(), same);
  expected.build(view_of(places));
  expected.search();
  auto compare = [&] {
    const auto found = expected.view();
    const std::size_t size = found.rows * found.k;
    auto view = sized<quadrat_nearest_view>();
    QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_view(nearest, &view));
    ASSERT_EQ(view.rows, found.rows);
    ASSERT_EQ(view.k, 4u);
    EXPECT_EQ(on_host<std::uint32_t>(view.neighbors, size), std::vector(found.neighbors, found.neighbors + size));
    expect_close(on_host<double>(view.squared_distances, size),
                 std::vector(found.squared_distances, found.squared_distances + size), 1e-15);
    const int* const shifts = found.shifts->component;
    auto* const written = room<std::int64_t>(3 * size);
    QUADRAT_EXPECT_OK(quadrat_nearest_neighbors_write(nearest, QUADRAT_NEAREST_SHIFTS, QUADRAT_INT32, written));
    EXPECT_EQ(on_host<int>(written, 3 * size), std::vector(shifts, shifts + 3 * size));
    QUADRAT_EXPECT_OK(quadrat_nearest_neighbors_write(nearest, QUADRAT_NEAREST_INDICES, QUADRAT_INT64, written));
    EXPECT_EQ(on_host<std::int64_t>(written, 1)[0], static_cast<std::int64_t>(found.neighbors[0]));
  };
  compare();
  expected.search(view_of(asked));
  expect_error(quadrat_nearest_neighbors_search_async(nearest, &queries, nullptr), QUADRAT_ARGUMENT_ERROR,
               "call search first");
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_search(nearest, &queries, nullptr));
  compare();
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_search_async(nearest, &queries, nullptr));
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_check(nearest));
  compare();
  expected.build(view_of(asked));
  expected.search();
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_build_async(nearest, &queries, nullptr));
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_search_async(nearest, nullptr, nullptr));
  QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_check(nearest));
  compare();
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_nearest_neighbors_info(nearest, &info));
  EXPECT_GT(info.bytes, 0u);
  quadrat_nearest_neighbors_destroy(nearest);
}

QUADRAT_ON_DEVICES(c_cluster_finder);

TEST_P(c_cluster_finder, finds_what_the_class_in_cpp_finds) {
  auto options = sized<quadrat_cluster_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 3;
  options.cutoff = 0.07;
  options.min_points = 2;
  quadrat_boxes box{};
  box.vectors = sheared_sides;
  quadrat_cluster_finder* finder = nullptr;
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_create(context_, &box, &options, &finder));
  const std::vector<double> places = uniform<double>(3 * count, 0, 1);
  const quadrat_points points{on_device(places), count, 0, 0};
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_find(finder, &points, nullptr));
  cluster_options<double> same;
  same.cutoff = 0.07;
  same.min_points = 2;
  cluster_finder<cpu_context, double, 3> expected(cpu_context{}, sheared(), same);
  expected.find(view_of(places));
  const cluster_view found = expected.view();
  auto view = sized<quadrat_cluster_view>();
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_view(finder, &view));
  ASSERT_EQ(view.points, count);
  ASSERT_EQ(view.clusters, found.clusters);
  ASSERT_GT(found.clusters, 3u);
  EXPECT_EQ(on_host<std::int32_t>(view.labels, count), std::vector(found.labels, found.labels + count));
  EXPECT_EQ(on_host<std::uint32_t>(view.sizes, found.clusters), std::vector(found.sizes, found.sizes + found.clusters));
  auto members = sized<quadrat_cluster_members>();
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_members(finder, &members));
  const cluster_members rows = expected.members();
  ASSERT_EQ(members.members, rows.offsets[rows.clusters]);
  EXPECT_EQ(on_host<std::uint32_t>(members.points, members.members),
            std::vector(rows.points, rows.points + members.members));
  auto* const labels = room<std::int64_t>(count);
  QUADRAT_EXPECT_OK(quadrat_cluster_finder_write(finder, QUADRAT_CLUSTER_LABELS, QUADRAT_INT64, labels));
  EXPECT_EQ(on_host<std::int64_t>(labels, count), std::vector<std::int64_t>(found.labels, found.labels + count));
  auto* const centers = room<double>(3 * found.clusters);
  QUADRAT_EXPECT_OK(quadrat_cluster_finder_write(finder, QUADRAT_CLUSTER_CENTERS, QUADRAT_INT64, centers));
  const double* const means = expected.centers()->component;
  expect_close(on_host<double>(centers, 3 * found.clusters), std::vector(means, means + 3 * found.clusters), 1e-12);
  expect_error(quadrat_cluster_finder_write(finder, QUADRAT_CLUSTER_ROWS, QUADRAT_INT64, labels),
               QUADRAT_ARGUMENT_ERROR, "there is no catalog");
  auto wanted = sized<quadrat_catalog_options>();
  wanted.by_size = 1;
  wanted.least_size = 3;
  wanted.velocities = points;
  auto catalog = sized<quadrat_cluster_catalog>();
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_catalog(finder, &wanted, &catalog));
  cluster_catalog_options<double, 3> asked;
  asked.by_size = true;
  asked.least_size = 3;
  asked.velocities = view_of(places);
  const cluster_catalog<double, 3> made = expected.catalog(asked);
  ASSERT_EQ(catalog.count, made.count);
  ASSERT_GT(catalog.count, 1u);
  using group_type = cluster_group<double, 3>;
  ASSERT_EQ(catalog.group_bytes, sizeof(group_type));
  const auto groups = on_host<group_type>(catalog.groups, made.count);
  for (std::size_t k = 0; k < made.count; ++k) {
    EXPECT_EQ(groups[k].label, made.groups[k].label);
    EXPECT_EQ(groups[k].size, made.groups[k].size);
    EXPECT_EQ(groups[k].central, made.groups[k].central);
    EXPECT_LT(norm(groups[k].velocity - made.groups[k].velocity), 1e-12);
  }
  EXPECT_EQ(on_host<std::int32_t>(catalog.rows, count), std::vector(made.rows, made.rows + count));
  QUADRAT_EXPECT_OK(quadrat_cluster_finder_write(finder, QUADRAT_CLUSTER_ROWS, QUADRAT_INT64, labels));
  EXPECT_EQ(on_host<std::int64_t>(labels, count), std::vector<std::int64_t>(made.rows, made.rows + count));
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_reserve(finder, found.clusters));
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_find_async(finder, &points, nullptr));
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_check(finder));
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_view(finder, &view));
  EXPECT_EQ(view.clusters, found.clusters);
  EXPECT_EQ(on_host<std::int32_t>(view.labels, count), std::vector(found.labels, found.labels + count));
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_cluster_finder_info(finder, &info));
  quadrat_cluster_finder_destroy(finder);
}

QUADRAT_ON_DEVICES(c_pair_histogram);

TEST_P(c_pair_histogram, counts_what_the_class_in_cpp_counts) {
  auto options = sized<quadrat_histogram_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 3;
  options.cutoff = 0.3;
  options.bins = 20;
  options.types = 2;
  quadrat_boxes box{};
  box.vectors = sheared_sides;
  quadrat_pair_histogram* histogram = nullptr;
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_create(context_, &options, &histogram));
  const std::vector<double> places = uniform<double>(3 * count, 0, 1);
  std::vector<std::uint32_t> types(count);
  for (std::size_t i = 0; i < count; ++i) types[i] = i % 3 == 0 ? 1u : 0u;
  const quadrat_points points{on_device(places), count, 0, 0};
  const quadrat_integers numbers{on_device(types), count, QUADRAT_UINT32};
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_add(histogram, &points, &box, nullptr, &numbers));
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_clear(histogram));
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_add(histogram, &points, &box, nullptr, &numbers));
  pair_histogram_options<double> same;
  same.cutoff = 0.3;
  same.bins = 20;
  same.types = 2;
  pair_histogram<cpu_context, double, 3> expected(cpu_context{}, same);
  expected.add(view_of(places), sheared(), types.data());
  const pair_histogram_result found = expected.result();
  auto view = sized<quadrat_histogram_view>();
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_view(histogram, &view));
  ASSERT_EQ(view.frames, 1u);
  ASSERT_EQ(view.bins * view.pairs_of_types, found.counts.size());
  EXPECT_EQ(std::vector(view.counts, view.counts + found.counts.size()), found.counts);
  expect_close(std::vector(view.rdf, view.rdf + found.rdf.size()), found.rdf, 1e-12);
  // In the open box that just holds the points.
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_clear(histogram));
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_add(histogram, &points, nullptr, nullptr, &numbers));
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_view(histogram, &view));
  vec<double, 3> low{1, 1, 1}, high{0, 0, 0};
  for (std::size_t k = 0; k < places.size(); ++k) {
    const int axis = static_cast<int>(k % 3);
    low[axis] = std::min(low[axis], places[k]);
    high[axis] = std::max(high[axis], places[k]);
  }
  pair_histogram<cpu_context, double, 3> around(cpu_context{}, same);
  around.add(view_of(places), make_lattice(make_box(low, high, vec<bool, 3>{})), types.data());
  const pair_histogram_result open = around.result();
  EXPECT_EQ(std::vector(view.counts, view.counts + open.counts.size()), open.counts);
  expect_close(std::vector(view.rdf, view.rdf + open.rdf.size()), open.rdf, 1e-12);
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_pair_histogram_info(histogram, &info));
  quadrat_pair_histogram_destroy(histogram);
}

QUADRAT_ON_DEVICES(c_pair_counts);

TEST_P(c_pair_counts, are_what_the_class_in_cpp_counts) {
  const double edges[] = {0, 0.1, 0.3}, cosines[] = {0, 0.5, 1};
  auto options = sized<quadrat_pair_counts_options>();
  options.type = QUADRAT_FLOAT64;
  options.coordinates = QUADRAT_PAIR_S_MU;
  options.edges = edges;
  options.edge_count = 3;
  options.second_edges = cosines;
  options.second_edge_count = 3;
  options.mean_separation = 1;
  options.regions = 3;
  quadrat_boxes box{};
  box.vectors = sheared_sides;
  quadrat_pair_counts* counts = nullptr;
  QUADRAT_ASSERT_OK(quadrat_pair_counts_create(context_, &box, &options, &counts));
  const std::vector<double> places = uniform<double>(3 * count, 0, 1), weights = uniform<double>(count, 0, 1);
  const quadrat_points points{on_device(places), count, 0, 0};
  const double* const of_points = on_device(weights);
  std::vector<std::int64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(i % 3);
  const quadrat_integers regions{on_device(numbers), count, QUADRAT_INT64};
  QUADRAT_ASSERT_OK(quadrat_pair_counts_count(counts, &points, of_points, &regions));
  pair_counts<cpu_context, double, 3> same(cpu_context{}, sheared(),
                                           {pair_coordinates::s_mu, {0, 0.1, 0.3}, {0, 0.5, 1}, true, false, 3});
  const std::vector<std::uint32_t> same_regions(numbers.begin(), numbers.end());
  const pair_counts_result expected = same.count(view_of(places), weights.data(), same_regions.data());
  auto view = sized<quadrat_pair_counts_view>();
  QUADRAT_ASSERT_OK(quadrat_pair_counts_result(counts, &view));
  ASSERT_EQ(view.bins, expected.counts.size());
  EXPECT_EQ(std::vector(view.counts, view.counts + view.bins), expected.counts);
  expect_close(std::vector(view.weights, view.weights + view.bins), expected.weights, 1e-9);
  expect_close(std::vector(view.mean_separations, view.mean_separations + view.bins), expected.mean_separations, 1e-9);
  EXPECT_EQ(std::vector(view.region_counts, view.region_counts + 3 * view.bins), expected.region_counts);
  expect_close(std::vector(view.region_weights, view.region_weights + 3 * view.bins), expected.region_weights, 1e-9);
  QUADRAT_ASSERT_OK(quadrat_pair_counts_count_between(counts, &points, &points, nullptr, nullptr, &regions, &regions));
  QUADRAT_ASSERT_OK(quadrat_pair_counts_result(counts, &view));
  EXPECT_EQ(std::vector(view.counts, view.counts + view.bins), expected.counts);
  EXPECT_EQ(std::vector(view.region_counts, view.region_counts + 3 * view.bins), expected.region_counts);
  EXPECT_EQ(view.weights, nullptr);
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_pair_counts_info(counts, &info));
  EXPECT_GT(info.bytes, 0u);
  quadrat_pair_counts_destroy(counts);
  options.coordinates = 4;
  EXPECT_EQ(quadrat_pair_counts_create(context_, &box, &options, &counts), QUADRAT_ARGUMENT_ERROR);
  EXPECT_NE(std::string(quadrat_error_message()).find("coordinates are 4"), std::string::npos);
}

QUADRAT_ON_DEVICES(c_cell_list);

TEST_P(c_cell_list, has_the_points_of_cells_as_the_class_in_cpp) {
  auto options = sized<quadrat_cell_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 3;
  options.domain = {{0, 0, 0}, {1, 1, 1}, {1, 0, 1}};
  options.cells[0] = 4;
  options.cells[1] = 3;
  options.cells[2] = 5;
  quadrat_cell_list* list = nullptr;
  QUADRAT_ASSERT_OK(quadrat_cell_list_create(context_, &options, &list));
  auto view = sized<quadrat_cell_view>();
  QUADRAT_ASSERT_OK(quadrat_cell_list_view(list, &view));
  EXPECT_EQ(view.count, 60u);
  EXPECT_EQ(view.offsets, nullptr);
  auto* const written = room<std::int64_t>(count);
  expect_error(quadrat_cell_list_write(list, QUADRAT_CELL_OFFSETS, QUADRAT_INT64, written), QUADRAT_ARGUMENT_ERROR, "");
  const std::vector<double> places = uniform<double>(3 * count, 0, 1);
  const quadrat_points points{on_device(places), count, 0, 0};
  const box<double, 3> domain{{0, 0, 0}, {1, 1, 1}, {true, false, true}};
  auto expected = make_cells(cpu_context{}, make_grid(domain, vec<int, 3>{4, 3, 5}));
  expected.build(view_of(places));
  const counting_buckets_view found = expected.view().buckets;
  const std::vector<std::int64_t> begins(found.offsets, found.offsets + 61);
  const auto compare = [&] {
    QUADRAT_ASSERT_OK(quadrat_cell_list_view(list, &view));
    ASSERT_EQ(view.points, count);
    EXPECT_EQ(on_host<std::uint32_t>(view.offsets, 61), std::vector(found.offsets, found.offsets + 61));
    QUADRAT_ASSERT_OK(quadrat_cell_list_write(list, QUADRAT_CELL_OFFSETS, QUADRAT_INT64, written));
    EXPECT_EQ(on_host<std::int64_t>(written, 61), begins);
    QUADRAT_ASSERT_OK(quadrat_cell_list_write_async(list, QUADRAT_CELL_INDICES, QUADRAT_INT64, written));
    std::vector<std::int64_t> indices = on_host<std::int64_t>(written, count);
    for (std::size_t c = 0; c < 60; ++c) {  // points of a cell come in any order
      const auto begin = indices.begin() + begins[c], end = indices.begin() + begins[c + 1];
      std::sort(begin, end);
      EXPECT_TRUE(std::is_permutation(begin, end, found.elements + begins[c])) << "cell " << c;
    }
  };
  QUADRAT_ASSERT_OK(quadrat_cell_list_build(list, &points));
  compare();
  QUADRAT_ASSERT_OK(quadrat_cell_list_build_async(list, &points));
  QUADRAT_ASSERT_OK(quadrat_cell_list_check(list));
  compare();
  auto info = sized<quadrat_info>();
  QUADRAT_EXPECT_OK(quadrat_cell_list_info(list, &info));
  EXPECT_GT(info.bytes, 0u);
  quadrat_cell_list_destroy(list);

  options.cells[0] = options.cells[1] = options.cells[2] = 0;
  options.cutoff = 0.3;
  QUADRAT_ASSERT_OK(quadrat_cell_list_create(context_, &options, &list));
  QUADRAT_ASSERT_OK(quadrat_cell_list_view(list, &view));
  EXPECT_EQ(view.cells[0], 3);
  quadrat_cell_list_destroy(list);
  options.cutoff = 0;
  expect_error(quadrat_cell_list_create(context_, &options, &list), QUADRAT_ARGUMENT_ERROR, "cutoff");
}

}  // namespace
}  // namespace quadrat::testing
