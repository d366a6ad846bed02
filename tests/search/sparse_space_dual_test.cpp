// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "list_support.hpp"
#include "random_neighbor_problem.hpp"
#include "support/distributions.hpp"
#include "support/random.hpp"

// Clusters far apart in boxes much larger than they are, and points far outside: every method finds what the reference
// finds.

namespace quadrat::test {

namespace {

template <typename T, int D>
[[nodiscard]] vec<T, D> random_vector(std::mt19937_64& random, double low, double high) {
  return make_vec<T, D>([&](int) { return static_cast<T>(low + (high - low) * random_unit<double>(random)); });
}

/// Clusters of a few cutoffs in a box of up to a million: anywhere, on faces and corners, and beside each other along a
/// power of two of cutoffs, so that cells which repeat may lay one on the other. With a stray point or two.
template <typename T, int D>
[[nodiscard]] neighbor_problem<T, D> clusters_in_a_large_box(std::uint64_t seed, bool outside) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t bound) { return random() % bound; };
  neighbor_problem<T, D> problem;
  auto& options = problem.options;
  options.cutoff = below(2) == 0 ? T(1) : T(0.3);
  options.sorted = options.shifts = options.vectors = options.squared_distances = true;
  options.pairs = below(3) == 0 ? neighbor_pairs::half : neighbor_pairs::full;
  options.accept_outside = outside;
  const std::size_t systems = below(4) == 0 ? 3 : 1;
  for (std::size_t k = 0; k < systems; ++k) {
    vec<T, D> lengths{};
    vec<bool, D> periodic{};
    for (int axis = 0; axis < D; ++axis) {
      lengths[axis] = options.cutoff * static_cast<T>(std::pow(10.0, 0.5 + 5.5 * random_unit<double>(random)));
      periodic[axis] = below(2) == 0;
    }
    problem.boxes.push_back(
        make_lattice(make_box_from_lengths<T, D>(random_vector<T, D>(random, -5, 5), lengths, periodic)));
  }
  const std::size_t count = 150;
  for (std::size_t i = 0; i < count;) {
    const std::size_t system = below(systems);
    const lattice<T, D>& box = problem.boxes[system];
    vec<T, D> center{};
    for (int axis = 0; axis < D; ++axis) {
      const T length = box.vectors[axis][axis];
      const T grid = options.cutoff * static_cast<T>(std::size_t{1} << below(8));
      const T places[] = {T(0), length, length * random_unit<T>(random), std::floor(length / grid / 2) * grid};
      center[axis] = box.origin[axis] + places[below(4)];
      if (outside) center[axis] += static_cast<T>(static_cast<int>(below(5)) - 2) * length;
    }
    const std::size_t size = below(8) == 0 ? 1 : 10 + below(30);
    for (std::size_t k = 0; k < size && i < count; ++k, ++i) {
      vec<T, D> point = center + random_vector<T, D>(random, -1.5, 1.5) * options.cutoff;
      for (int axis = 0; axis < D && !outside; ++axis) {
        if (box.periodic[axis]) continue;
        const T upper = box.origin[axis] + box.vectors[axis][axis];
        point[axis] = std::fmin(std::fmax(point[axis], box.origin[axis]), upper);
        while (point[axis] - box.origin[axis] > box.vectors[axis][axis]) {
          point[axis] = std::nextafter(point[axis], box.origin[axis]);
        }
      }
      problem.points.push_back(point);
      if (systems > 1) problem.system_of_point.push_back(static_cast<std::uint32_t>(system));
    }
  }
  return problem;
}

template <typename T, int D>
void expect_agreement_in_sparse_space(const neighbor_problem<T, D>& problem) {
  SCOPED_TRACE(describe(problem));
  const auto wanted = reference::neighbor_list(problem);
  if (!same_bits && wanted.margin < 64) return;  // the GPU's contraction may decide otherwise
  check_method(backend_context(), problem, wanted, "");
  for (const std::string& method : methods_here()) check_method(backend_context(), problem, wanted, method);
}

}  // namespace

template <typename Shape>
class sparse_space : public backend_test {};
template <typename Precision, int Dimension>
struct space_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using space_shapes =
    testing::Types<space_shape<float, 2>, space_shape<float, 3>, space_shape<double, 2>, space_shape<double, 3>>;
TYPED_TEST_SUITE(sparse_space, space_shapes);

TYPED_TEST(sparse_space, all_methods_find_the_pairs_of_clusters_far_apart) {
  using T = typename TypeParam::T;
  const std::uint64_t problems = size_or(60, 8);
  for (std::uint64_t seed = 0; seed < problems; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    expect_agreement_in_sparse_space(clusters_in_a_large_box<T, TypeParam::D>(seed, false));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(sparse_space, all_methods_find_the_pairs_of_points_far_outside_of_open_axes) {
  using T = typename TypeParam::T;
  const std::uint64_t problems = size_or(60, 8);
  for (std::uint64_t seed = 100; seed < 100 + problems; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    expect_agreement_in_sparse_space(clusters_in_a_large_box<T, TypeParam::D>(seed, true));
    if (this->HasFatalFailure()) return;
  }
}

/// Few points in a box of many cutoffs: many rows share stored cells, whichever shape the points fill.
TYPED_TEST(sparse_space, all_methods_find_the_pairs_of_every_distribution) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  for (const auto& [which, name] : all_distributions) {
    for (const bool periodic : {false, true}) {
      SCOPED_TRACE(message(name, ", periodic: ", periodic));
      neighbor_problem<T, D> problem;
      problem.points = points_of<T, D>(which, size_or(150, 60), 1);
      problem.options.cutoff = std::clamp(distance_of_neighbors(problem.points, 4), T(1e-3), T(0.3));
      problem.options.sorted = problem.options.shifts = true;
      problem.boxes = {make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(1)), vec<bool, D>::filled(periodic)))};
      expect_agreement_in_sparse_space(problem);
      if (periodic) continue;
      problem.options.accept_outside = true;
      problem.options.cutoff *= T(37.5);
      for (auto& point : problem.points) point = T(37.5) * point - vec<T, D>::filled(T(11));
      expect_agreement_in_sparse_space(problem);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Where a position has no digits left for a cell, cells cannot tell points apart, and distances must.
TYPED_TEST(sparse_space, points_as_far_away_as_numbers_go) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  for (const double scale : {1e6, 1e9, 1e15, 1e25, sizeof(T) == 4 ? 1e37 : 1e300}) {
    SCOPED_TRACE(message("scale ", scale));
    neighbor_problem<T, D> problem;
    problem.options.cutoff = T(1);
    problem.options.accept_outside = true;
    problem.options.sorted = problem.options.shifts = true;
    problem.boxes = {make_lattice(make_box<T, D>({}, vec<T, D>::filled(T(3)), {true}))};
    std::mt19937_64 random(7);
    for (std::size_t i = 0; i < 120; ++i) {
      vec<T, D> point = random_vector<T, D>(random, 0, 3);
      if (i % 3 != 0) point[1] = static_cast<T>((i % 2 == 0 ? scale : -scale) * (1 + static_cast<double>(i % 5)));
      if (i % 7 == 0) point[D - 1] = static_cast<T>(scale * random_unit<double>(random));
      problem.points.push_back(point);
    }
    // Squares of distances beyond the range of T are infinite and no pairs.
    expect_agreement_in_sparse_space(problem);
  }
}

}  // namespace quadrat::test
