// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "quadrat/core/error.hpp"
#include "support.hpp"
#include "support/distributions.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Catalogs of clusters.

namespace quadrat::test {

namespace {

class cluster_catalog_test : public backend_test {
 protected:
  const backend_context context;
};

/// On the host.
template <typename T, int D>
struct found_catalog {
  std::vector<cluster_group<T, D>> groups;
  std::vector<std::int32_t> rows;
};

template <typename T, int D>
found_catalog<T, D> catalog_of(const backend_context& context, cluster_finder<backend_context, T, D>& finder,
                               const cluster_catalog_options<T, D>& options = {}) {
  const cluster_catalog<T, D> made = finder.catalog(options);
  EXPECT_EQ(made.points, finder.view().points);
  return {to_host(context, made.groups, made.count), to_host(context, made.rows, made.points)};
}

template <typename T, int D>
std::vector<std::int32_t> labels_in(const found_catalog<T, D>& found) {
  std::vector<std::int32_t> labels;
  for (const auto& group : found.groups) labels.push_back(group.label);
  return labels;
}

/// Blobs that lie across the faces of a sheared box. Points take turns among the blobs.
template <typename T, int D>
struct blobs {
  static constexpr int count = 4;

  lattice<T, D> box;
  std::vector<vec<T, D>> points, velocities;
  std::vector<T> numbers;

  explicit blobs(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto between = [&](double low, double high) { return low + (high - low) * random_unit<double>(random); };
    auto vectors = box_of<T, D>(vec<T, D>::filled(T(20))).vectors;
    if (seed % 2 == 1) vectors[1][0] = T(5);
    vec<bool, D> periodic = vec<bool, D>::filled(true);
    if (seed % 3 == 1) periodic[0] = false;
    box = make_lattice(vec<T, D>::filled(T(-3)), vectors, periodic);
    for (int i = 0; i < 200; ++i) {
      vec<double, D> point = cast<double>(box.origin);
      const int blob = i < 20 ? i % count : i % count / 2 * 2;  // sizes of two kinds
      for (int axis = 0; axis < D; ++axis) {
        const double along = axis == D - 1 ? 0.25 * blob + 0.01 : (periodic[axis] ? 1 : 0.5);
        point += along * cast<double>(vectors[axis]);
      }
      points.push_back(cast<T>(point + make_vec<double, D>([&](int) { return between(-0.8, 0.8); })));
      velocities.push_back(make_vec<T, D>([&](int) { return static_cast<T>(between(-2, 2)); }));
      numbers.push_back(static_cast<T>(between(-1, 1)));
    }
  }
};

/// From sums over the points of a label, which are in one piece.
template <typename T, int D>
void expect_group(const blobs<T, D>& made, const std::vector<std::int32_t>& labels, const cluster_group<T, D>& group,
                  bool with_numbers) {
  vec<double, D> center{}, velocity{};
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != group.label) continue;
    members.push_back(i);
    center += cast<double>(made.points[i]);
    velocity += cast<double>(made.velocities[i]);
  }
  const auto size = static_cast<double>(members.size());
  ASSERT_EQ(group.size, members.size());
  center /= size;
  const double rounding = 300 * static_cast<double>(std::numeric_limits<T>::epsilon());
  double inertia[D][D] = {};
  for (const std::size_t i : members) {
    const vec<double, D> arm = cast<double>(made.points[i]) - center;
    for (int a = 0; a < D; ++a) {
      for (int b = 0; b < D; ++b) inertia[a][b] += (a == b ? squared_norm(arm) : 0) - arm[a] * arm[b];
    }
  }
  vec<double, D> home = cast<double>(group.center) - center;  // an image
  for (int axis = D - 1; axis >= 0; --axis) {
    const double boxes = std::rint(dot(cast<double>(made.box.inverse[axis]), home));
    if (made.box.periodic[axis]) home -= boxes * cast<double>(made.box.vectors[axis]);
  }
  EXPECT_LT(norm(home), rounding);
  for (int a = 0; a < D; ++a) {
    EXPECT_NEAR(group.velocity[a], with_numbers ? velocity[a] / size : 0, rounding);
    for (int b = 0; b < D; ++b) EXPECT_NEAR(group.inertia[a][b], inertia[a][b], rounding * size);
  }
  const std::size_t central = *std::ranges::min_element(members, {}, [&](std::size_t i) {
    return with_numbers ? static_cast<double>(made.numbers[i]) : norm(cast<double>(made.points[i]) - center);
  });
  EXPECT_EQ(group.central, central);
}

