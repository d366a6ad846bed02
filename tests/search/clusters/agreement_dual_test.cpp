// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/reduced_lattice.hpp"
#include "quadrat/core/error.hpp"
#include "support.hpp"
#include "support/random.hpp"

// Clusters of random points in boxes of every kind, against a brute force.

namespace quadrat::test {

namespace {

/// Where one compiler compiles library and reference without contraction, they agree about every pair.
#if QUADRAT_BACKEND_CPU
constexpr bool cluster_bits_agree = true;
#else
constexpr bool cluster_bits_agree = false;
#endif

template <typename T, int D>
class cluster_problem {
 public:
  explicit cluster_problem(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 7) {
    options.cutoff = below(2) == 0 ? T(1) : between(0.1, 10);
    options.min_points = below(2) == 0 ? 1 : static_cast<std::uint32_t>(1 + below(8));
    options.accept_outside = below(4) == 0;
    make_shape();
    const std::size_t count = below(12) == 0 ? below(4) : 20 + below(220);
    const std::size_t kind = below(5);
    while (points.size() < count) add_points(kind, count);
  }

  cluster_options<T> options;
  lattice<T, D> box;
  std::vector<vec<T, D>> points;

 private:
  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }
  [[nodiscard]] T between(double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random_));
  }

  /// From two cutoffs to many thousands: cells of every number, folded and not.
  void make_shape() {
    vec<vec<T, D>, D> vectors{};
    vec<T, D> origin{};
    vec<bool, D> periodic{};
    const bool tilted = below(3) == 0;
    for (int axis = 0; axis < D; ++axis) {
      const double wide = std::pow(10.0, 0.5 + (below(4) == 0 ? 4.5 : 0.7) * random_unit<double>(random_));
      vectors[axis][axis] = options.cutoff * static_cast<T>(below(3) == 0 ? static_cast<double>(3 + below(4)) : wide);
      origin[axis] = below(2) == 0 ? T(0) : between(-10, 10);
      periodic[axis] = below(2) == 0;
      for (int k = 0; k < axis && tilted; ++k) vectors[axis][k] = vectors[k][k] * between(-0.4, 0.4);
    }
    if (tilted && below(2) == 0) std::swap(vectors[0], vectors[1]);
    box = make_lattice(origin, vectors, periodic);
  }

  /// A point at fractions of the box; of open axes it stays inside.
  void add_at(vec<T, D> fractions) {
    for (int axis = 0; axis < D; ++axis) {
      const bool anywhere = box.periodic[axis] || options.accept_outside;
      if (!anywhere) fractions[axis] = std::clamp(fractions[axis], T(0.001), T(0.999));
      if (anywhere && below(3) == 0) fractions[axis] += static_cast<T>(static_cast<int>(below(5)) - 2);
    }
    vec<T, D> point = box.origin;
    for (int axis = 0; axis < D; ++axis) point += fractions[axis] * box.vectors[axis];
    points.push_back(point);
  }

  /// A blob of some cutoffs, some points in one place, a grid of faces of cells, or points at random.
  void add_points(std::size_t kind, std::size_t count) {
    const auto center = make_vec<T, D>([&](int) { return between(0, 1); });
    const std::size_t size = kind == 0 ? 1 + below(60) : (kind == 1 ? 1 + below(12) : 1);
    const T wide = options.cutoff * between(0.05, 2.5);
    for (std::size_t k = 0; k < size && points.size() < count; ++k) {
      add_at(make_vec<T, D>([&](int axis) {
        const T cutoff = options.cutoff / box.height(axis);
        if (kind == 0) return center[axis] + wide / box.height(axis) * between(-1, 1);
        if (kind == 2) return cutoff / 2 * static_cast<T>(below(6));  // at the cutoff and on faces
        if (kind == 3) return center[axis] < T(0.5) ? T(0.01) * between(0, 1) : T(1) - T(0.01) * between(0, 1);
        return center[axis];
      }));
    }
  }

  std::mt19937_64 random_;
};

template <typename T, int D>
void expect_reference(const cluster_problem<T, D>& problem) {
  // Points exactly at the cutoff are linked, or not, by rounding in the box that is searched.
  const auto searched = detail::reduced(problem.box, false).shape;
  const auto wanted = reference::clusters(searched, problem.points, problem.options);
  if (!cluster_bits_agree && wanted.margin < 64) return;
  const backend_context context;
  const found_clusters found = find_clusters(context, problem.box, problem.options, problem.points);
  EXPECT_EQ(found.labels, wanted.labels);
  EXPECT_EQ(found.sizes, wanted.sizes);
}

}  // namespace

