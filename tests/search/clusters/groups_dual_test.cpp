// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "quadrat/core/error.hpp"
#include "support.hpp"
#include "support/distributions.hpp"
#include "support/errors.hpp"

// Members and centers of clusters.

namespace quadrat::test {

namespace {

/// On the host, for a number of points.
struct found_members {
  std::vector<std::uint32_t> offsets;
  std::vector<particle_id> points;

  bool operator==(const found_members&) const = default;
};

template <typename T, int D>
[[nodiscard]] found_members members_of(const backend_context& context, cluster_finder<backend_context, T, D>& finder) {
  const cluster_members members = finder.members();
  const auto offsets = to_host(context, members.offsets, members.clusters + 1);
  return {offsets, to_host(context, members.points, offsets.back())};
}

template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> centers_of(const backend_context& context,
                                                cluster_finder<backend_context, T, D>& finder) {
  return to_host(context, finder.centers(), finder.view().clusters);
}

/// Rows of the points of each label.
[[nodiscard]] found_members rows_of(const found_clusters& found) {
  found_members rows{{0}, {}};
  for (std::size_t label = 0; label < found.sizes.size(); ++label) {
    for (std::size_t i = 0; i < found.labels.size(); ++i) {
      if (found.labels[i] == static_cast<std::int32_t>(label)) rows.points.push_back(static_cast<particle_id>(i));
    }
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.points.size()));
  }
  return rows;
}

}  // namespace

template <typename Shape>
class cluster_groups_test : public backend_test {
 protected:
  using number = typename Shape::T;
  static constexpr int dimension = Shape::D;

  /// Four blobs, apart from each other, far enough from open faces, and across periodic ones.
  struct blobs {
    lattice<number, dimension> box;
    std::vector<vec<number, dimension>> points;
    std::vector<vec<double, dimension>> centers;  ///< by first point
  };
  [[nodiscard]] static blobs make_blobs(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto between = [&](double low, double high) { return low + (high - low) * random_unit<double>(random); };
    auto vectors = box_of<number, dimension>(vec<number, dimension>::filled(number(20))).vectors;
    if (seed % 2 == 1) vectors[1][0] = static_cast<number>(between(-8, 8));
    const auto periodic = make_vec<bool, dimension>([&](int axis) { return (seed >> (axis + 1) & 1u) != 0; });
    blobs made{
        make_lattice(vec<number, dimension>::filled(static_cast<number>(between(-5, 5))), vectors, periodic), {}, {}};
    for (int blob = 0; blob < 4; ++blob) {
      vec<double, dimension> middle = cast<double>(made.box.origin), sum{};
      for (int axis = 0; axis < dimension; ++axis) {
        const double along = axis == dimension - 1 ? 0.125 + 0.25 * blob : (periodic[axis] ? between(-1, 2) : 0.5);
        middle += along * cast<double>(vectors[axis]);
      }
      const int size = 1 + static_cast<int>(random() % 90);
      for (int k = 0; k < size; ++k) {
        const auto point = cast<number>(middle + make_vec<double, dimension>([&](int) { return between(-0.7, 0.7); }));
        sum += cast<double>(point);
        made.points.push_back(point);
      }
      made.centers.push_back(sum / static_cast<double>(size));
    }
    return made;
  }
  /// From one point to the nearest image of another.
  [[nodiscard]] static double distance(const lattice<number, dimension>& box, const vec<number, dimension>& a,
                                       const vec<double, dimension>& b) {
    vec<number, dimension> r = a - cast<number>(b);
    for (int axis = dimension - 1; axis >= 0; --axis) {
      if (box.periodic[axis]) r -= std::rint(dot(box.inverse[axis], r)) * box.vectors[axis];
    }
    return static_cast<double>(norm(r));
  }

  const backend_context context;
};
template <typename Precision, int Dimension>
struct cluster_group_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using cluster_group_shapes = testing::Types<cluster_group_shape<float, 2>, cluster_group_shape<float, 3>,
                                            cluster_group_shape<double, 2>, cluster_group_shape<double, 3>>;
TYPED_TEST_SUITE(cluster_groups_test, cluster_group_shapes);

TYPED_TEST(cluster_groups_test, members_are_the_points_of_each_label_by_index) {
  constexpr int D = TypeParam::D;
  using T = typename TypeParam::T;
  for (const auto& each : all_distributions) {
    const auto points = points_of<T, D>(each.which, 700, 2);
    for (const std::uint32_t min_points : {1u, 4u, 5000u}) {
      auto finder = make_cluster_finder(this->context, box_of<T, D>(vec<T, D>::filled(T(1))),
                                        {.cutoff = T(0.02), .min_points = min_points});
      const found_clusters found = find_on(this->context, finder, points);
      EXPECT_EQ(members_of(this->context, finder), rows_of(found)) << each.name << " " << min_points;
    }
  }
}

