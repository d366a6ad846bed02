// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <vector>

#include "c/support.hpp"

// Searches of several systems in one call.

namespace quadrat::testing {
namespace {

/// Two points 1 apart through the face of a periodic box of length 4, in each of two systems of which one is open. A
/// third system is empty.
class c_systems : public c_interface {
 protected:
  void SetUp() override {
    c_interface::SetUp();
    if (IsSkipped()) return;
    boxes.vectors = sides;
    boxes.periodic = periodic;
    boxes.count = 3;
    points = {on_device(places), 4, 0, 0};
    numbers = {on_device(systems), 4, QUADRAT_INT64};
    lost = {on_device(no_systems), 4, QUADRAT_UINT32};
  }

  static constexpr double sides[12] = {4, 0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4};
  static constexpr int periodic[6] = {1, 1, 1, 1, 0, 0};
  const std::vector<double> places{0.5, 1, 0.5, 1, 3.5, 1, 3.5, 1};
  const std::vector<std::int64_t> systems{0, 2, 2, 0};
  const std::vector<std::uint32_t> no_systems{0, 2, 3, 0};
  quadrat_boxes boxes{};
  quadrat_points points{};
  quadrat_integers numbers{}, lost{};
};
INSTANTIATE_TEST_SUITE_P(devices, c_systems, ::testing::Values(int{QUADRAT_CPU}, int{QUADRAT_CUDA}),
                         c_interface::name_of);

TEST_P(c_systems, have_nearest_neighbors_of_their_own) {
  auto options = sized<quadrat_nearest_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 2;
  options.k = 1;
  for (const double cutoff : {1.5, 0.0}) {
    options.cutoff = cutoff;
    quadrat_nearest_neighbors* nearest = nullptr;
    QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_create(context_, &boxes, &options, &nearest));
    expect_error(quadrat_nearest_neighbors_build(nearest, &points, &lost), QUADRAT_DATA_ERROR, "system 3");
    expect_error(quadrat_nearest_neighbors_build_async(nearest, &points, &numbers), QUADRAT_ARGUMENT_ERROR,
                 "QUADRAT_UINT32");
    QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_build(nearest, &points, &numbers));
    auto* const indices = room<std::int32_t>(4);
    const std::vector<std::int32_t> of_points =
        cutoff > 0 ? std::vector<std::int32_t>{3, -1, -1, 0} : std::vector<std::int32_t>{3, 2, 1, 0};
    for (const quadrat_points* queries :
         {static_cast<const quadrat_points*>(nullptr), static_cast<const quadrat_points*>(&points)}) {
      QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_search(nearest, queries, queries == nullptr ? nullptr : &numbers));
      QUADRAT_ASSERT_OK(quadrat_nearest_neighbors_write(nearest, QUADRAT_NEAREST_INDICES, QUADRAT_INT32, indices));
      EXPECT_EQ(on_host<std::int32_t>(indices, 4),
                queries == nullptr ? of_points : (std::vector<std::int32_t>{0, 1, 2, 3}));
    }
    if (cutoff == 0) {
      expect_error(quadrat_nearest_neighbors_search_async(nearest, nullptr, nullptr), QUADRAT_ARGUMENT_ERROR,
                   "give a finite cutoff");
    }
    quadrat_nearest_neighbors_destroy(nearest);
  }
}

TEST_P(c_systems, have_clusters_of_their_own) {
  auto options = sized<quadrat_cluster_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 2;
  options.cutoff = 1.5;
  quadrat_cluster_finder* finder = nullptr;
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_create(context_, &boxes, &options, &finder));
  expect_error(quadrat_cluster_finder_find(finder, &points, &lost), QUADRAT_DATA_ERROR, "system 3");
  expect_error(quadrat_cluster_finder_find(finder, &points, nullptr), QUADRAT_ARGUMENT_ERROR, "no system of each");
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_find(finder, &points, &numbers));
  auto view = sized<quadrat_cluster_view>();
  QUADRAT_ASSERT_OK(quadrat_cluster_finder_view(finder, &view));
  EXPECT_EQ(view.clusters, 3u);
  EXPECT_EQ(on_host<std::int32_t>(view.labels, 4), (std::vector<std::int32_t>{0, 1, 2, 0}));
  quadrat_cluster_finder_destroy(finder);
}

TEST_P(c_systems, count_as_a_frame_each) {
  auto options = sized<quadrat_histogram_options>();
  options.type = QUADRAT_FLOAT64;
  options.dimension = 2;
  options.cutoff = 1.5;
  options.bins = 1;
  quadrat_pair_histogram* histogram = nullptr;
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_create(context_, &options, &histogram));
  expect_error(quadrat_pair_histogram_add(histogram, &points, nullptr, &numbers, nullptr), QUADRAT_ARGUMENT_ERROR,
               "no box");
  expect_error(quadrat_pair_histogram_add(histogram, &points, &boxes, &lost, nullptr), QUADRAT_DATA_ERROR, "system 3");
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_add(histogram, &points, &boxes, &numbers, nullptr));
  auto view = sized<quadrat_histogram_view>();
  QUADRAT_ASSERT_OK(quadrat_pair_histogram_view(histogram, &view));
  EXPECT_EQ(view.frames, 3u);
  EXPECT_EQ(view.counts[0], 2u);
  quadrat_pair_histogram_destroy(histogram);
}

}  // namespace
}  // namespace quadrat::testing