template <typename Shape>
class clusters_agreement : public backend_test {};
template <typename Precision, int Dimension>
struct cluster_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using cluster_shapes = testing::Types<cluster_shape<float, 2>, cluster_shape<float, 3>, cluster_shape<double, 2>,
                                      cluster_shape<double, 3>>;
TYPED_TEST_SUITE(clusters_agreement, cluster_shapes);

TYPED_TEST(clusters_agreement, labels_are_those_of_the_reference_in_boxes_of_every_kind) {
  const std::uint64_t problems = size_or(300, 30);
  for (std::uint64_t seed = 0; seed < problems; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    expect_reference(cluster_problem<typename TypeParam::T, TypeParam::D>(seed));
    if (this->HasFailure()) return;
  }
}

/// Parts of cells with hundreds of points, which are searched by their bounding boxes: blobs around each other at about
/// the cutoff.
TYPED_TEST(clusters_agreement, crowded_cells_give_the_labels_of_the_reference) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  const std::uint64_t problems = size_or(6, 2);
  for (std::uint64_t seed = 0; seed < problems; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    std::mt19937_64 random(seed);
    const auto unit = [&] { return random_unit<T>(random); };
    const auto box = box_of<T, D>(vec<T, D>::filled(T(5)), vec<bool, D>::filled(seed % 2 == 0));
    const T apart = T(0.8) + T(0.5) * unit();
    std::vector<vec<T, D>> points;
    for (std::size_t i = 0; i < 600; ++i) {
      const std::size_t blob = random() % 5;
      points.push_back(make_vec<T, D>([&](int axis) {
        const T center = T(0.2) + (static_cast<int>(blob) == axis + 1 ? apart : T(0)) + (blob == 4 ? T(2.5) : T(0));
        return center + T(0.25) * unit() * unit();
      }));
    }
    for (const std::uint32_t min_points : {1u, 2u, 40u, 250u}) {
      const cluster_options<T> options{T(1), min_points, false};
      const auto wanted = reference::clusters(box, points, options);
      if (!cluster_bits_agree && wanted.margin < 64) continue;
      const found_clusters found = find_clusters(backend_context(), box, options, points);
      EXPECT_EQ(found.labels, wanted.labels) << min_points;
      EXPECT_EQ(found.sizes, wanted.sizes) << min_points;
    }
  }
}

/// Where positions round by a good part of a cutoff, and by more, in boxes whose open vector is tilted against
/// periodic ones.
TYPED_TEST(clusters_agreement, points_far_outside_of_tilted_boxes_have_the_labels_of_the_reference) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  vec<vec<T, D>, D> vectors{};
  for (int axis = 0; axis < D; ++axis) vectors[axis][axis] = T(5);
  vectors[D - 1][0] = T(1.75);
  auto periodic = vec<bool, D>::filled(true);
  periodic[D - 1] = false;
  const auto box = make_lattice(vec<T, D>{}, vectors, periodic);
  for (const double scale : {1e1, 1e2, 1e3, 1e4, 3e4, 1e5, 3e5, 1e6}) {
    SCOPED_TRACE(message("scale ", scale));
    std::mt19937_64 random(11);
    std::vector<vec<T, D>> points;
    for (int i = 0; i < 150; ++i) {
      auto point = make_vec<T, D>([&](int) { return 5 * random_unit<T>(random); });
      point += std::floor(static_cast<T>(scale * (i % 3))) * vectors[D - 1];
      points.push_back(point);
    }
    for (const std::uint32_t min_points : {1u, 4u}) {
      const cluster_options<T> options{T(0.75), min_points, true};
      const auto wanted = reference::clusters(box, points, options);
      if (!cluster_bits_agree && wanted.margin < 64) continue;
      const found_clusters found = find_clusters(backend_context(), box, options, points);
      EXPECT_EQ(found.labels, wanted.labels) << min_points;
      EXPECT_EQ(found.sizes, wanted.sizes) << min_points;
    }
  }
}

}  // namespace quadrat::test