template <typename T, int D>
void expect_groups_of_blobs() {
  const backend_context context;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const blobs<T, D> made(seed);
    auto finder = make_cluster_finder(context, made.box, {.cutoff = T(2)});
    const found_clusters found = find_on(context, finder, made.points);
    ASSERT_EQ(found.sizes.size(), std::size_t{4}) << seed;
    const auto velocities = to_device(context, made.velocities);
    const auto numbers = to_device(context, made.numbers);
    for (const bool with_numbers : {true, false}) {
      cluster_catalog_options<T, D> options;
      if (with_numbers) options.velocities = points_of(velocities);
      if (with_numbers) options.potentials = numbers.data();
      const auto catalog = catalog_of(context, finder, options);
      EXPECT_EQ(labels_in(catalog), (std::vector<std::int32_t>{0, 1, 2, 3}));
      EXPECT_EQ(catalog.rows, found.labels);
      for (const auto& group : catalog.groups) expect_group(made, found.labels, group, with_numbers);
    }
  }
}

TEST_F(cluster_catalog_test, groups_are_those_of_clusters_in_one_piece) {
  expect_groups_of_blobs<float, 2>();
  expect_groups_of_blobs<float, 3>();
  expect_groups_of_blobs<double, 2>();
  expect_groups_of_blobs<double, 3>();
}

TEST_F(cluster_catalog_test, small_clusters_are_left_out_and_large_ones_come_first) {
  const auto points = points_of<float, 2>(distribution::uniform, 3000, 5);
  auto finder =
      make_cluster_finder(context, box_of<float, 2>({1, 1}, {true, true}), {.cutoff = 0.012f, .min_points = 3});
  const found_clusters found = find_on(context, finder, points);
  ASSERT_GT(std::ranges::count(found.labels, noise_label), 0);
  for (const bool by_size : {false, true}) {
    for (const std::uint32_t least : {0u, 1u, 4u, 10u, 3001u}) {
      std::vector<std::int32_t> wanted;
      for (std::size_t label = 0; label < found.sizes.size(); ++label) {
        if (found.sizes[label] >= least) wanted.push_back(static_cast<std::int32_t>(label));
      }
      const auto size_of = [&](std::int32_t label) { return found.sizes[static_cast<std::size_t>(label)]; };
      if (by_size) std::ranges::stable_sort(wanted, std::greater<>(), size_of);
      cluster_catalog_options<float, 2> options;
      options.least_size = least;
      options.by_size = by_size;
      const auto catalog = catalog_of(context, finder, options);
      EXPECT_EQ(labels_in(catalog), wanted) << least;
      for (const auto& group : catalog.groups) EXPECT_EQ(group.size, size_of(group.label));
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto at = std::ranges::find(wanted, found.labels[i]);
        const auto row = at == wanted.end() ? noise_label : static_cast<std::int32_t>(at - wanted.begin());
        ASSERT_EQ(catalog.rows[i], row) << i;
      }
    }
  }
}

