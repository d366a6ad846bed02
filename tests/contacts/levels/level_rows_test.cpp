// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels/cuda/level_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "contacts/levels/one_size.hpp"
#include "contacts/levels/plan.hpp"
#include "support/distributions.hpp"
#include "support/random.hpp"

// The rows that the search of `levels` walks on a GPU, walked here on the CPU: every pair is met once, and spheres in
// domains much larger than they are cost what they cost in a tight one.

namespace quadrat::test {

namespace {

using detail::level_rows;
using detail::warp_level;

/// Spheres of one radius in the order of cells.
template <typename T>
struct ordered_spheres {
  detail::level_grids<T> grids;
  std::vector<vec<T, 3>> centers;
  std::vector<std::uint32_t> offsets;
  T radius;
  bool far = false;

  ordered_spheres(const std::vector<vec<T, 3>>& given, const box<T, 3>& domain, T of_radius) : radius(of_radius) {
    grids = detail::plan_levels(domain, histogram_of_one_size(radius, given.size()), T(0)).grids;
    for (const auto& center : given) centers.push_back(domain.wrap(center));
    const auto cell = [&](const vec<T, 3>& center) { return grids.cell_of(center, radius); };
    std::stable_sort(centers.begin(), centers.end(), [&](const auto& a, const auto& b) { return cell(a) < cell(b); });
    offsets.assign(grids.first_cell[1] + 1, 0);
    for (const auto& center : centers) {
      ++offsets[cell(center) + 1];
      far = far || grids.is_far(center, radius);
    }
    for (std::size_t k = 1; k < offsets.size(); ++k) offsets[k] += offsets[k - 1];
  }

  /// Calls f(other slot) for the candidates of a slot. Returns the number of rows.
  template <bool Around, typename F>
  std::size_t walk(std::uint32_t slot, F&& f) const {
    const warp_level<T> shape = detail::warp_level_of(grids, 0);
    level_rows<T, Around> rows(shape, centers[slot], radius + shape.widest, slot + 1, far);
    std::size_t count = 0;
    for (; !rows.done(); ++count) {
      std::uint32_t begin = 0, end = 0;
      rows.next(shape, offsets.data(), begin, end);
      for (; begin < end; ++begin) f(begin);
    }
    return count;
  }
  template <typename F>
  std::size_t candidates(std::uint32_t slot, F&& f) const {
    const bool around = grids.goes_around(0, 0) || grids.goes_around(0, 1) || grids.goes_around(0, 2);
    return around ? walk<true>(slot, f) : walk<false>(slot, f);
  }
};

template <typename T>
void expect_each_pair_once(const ordered_spheres<T>& spheres, const box<T, 3>& domain) {
  const std::size_t n = spheres.centers.size();
  std::vector<std::uint32_t> met(n * n, 0);
  for (std::uint32_t slot = 0; slot < n; ++slot) {
    spheres.candidates(slot, [&](std::uint32_t other) { ++met[std::min(slot, other) * n + std::max(slot, other)]; });
  }
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      const T distance = squared_norm(domain.separation(spheres.centers[a], spheres.centers[b]));
      if (distance < 4 * spheres.radius * spheres.radius) {
        ASSERT_EQ(met[a * n + b], 1u) << a << ", " << b;
      } else {
        ASSERT_LE(met[a * n + b], 1u) << a << ", " << b;
      }
    }
  }
}

/// Heaps at random in a cube of `width` diameters, on its faces, and powers of two apart; some far outside.
template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> heaps_in(std::mt19937_64& random, double width, bool outside) {
  const auto below = [&](std::size_t bound) { return random() % bound; };
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  std::vector<vec<T, 3>> centers;
  while (centers.size() < 150) {
    vec<T, 3> middle{};
    for (int axis = 0; axis < 3; ++axis) {
      const T power = static_cast<T>(std::size_t{1} << below(10));
      const T places[] = {T(0), static_cast<T>(width), between(0, width),
                          std::floor(static_cast<T>(width) / power / 2) * power};
      middle[axis] = places[below(4)] * (outside && below(2) == 0 ? (below(4) == 0 ? T(1e15) : T(1000)) : T(1));
    }
    for (std::size_t k = below(5) == 0 ? 1 : 10 + below(30); k > 0; --k) {
      centers.push_back(middle + vec<T, 3>{between(-2, 2), between(-2, 2), between(-2, 2)});
    }
  }
  return centers;
}