TYPED_TEST(cluster_groups_test, centers_are_those_of_clusters_in_one_piece_in_boxes_of_every_kind) {
  using T = typename TypeParam::T;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    const auto made = TestFixture::make_blobs(seed);
    auto finder = make_cluster_finder(this->context, made.box, {.cutoff = T(2)});
    const found_clusters found = find_on(this->context, finder, made.points);
    ASSERT_EQ(found.sizes.size(), made.centers.size()) << seed;
    const auto centers = centers_of(this->context, finder);
    for (std::size_t label = 0; label < centers.size(); ++label) {
      const double rounding = 200 * static_cast<double>(std::numeric_limits<T>::epsilon());
      EXPECT_LT(TestFixture::distance(made.box, centers[label], made.centers[label]), rounding) << seed << " " << label;
      for (int axis = 0; axis < TypeParam::D; ++axis) {
        const T fraction = made.box.fraction(centers[label], axis);
        EXPECT_TRUE(fraction > T(-1e-5) && fraction < T(1.00001)) << seed << " " << label;
      }
    }
  }
}

namespace {

class cluster_groups_cases : public backend_test {
 protected:
  const backend_context context;
};

TEST_F(cluster_groups_cases, a_long_chain_across_a_face_has_its_middle_as_center) {
  std::vector<vec<double, 2>> points;
  for (int k = 0; k < 4001; ++k) points.push_back({7 + 0.002 * k, 3});  // 8 of 10
  auto finder = make_cluster_finder(context, box_of<double, 2>({10, 10}, {true, false}), {.cutoff = 0.003});
  EXPECT_EQ(find_on(context, finder, points).sizes, (std::vector<std::uint32_t>{4001}));
  const auto centers = centers_of(context, finder);
  EXPECT_NEAR(centers[0][0], 1, 1e-12);
  EXPECT_NEAR(centers[0][1], 3, 1e-12);
}

TEST_F(cluster_groups_cases, border_points_are_members_and_count_in_centers) {
  const std::vector<vec<double, 2>> points{{4, 4}, {1, 1}, {3.5, 4}, {4.5, 4}, {4, 5}};
  auto finder = make_cluster_finder(context, box_of<double, 2>({8, 8}), {.cutoff = 1.1, .min_points = 4});
  EXPECT_EQ(find_on(context, finder, points).labels, (std::vector<std::int32_t>{0, -1, 0, 0, 0}));
  EXPECT_EQ(members_of(context, finder), (found_members{{0, 4}, {0, 2, 3, 4}}));
  EXPECT_NEAR(centers_of(context, finder)[0][1], 4.25, 1e-14);
}

TEST_F(cluster_groups_cases, groups_belong_to_the_last_points) {
  auto finder = make_cluster_finder(context, box_of<float, 3>({1, 1, 1}), {.cutoff = 0.05f});
  expect_words(error_of<argument_error>([&] { static_cast<void>(finder.members()); }), {"find has not been called"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(finder.centers()); }), {"find has not been called"});
  EXPECT_TRUE(find_on(context, finder, {}).sizes.empty());
  EXPECT_EQ(members_of(context, finder), (found_members{{0}, {}}));
  EXPECT_TRUE(centers_of(context, finder).empty());
  for (const std::size_t count : {3000u, 500u, 3000u}) {
    const auto points = points_of<float, 3>(distribution::uniform, count, count);
    const found_clusters found = find_on(context, finder, points);
    EXPECT_EQ(members_of(context, finder), rows_of(found)) << count;
    const auto centers = centers_of(context, finder);
    EXPECT_EQ(centers, centers_of(context, finder));
    vec<double, 3> sum{};
    for (std::size_t label = 0; label < centers.size(); ++label)
      sum += double(found.sizes[label]) * cast<double>(centers[label]);
    for (const auto& point : points) sum -= cast<double>(point);
    EXPECT_LT(norm(sum), 1e-6 * static_cast<double>(count));
  }
}

TEST_F(cluster_groups_cases, all_threads_and_streams_find_the_same_bits) {
  const auto points = points_of<float, 3>(distribution::nested_clusters, size_or(100'000, 5000), 3);
  const auto box = box_of<float, 3>({1, 1, 1}, {true, true, true});
  const cluster_options<float> options{.cutoff = 0.01f, .min_points = 5};
  auto finder = make_cluster_finder(context, box, options);
  static_cast<void>(find_on(context, finder, points));
  const auto wanted = centers_of(context, finder);
  for (const auto& each : all_contexts()) {
    auto other = make_cluster_finder(each, box, options);
    static_cast<void>(find_on(each, other, points));
    EXPECT_EQ(centers_of(each, other), wanted);
  }
}

}  // namespace

}  // namespace quadrat::test
