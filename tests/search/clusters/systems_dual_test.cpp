// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "support.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Many systems in one call, against one call for each.

namespace quadrat::test {

namespace {

/// Systems of every box and size, and their points in any order.
template <typename T, int D>
struct cluster_batch {
  cluster_options<T> options;
  std::vector<lattice<T, D>> boxes;
  std::vector<std::vector<vec<T, D>>> of_systems;
  std::vector<vec<T, D>> points;
  std::vector<std::uint32_t> systems;
  std::vector<std::vector<std::size_t>> places;  ///< by system, of its points in the batch

  void scatter(std::mt19937_64& random) {
    points.clear();
    systems.clear();
    places.assign(boxes.size(), {});
    for (std::uint32_t s = 0; s < boxes.size(); ++s) systems.insert(systems.end(), of_systems[s].size(), s);
    std::shuffle(systems.begin(), systems.end(), random);
    for (const std::uint32_t s : systems) {
      const std::size_t next = places[s].size();
      places[s].push_back(points.size());
      points.push_back(of_systems[s][next]);
    }
  }
};

template <typename T, int D>
[[nodiscard]] cluster_batch<T, D> random_batch(std::size_t systems, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  cluster_batch<T, D> batch;
  batch.options.cutoff = T(1);
  batch.options.min_points = seed % 2 == 0 ? 1 : 3;
  batch.options.accept_outside = seed % 4 < 2;
  constexpr std::size_t sizes[] = {0, 1, 2, 23, 24, 60, 300};
  for (std::size_t s = 0; s < systems; ++s) {
    vec<vec<T, D>, D> vectors{};
    vec<bool, D> periodic{};
    for (int axis = 0; axis < D; ++axis) {
      vectors[axis][axis] = random() % 8 == 0 ? between(50, 3000) : between(2.5, 7);
      periodic[axis] = random() % 2 == 0;
      for (int k = 0; k < axis && s % 3 == 2; ++k) vectors[axis][k] = vectors[k][k] * between(-0.3, 0.3);
    }
    batch.boxes.push_back(make_lattice(vec<T, D>::filled(between(-3, 3)), vectors, periodic));
    batch.of_systems.emplace_back();
    const std::size_t count = sizes[random() % std::size(sizes)];
    for (std::size_t i = 0; i < count; ++i) {
      vec<T, D> point = batch.boxes.back().origin;
      for (int axis = 0; axis < D; ++axis) {
        const bool anywhere = periodic[axis] || batch.options.accept_outside;
        point += (anywhere ? between(-1, 2) : between(0.01, 0.99)) * vectors[axis];
      }
      batch.of_systems.back().push_back(i % 9 == 8 ? batch.of_systems.back().front() : point);
    }
  }
  batch.scatter(random);
  return batch;
}

template <typename T, int D>
struct batch_on_device {
  array<vec<T, D>, backend_context> points;
  array<std::uint32_t, backend_context> systems;

  batch_on_device(const backend_context& context, const cluster_batch<T, D>& batch)
      : points(to_device(context, batch.points)), systems(to_device(context, batch.systems)) {}
};

/// Labels of the batch are those of each system alone, with other numbers in the same order; so are members, centers
/// and what a catalog says of them.
template <typename T, int D>
void expect_systems(const backend_context& context, cluster_finder<backend_context, T, D>& together,
                    const cluster_batch<T, D>& batch) {
  const cluster_view view = together.view();
  const auto labels = to_host(context, view.labels, view.points);
  const auto sizes = to_host(context, view.sizes, view.clusters);
  const auto centers = to_host(context, together.centers(), view.clusters);
  const cluster_members members = together.members();
  const auto offsets = to_host(context, members.offsets, members.clusters + 1);
  const auto rows = to_host(context, members.points, offsets.back());
  const cluster_catalog<T, D> catalog = together.catalog();
  const auto groups = to_host(context, catalog.groups, catalog.count);
  ASSERT_EQ(groups.size(), sizes.size());
  std::size_t clusters = 0;
  for (std::size_t s = 0; s < batch.boxes.size(); ++s) {
    auto alone = make_cluster_finder(context, batch.boxes[s], batch.options);
    const found_clusters wanted = find_on(context, alone, batch.of_systems[s]);
    const auto wanted_centers = to_host(context, alone.centers(), wanted.sizes.size());
    const cluster_catalog<T, D> alone_catalog = alone.catalog();
    const auto wanted_groups = to_host(context, alone_catalog.groups, alone_catalog.count);
    std::map<std::int32_t, std::int32_t> names{{noise_label, noise_label}};
    for (std::size_t i = 0; i < wanted.labels.size(); ++i) {
      const std::int32_t label = labels[batch.places[s][i]];
      EXPECT_EQ(names.try_emplace(wanted.labels[i], label).first->second, label) << "system " << s << ", point " << i;
      if (label == noise_label) continue;
      const auto row = static_cast<std::size_t>(label);
      ASSERT_LT(row, sizes.size());
      EXPECT_EQ(sizes[row], wanted.sizes[static_cast<std::size_t>(wanted.labels[i])]);
      EXPECT_EQ(centers[row], wanted_centers[static_cast<std::size_t>(wanted.labels[i])]);
      const cluster_group<T, D>& group = groups[row];
      const cluster_group<T, D>& same = wanted_groups[static_cast<std::size_t>(wanted.labels[i])];
      EXPECT_EQ(group.label, label);
      EXPECT_EQ(group.size, same.size);
      EXPECT_EQ(group.central, batch.places[s][same.central]);
      EXPECT_EQ(group.center, same.center);
      EXPECT_EQ(group.inertia, same.inertia);
      const auto begin = rows.begin() + offsets[row], end = rows.begin() + offsets[row + 1];
      EXPECT_TRUE(std::binary_search(begin, end, static_cast<particle_id>(batch.places[s][i])));
    }
    EXPECT_TRUE(
        std::is_sorted(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second < b.second; }))
        << "system " << s;
    clusters += wanted.sizes.size();
  }
  EXPECT_EQ(view.clusters, clusters);
}

}  // namespace

