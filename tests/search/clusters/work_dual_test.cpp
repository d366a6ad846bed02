// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "search/clusters/finder.hpp"
#include "support.hpp"
#include "support/distributions.hpp"

// The work for a point is bounded, wherever the points are and in whatever order they are stored.

namespace quadrat::test {

namespace {

/// Adds up what threads do, in the context's memory.
struct counted_cluster_work {
  std::uint64_t* looks;
  std::uint64_t* hops;

  QUADRAT_HD void look() const { atomic_add(looks, 1); }
  QUADRAT_HD void hop() const { atomic_add(hops, 1); }
};

/// By point.
struct cluster_work {
  double looks;  ///< at points, bounding boxes and rows of cells
  double hops;   ///< in the forest
};

/// How far threads of a GPU are ahead of what others have united is a matter of timing.
#if QUADRAT_BACKEND_CPU
constexpr cluster_work most_cluster_work{600, 4};
#else
constexpr cluster_work most_cluster_work{1200, 20};
#endif

template <typename T, int D>
[[nodiscard]] cluster_work work_of_clusters(const lattice<T, D>& box, const cluster_options<T>& options,
                                            const std::vector<vec<T, D>>& points) {
  const backend_context context;
  array<std::uint64_t, backend_context> words(context, 2);
  fill_bytes(context, words.data(), 0, words.bytes());
  detail::cluster_engine<backend_context, T, D, counted_cluster_work> engine(context, {box}, options,
                                                                             {words.data(), words.data() + 1});
  const auto there = to_device(context, points);
  engine.find(points_of(there));
  const auto total = to_host(context, words);
  const auto each = [&](std::uint64_t number) {
    return static_cast<double>(number) / static_cast<double>(points.size());
  };
  return {each(total[0]), each(total[1])};
}

template <typename T, int D>
void expect_little_work(const lattice<T, D>& box, const cluster_options<T>& options,
                        const std::vector<vec<T, D>>& points) {
  const cluster_work work = work_of_clusters(box, options, points);
  EXPECT_LT(work.looks, most_cluster_work.looks) << "min_points " << options.min_points;
  EXPECT_LT(work.hops, most_cluster_work.hops) << "min_points " << options.min_points;
}

}  // namespace

template <typename Shape>
class clusters_work : public backend_test {
 protected:
  using T = typename Shape::T;
  static constexpr int D = Shape::D;

  [[nodiscard]] static lattice<T, D> box(bool periodic) {
    return box_of<T, D>(vec<T, D>::filled(T(1)), vec<bool, D>::filled(periodic));
  }

  /// Points of every distribution, with so long a cutoff that about half of them have this many others in reach, or a
  /// little longer.
  template <typename F>
  void for_each_distribution(std::size_t neighbors, F&& f) const {
    const std::size_t count = size_or(20'000, 2000);
    for (const auto& each : all_distributions) {
      const auto points = points_of<T, D>(each.which, count, 1);
      const T distance = (neighbors < 8 ? T(1.5) : T(1.001)) * distance_to_neighbor(points, neighbors);
      const T cutoff = distance > T(0) ? distance : T(1e-3);
      SCOPED_TRACE(message(std::string(each.name), ", cutoff ", cutoff));
      f(points, cutoff);
    }
  }
};
template <typename Precision, int Dimension>
struct cluster_work_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using cluster_work_shapes = testing::Types<cluster_work_shape<float, 3>, cluster_work_shape<double, 2>>;
TYPED_TEST_SUITE(clusters_work, cluster_work_shapes);

TYPED_TEST(clusters_work, is_bounded_for_few_friends_and_many) {
  for (const std::size_t neighbors : {2u, 8u}) {
    this->for_each_distribution(neighbors, [&](const auto& points, auto cutoff) {
      for (const std::uint32_t min_points : {1u, 5u, 50u}) {
        expect_little_work(this->box(false), {.cutoff = cutoff, .min_points = min_points}, points);
      }
    });
  }
}

TYPED_TEST(clusters_work, is_bounded_in_periodic_boxes_and_for_points_anywhere) {
  this->for_each_distribution(2, [&](const auto& points, auto cutoff) {
    expect_little_work(this->box(true), {.cutoff = cutoff}, points);
    expect_little_work(this->box(false), {.cutoff = cutoff, .accept_outside = true}, points);
    // The same points in a small box, most of them outside.
    auto outside = points;
    for (auto& point : outside) point *= decltype(cutoff)(1e4);
    expect_little_work(this->box(false), {.cutoff = cutoff * decltype(cutoff)(1e4), .accept_outside = true}, outside);
  });
}

TYPED_TEST(clusters_work, is_bounded_in_tilted_boxes) {
  auto box = this->box(true);
  box.vectors[1][0] = 0.4f;
  box = make_lattice(box.origin, box.vectors, box.periodic);
  this->for_each_distribution(2, [&](const auto& points, auto cutoff) {
    for (const std::uint32_t min_points : {1u, 5u}) {
      expect_little_work(box, {.cutoff = cutoff, .min_points = min_points}, points);
    }
  });
}

}  // namespace quadrat::test