struct walked {
  double candidates, rows;
};

[[nodiscard]] walked mean_walk(const std::vector<vec<float, 3>>& centers, const box<float, 3>& domain,
                               float radius = 0.5f) {
  const ordered_spheres<float> spheres(centers, domain, radius);
  walked sum{};
  for (std::uint32_t slot = 0; slot < centers.size(); ++slot) {
    sum.rows += static_cast<double>(spheres.candidates(slot, [&](std::uint32_t) { sum.candidates += 1; }));
  }
  return sum;
}

template <typename T>
class level_rows_test : public testing::Test {};
using level_rows_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(level_rows_test, level_rows_precisions);

TYPED_TEST(level_rows_test, meet_each_pair_of_heaps_far_apart_once) {
  using T = TypeParam;
  bool folded = false, far = false;
  std::mt19937_64 random(3);
  for (const double width : {5.0, 30.0, 100.0, 2000.0, 1e5, 1e6}) {
    for (int k = 0; k < 12; ++k) {
      const bool outside = k % 3 == 0;
      vec<bool, 3> periodic{};
      for (int axis = 0; axis < 3; ++axis) periodic[axis] = random() % 2 == 0;
      SCOPED_TRACE(message("width ", width, ", case ", k));
      const auto domain = make_box<T, 3>({}, vec<T, 3>::filled(static_cast<T>(width)), periodic);
      const ordered_spheres<T> spheres(heaps_in<T>(random, width, outside), domain, T(0.5));
      for (int axis = 0; axis < 3; ++axis) folded = folded || spheres.grids.cells[0].repeats[axis] != 1;
      far = far || spheres.far;
      expect_each_pair_once(spheres, domain);
      if (this->HasFatalFailure()) return;
    }
  }
  EXPECT_TRUE(folded);
  EXPECT_TRUE(far);
}

TEST(level_rows, cost_what_they_cost_in_a_tight_domain) {
  constexpr float side = 22;  // as dense as loose grains
  std::mt19937_64 random(5);
  std::vector<vec<float, 3>> centers(10'000);
  for (auto& center : centers) {
    center = make_vec<float, 3>([&](int) { return side * random_unit<float>(random); });
  }
  const auto cube = [](float width) { return make_box<float, 3>({}, vec<float, 3>::filled(width), {}); };
  const walked tight = mean_walk(centers, cube(side));
  const auto expect_same_cost = [&](const std::vector<vec<float, 3>>& given, float width) {
    SCOPED_TRACE(message("width ", width));
    const walked wide = mean_walk(given, cube(width));
    EXPECT_LE(wide.candidates, 1.3 * tight.candidates);
    EXPECT_LE(wide.rows, 1.3 * tight.rows);
  };
  auto stray = centers;
  stray.front() = vec<float, 3>::filled(1e6f);
  expect_same_cost(stray, 1e6f);
  expect_same_cost(centers, 30 * side);
  auto apart = centers;
  for (std::size_t k = 0; k < apart.size() / 2; ++k) apart[k] += vec<float, 3>::filled(20 * side);
  expect_same_cost(apart, 21 * side);
}

TEST(level_rows, cost_about_what_those_of_uniform_spheres_do_for_every_distribution) {
  constexpr double contacts = 6;
  for (const bool periodic : {false, true}) {
    const auto domain = make_box<float, 3>({}, {1, 1, 1}, vec<bool, 3>::filled(periodic));
    walked usual{};
    for (const auto& [which, name] : all_distributions) {
      SCOPED_TRACE(message(name, periodic ? ", periodic" : ""));
      const auto centers = points_of<float, 3>(which, 4000, 1);
      const float distance = distance_of_neighbors(centers, contacts);
      // Positions that round by a good part of a sphere have more of them in reach.
      if (!(32 * std::numeric_limits<float>::epsilon() < distance)) continue;
      const double found = std::fmax(mean_neighbors(centers, distance), contacts);
      const walked here = mean_walk(centers, domain, distance / 2);
      if (which == distribution::uniform) usual = here;
      EXPECT_LE(here.candidates, 2.25 * usual.candidates * found / contacts);
      EXPECT_LE(here.rows, 2 * usual.rows);
    }
  }
}

}  // namespace

}  // namespace quadrat::test
