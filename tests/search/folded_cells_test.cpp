// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "search/cells.hpp"
#include "search/sweeps/walk.hpp"
#include "support/random.hpp"

// What a search looks at follows the points, however large the box is: candidates are counted.

namespace quadrat::test {

namespace {

template <typename T>
struct counted {
  std::size_t cells;
  double walked;  ///< candidates a point
  double swept;
};

/// Puts points into the cells of a list and counts the candidates of each point: in cells of a cutoff, as `strips`
/// walks them, and in trimmed rows of finer cells.
template <typename T>
[[nodiscard]] counted<T> count_candidates(const std::vector<vec<T, 3>>& points, const lattice<T, 3>& box, T cutoff,
                                          bool anywhere) {
  const cpu_context context;
  const std::size_t most = 64 + 4 * points.size();
  counted<T> result{};
  for (const bool fine : {false, true}) {
    vec<T, 3> edges = vec<T, 3>::filled(cutoff);
    if (fine) edges[0] /= 4;
    const auto systems = detail::make_search_systems<T, 3>(std::span(&box, 1), {edges, cutoff, most, anywhere});
    const detail::search_system<T, 3>& system = systems.front();
    result.cells = std::max(result.cells, detail::cell_count(systems));
    std::vector<std::uint32_t> offsets(detail::cell_count(systems) + 1, 0);
    std::vector<vec<T, 3>> wrapped;
    for (const vec<T, 3>& point : points) {
      vec<int, 3> boxes{};
      wrapped.push_back(box.wrap(point, boxes));
      ++offsets[system.cell_of(wrapped.back()) + 1];
    }
    for (std::size_t cell = 1; cell < offsets.size(); ++cell) offsets[cell] += offsets[cell - 1];
    std::size_t sum = 0;
    for (const vec<T, 3>& point : wrapped) {
      if (fine) {
        detail::sweeps_block<T, 3> block{0, 1, {}, {}, {}, {}};
        for (int axis = 0; axis < 3; ++axis) {
          T at = system.coordinate(point, axis);
          block.slack[axis] = system.slack_at(at, axis);
          if (system.repeats[axis] != 1) at = system.folded(at, axis, block.repeat[axis]);
          block.lower[axis] = block.upper[axis] = at;
        }
        detail::sweeps_rows<T, 3>(system, offsets.data(), block, cutoff)
            .for_each([&](std::uint32_t first, std::uint32_t last, const vec<int, 3>&) { sum += last - first; });
      } else {
        detail::for_each_image_run(
            system, system.reach(point, cutoff), {true, 1},
            [&](cell_id first, cell_id last, const vec<int, 3>&) { sum += offsets[last + 1] - offsets[first]; });
      }
    }
    (fine ? result.swept : result.walked) = static_cast<double>(sum) / static_cast<double>(points.size());
  }
  return result;
}

/// `count` points, 40 of them within a cutoff of 1 of each.
template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> blob(std::size_t count, const vec<T, 3>& center, std::mt19937_64& random) {
  const double side = std::cbrt(static_cast<double>(count) * 4.18879 / 40);
  std::vector<vec<T, 3>> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(center +
                     make_vec<T, 3>([&](int) { return static_cast<T>(side * (random_unit<double>(random) - 0.5)); }));
  }
  return points;
}

template <typename T>
[[nodiscard]] lattice<T, 3> box_around(const std::vector<vec<T, 3>>& points, bool periodic = false) {
  vec<T, 3> lower = points.front(), upper = points.front();
  for (const vec<T, 3>& point : points) {
    for (int axis = 0; axis < 3; ++axis) {
      lower[axis] = std::fmin(lower[axis], point[axis]);
      upper[axis] = std::fmax(upper[axis], point[axis]);
    }
  }
  return make_lattice(make_box<T, 3>(lower, upper, vec<bool, 3>::filled(periodic)));
}

}  // namespace

template <typename T>
class folded_cells : public testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(1);
    points = blob<T>(20'000, {}, random);
    tight = count_candidates<T>(points, box_around(points), 1, false);
  }
  void expect_no_more(const counted<T>& wide, double factor = 1.3) const {
    EXPECT_LE(wide.cells, 64 + 4 * points.size());
    EXPECT_LE(wide.walked, factor * tight.walked);
    EXPECT_LE(wide.swept, factor * tight.swept);
    EXPECT_GE(wide.swept, 40 * 0.8);
  }

  std::vector<vec<T, 3>> points;
  counted<T> tight;
};
using folded_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(folded_cells, folded_precisions);

TYPED_TEST(folded_cells, a_stray_point_costs_nothing) {
  using T = TypeParam;
  for (const T away : {T(100), T(1e4), T(1e6), T(1e9), T(1e15)}) {
    SCOPED_TRACE(away);
    auto all = this->points;
    all.push_back({away, away / 2, -away});
    this->expect_no_more(count_candidates<T>(all, box_around(all), 1, false));
  }
}

TYPED_TEST(folded_cells, a_box_much_wider_than_its_points_costs_nothing) {
  using T = TypeParam;
  for (const T wide : {T(30), T(1000), T(1e5)}) {
    SCOPED_TRACE(wide);
    const vec<T, 3> lower = vec<T, 3>::filled(T(-10) * wide), upper = vec<T, 3>::filled(T(10) * wide);
    for (const bool periodic : {false, true}) {
      const auto box = make_lattice(make_box<T, 3>(lower, upper, vec<bool, 3>::filled(periodic)));
      // Wrapped positions round by more than a cell along a million of them in float.
      if (periodic && sizeof(T) == 4 && wide > 1000) continue;
      this->expect_no_more(count_candidates<T>(this->points, box, 1, false));
    }
  }
}

TYPED_TEST(folded_cells, points_outside_of_the_box_cost_nothing) {
  using T = TypeParam;
  const auto box = make_lattice(make_box<T, 3>({}, {1, 1, 1}, {false, false, false}));
  this->expect_no_more(count_candidates<T>(this->points, box, 1, true));
}

TYPED_TEST(folded_cells, many_clusters_far_apart_cost_what_they_cost_alone) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  for (const std::size_t clusters : {2, 10, 64}) {
    for (const double apart : {1e3, 16384.0, 1e6}) {
      SCOPED_TRACE(std::to_string(clusters) + " clusters, " + std::to_string(apart) + " apart");
      std::vector<vec<T, 3>> all;
      for (std::size_t k = 0; k < clusters; ++k) {
        const auto center = make_vec<T, 3>([&](int) { return static_cast<T>(apart * random_unit<double>(random)); });
        const auto more = blob<T>(20'000 / clusters, center, random);
        all.insert(all.end(), more.begin(), more.end());
      }
      // A position of a million has three binary digits for a fraction in float.
      const bool coarse = sizeof(T) == 4 && apart > 1e5;
      this->expect_no_more(count_candidates<T>(all, box_around(all), 1, false), coarse ? 2 : 1.3);
    }
  }
}

}  // namespace quadrat::test