TEST_F(cluster_catalog_test, the_central_point_is_the_most_bound_or_the_densest) {
  const std::vector<vec<double, 2>> points{{1, 1}, {1.1, 1}, {1.2, 1}, {1.3, 1}, {3, 3}, {3.1, 3}};
  auto finder = make_cluster_finder(context, box_of<double, 2>({4, 4}), {.cutoff = 0.2});
  EXPECT_EQ(find_on(context, finder, points).sizes, (std::vector<std::uint32_t>{4, 2}));
  const double nan = std::nan("");
  const auto central = [&](const std::vector<double>& values, bool densities) {
    const auto there = to_device(context, values);
    cluster_catalog_options<double, 2> options;
    (densities ? options.densities : options.potentials) = there.data();
    std::vector<particle_id> found;
    for (const auto& group : catalog_of(context, finder, options).groups) found.push_back(group.central);
    return found;
  };
  using ids = std::vector<particle_id>;
  EXPECT_EQ(central({-1, -5, 2, -5, 3, 2}, false), (ids{1, 5}));
  EXPECT_EQ(central({-1, -5, 2, 2, 3, 2}, true), (ids{2, 4}));
  EXPECT_EQ(central({nan, 4, nan, 2, nan, nan}, false), (ids{3, 4}));
  EXPECT_EQ(central({nan, 4, nan, 2, 1, nan}, true), (ids{1, 4}));
}

TEST_F(cluster_catalog_test, catalogs_belong_to_the_last_points) {
  auto finder = make_cluster_finder(context, box_of<float, 3>({1, 1, 1}), {.cutoff = 0.05f});
  expect_words(error_of<argument_error>([&] { static_cast<void>(finder.catalog()); }), {"find has not been called"});
  EXPECT_TRUE(find_on(context, finder, {}).sizes.empty());
  EXPECT_TRUE(catalog_of(context, finder).groups.empty());
  for (const std::size_t count : {3000u, 500u, 3000u}) {
    const found_clusters found = find_on(context, finder, points_of<float, 3>(distribution::uniform, count, count));
    const auto catalog = catalog_of(context, finder);
    EXPECT_EQ(catalog.rows, found.labels);
    EXPECT_EQ(catalog.groups.size(), found.sizes.size());
    const auto centers = to_host(context, finder.centers(), found.sizes.size());
    for (std::size_t k = 0; k < centers.size(); ++k) EXPECT_EQ(catalog.groups[k].center, centers[k]);
  }
}

TEST_F(cluster_catalog_test, all_threads_and_streams_make_the_same_bits) {
  const auto points = points_of<float, 3>(distribution::nested_clusters, size_or(100'000, 5000), 3);
  std::vector<cluster_group<float, 3>> wanted;
  for (const auto& each : all_contexts()) {
    auto finder = make_cluster_finder(each, box_of<float, 3>({1, 1, 1}, {true, true, true}), {.cutoff = 0.01f});
    static_cast<void>(find_on(each, finder, points));
    const auto there = to_device(each, points);
    cluster_catalog_options<float, 3> options;
    options.velocities = points_of(there);
    const auto groups = catalog_of(each, finder, options).groups;
    if (wanted.empty()) wanted = groups;
    ASSERT_EQ(groups.size(), wanted.size());
    for (std::size_t k = 0; k < groups.size(); ++k) {
      EXPECT_EQ(groups[k].central, wanted[k].central);
      EXPECT_EQ(groups[k].velocity, wanted[k].velocity);
      for (int axis = 0; axis < 3; ++axis) EXPECT_EQ(groups[k].inertia[axis], wanted[k].inertia[axis]);
    }
  }
}

TEST_F(cluster_catalog_test, says_what_is_impossible) {
  const std::vector<vec<double, 2>> points{{1, 1}, {1.1, 1}};
  auto finder = make_cluster_finder(context, box_of<double, 2>({4, 4}), {.cutoff = 0.2});
  static_cast<void>(find_on(context, finder, points));
  const auto numbers = to_device(context, std::vector<double>{1, 2});
  const auto more = to_device(context, std::vector<vec<double, 2>>(3));
  const auto error = [&](const cluster_catalog_options<double, 2>& options) {
    return error_of<argument_error>([&] { static_cast<void>(finder.catalog(options)); });
  };
  cluster_catalog_options<double, 2> options;
  options.velocities = points_of(more);
  expect_words(error(options), {"3 velocities", "2 points"});
  options = {};
  options.potentials = options.densities = numbers.data();
  expect_words(error(options), {"potentials and densities"});
  options = {};
  options.velocities = strided_points<2, double>(nullptr, 2);
  expect_words(error(options), {"velocities", "null"});
  EXPECT_EQ(error({}), "no error");
}

}  // namespace

}  // namespace quadrat::test