template <typename Shape>
class clusters_of_systems : public backend_test {
 protected:
  const backend_context context;
};
template <typename Precision, int Dimension>
struct cluster_systems_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using cluster_systems_shapes = testing::Types<cluster_systems_shape<float, 2>, cluster_systems_shape<float, 3>,
                                              cluster_systems_shape<double, 2>, cluster_systems_shape<double, 3>>;
TYPED_TEST_SUITE(clusters_of_systems, cluster_systems_shapes);

TYPED_TEST(clusters_of_systems, are_those_of_each_system_alone) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  for (const std::size_t systems : {1u, 2u, 7u, 40u}) {
    for (std::uint64_t seed = 0; seed < size_or(8, 4); ++seed) {
      SCOPED_TRACE(testing::Message() << systems << " systems, seed " << seed);
      const auto batch = random_batch<T, D>(systems, seed);
      const batch_on_device<T, D> there(this->context, batch);
      auto together = make_cluster_finder(this->context, batch.boxes, batch.options);
      together.find(points_of(there.points), there.systems.data());
      expect_systems(this->context, together, batch);
    }
  }
}

TYPED_TEST(clusters_of_systems, are_the_same_without_waiting_whatever_the_order_and_the_sizes) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(3);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    auto batch = random_batch<T, D>(12, seed);
    if (batch.points.empty()) continue;
    const batch_on_device<T, D> first(this->context, batch);
    auto together = make_cluster_finder(this->context, batch.boxes, batch.options);
    together.find(points_of(first.points), first.systems.data());
    together.reserve(batch.points.size());
    batch.scatter(random);
    const batch_on_device<T, D> second(this->context, batch);
    together.find_async(points_of(second.points), second.systems.data());
    together.check();
    expect_systems(this->context, together, batch);
    // All points move to the last system, which has been cut for others.
    for (auto& points : batch.of_systems) points.clear();
    for (std::size_t i = 0; i < batch.points.size(); ++i) {
      vec<T, D> point = batch.boxes.back().origin;
      for (int axis = 0; axis < D; ++axis) point += random_unit<T>(random) * batch.boxes.back().vectors[axis];
      batch.of_systems.back().push_back(point);
    }
    batch.scatter(random);
    const batch_on_device<T, D> third(this->context, batch);
    together.find_async(points_of(third.points), third.systems.data());
    together.check();
    expect_systems(this->context, together, batch);
  }
}

namespace {

class cluster_systems_test : public backend_test {
 protected:
  const backend_context context;
  const std::vector<lattice<double, 2>> boxes{box_of<double, 2>({8, 8}, {true, true}), box_of<double, 2>({4, 4})};
};

TEST_F(cluster_systems_test, labels_are_in_the_order_of_all_points) {
  auto finder = make_cluster_finder(context, boxes, {.cutoff = 0.5});
  const auto points = to_device(context, std::vector<vec<double, 2>>{{3.9, 1}, {7.9, 1}, {0.1, 1}, {0.1, 1}, {3.8, 1}});
  const auto systems = to_device(context, std::vector<std::uint32_t>{1, 0, 1, 0, 1});
  finder.find(points_of(points), systems.data());
  const cluster_view view = finder.view();
  EXPECT_EQ(to_host(context, view.labels, view.points), (std::vector<std::int32_t>{0, 1, 2, 1, 0}));
  EXPECT_EQ(to_host(context, view.sizes, view.clusters), (std::vector<std::uint32_t>{2, 2, 1}));
}

TEST_F(cluster_systems_test, impossible_systems_are_named) {
  auto finder = make_cluster_finder(context, boxes, {.cutoff = 0.5});
  const auto points = to_device(context, std::vector<vec<double, 2>>{{1, 1}, {2, 1}, {3, 1}});
  const auto systems = to_device(context, std::vector<std::uint32_t>{1, 0, 1});
  const auto lost = to_device(context, std::vector<std::uint32_t>{1, 2, 7});
  const auto outside = to_device(context, std::vector<vec<double, 2>>{{1, 1}, {6, 1}, {6, 1}});
  expect_words(error_of<data_error>([&] { finder.find(points_of(points), lost.data()); }),
               {"point 1 belongs to system 2", "there are 2"});
  expect_words(error_of<data_error>([&] { finder.find(points_of(outside), systems.data()); }),
               {"point 2 at", "outside the open box [0, 4]"});
  expect_words(error_of<argument_error>([&] { finder.find(points_of(points)); }),
               {"there are 2 boxes", "no system of each point"});
  expect_words(
      error_of<argument_error>([&] { static_cast<void>(make_cluster_finder(context, boxes, {.cutoff = 5.0})); }),
      {"cutoff 5"});
  finder.find(points_of(points), systems.data());
  finder.reserve(3);
  expect_words(error_of<data_error>([&] {
                 finder.find_async(points_of(points), lost.data());
                 finder.check();
               }),
               {"point 1 belongs to system 2"});
  finder.find_async(points_of(points), systems.data());
  finder.check();
  EXPECT_EQ(finder.view().clusters, 3u);
}

}  // namespace

}  // namespace quadrat::test
