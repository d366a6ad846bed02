// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/lattice/image_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "quadrat/core/error.hpp"
#include "random_neighbor_problem.hpp"
#include "search/request.hpp"
#include "search/search.hpp"
#include "support/random.hpp"

// The walk of `masks` and `warps` over rows of cells and images of the box, which run on a GPU only: every pair that a
// search over all images finds is among the candidates, and no candidate comes twice.

namespace quadrat::test {

namespace {

/// Points in the cells of a grid, in order.
template <typename T, int D>
struct stored_points {
  stored_points(const lattice<T, D>& box, const std::vector<vec<T, D>>& points, T distance, bool anywhere,
                std::size_t most_cells = 0)
      : shape(box), reach(distance) {
    const std::size_t most = most_cells > 0 ? most_cells : 64 + (anywhere ? 1 : 4) * points.size();
    grid = detail::make_cuboid_grids<T, D>(std::span(&shape, 1), {reach, reach, most, anywhere}).front();
    offsets.assign(grid.cell_count() + 1, 0);
    std::vector<std::pair<cell_id, std::size_t>> order;
    for (std::size_t i = 0; i < points.size(); ++i) {
      vec<int, D> boxes{};
      wrapped.push_back(shape.wrap(points[i], boxes));
      order.emplace_back(cell_in_grid(grid, wrapped[i]), i);
      ++offsets[order[i].first + 1];
    }
    for (std::size_t cell = 1; cell < offsets.size(); ++cell) offsets[cell] += offsets[cell - 1];
    std::sort(order.begin(), order.end());
    for (const auto& [cell, i] : order) by_slot.push_back(i);
  }
  [[nodiscard]] detail::image_rows<T, D> around(std::size_t i) const {
    return {grid, offsets.data(), wrapped[i], reach};
  }
  [[nodiscard]] bool near(std::size_t i, std::size_t j, const vec<int, D>& shift) const {
    const vec<T, D> r = detail::neighbor_search<T, D>::separation(wrapped[i], wrapped[j], shape.translation(shift));
    return squared_norm(r) < reach * reach;
  }

  lattice<T, D> shape;
  T reach;
  detail::cuboid_grid<T, D> grid{};
  std::vector<vec<T, D>> wrapped;
  std::vector<std::uint32_t> offsets;
  std::vector<std::size_t> by_slot;
};

template <int D>
using candidate = std::pair<std::size_t, std::vector<int>>;  // point and S

template <int D>
[[nodiscard]] candidate<D> make_candidate(std::size_t point, const vec<int, D>& shift) {
  return {point, std::vector<int>(shift.component, shift.component + D)};
}

/// All candidates of a point, in order, by the loops of a thread.
template <typename T, int D>
[[nodiscard]] std::vector<candidate<D>> walked(const stored_points<T, D>& points, std::size_t i) {
  std::vector<candidate<D>> found;
  const auto walk = points.around(i);
  walk.for_each_image([&](const vec<int, D>& shift) {
    walk.for_each_range(shift, [&](const detail::row_range<D>& range) {
      EXPECT_EQ(range.shift, shift);
      for (std::uint32_t slot = range.first; slot < range.last; ++slot) {
        found.push_back(make_candidate<D>(points.by_slot[slot], shift));
      }
    });
  });
  std::sort(found.begin(), found.end());
  return found;
}

/// The same by number, as the threads of a warp take them.
template <typename T, int D>
[[nodiscard]] std::vector<candidate<D>> numbered(const stored_points<T, D>& points, std::size_t i) {
  std::vector<candidate<D>> found;
  const auto walk = points.around(i);
  for (std::uint64_t number = 0; number < walk.count(); ++number) {
    const detail::row_range<D> range = walk.range(number);
    for (std::uint32_t slot = range.first; slot < range.last; ++slot) {
      found.push_back(make_candidate<D>(points.by_slot[slot], range.shift));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Calls f(S) for all S up to `most` on either side.
template <int D, typename F>
void for_each_shift(const vec<int, D>& most, F&& f) {
  detail::image_range<D> range{};
  for (int k = 0; k < D; ++k) {
    range.first[k] = -most[k];
    range.last[k] = most[k];
  }
  vec<int, D> shift = range.first;
  while (shift[D - 1] <= range.last[D - 1]) {
    f(shift);
    int k = 0;
    while (++shift[k] > range.last[k] && k + 1 < D) {
      shift[k] = range.first[k];
      ++k;
    }
  }
}

/// Checks the walk around every point, or around `sample` of them; returns the number of candidates.
template <typename T, int D>
std::size_t check_walks(const stored_points<T, D>& points, std::size_t sample = 0) {
  const std::size_t count = points.wrapped.size();
  const std::size_t step = sample == 0 ? 1 : std::max<std::size_t>(count / sample, 1);
  vec<int, D> most{};  // one more than can be within reach
  for (int k = 0; k < D; ++k) {
    if (!points.shape.periodic[k]) continue;
    most[k] =
        static_cast<int>(std::ceil(static_cast<double>(points.reach) / static_cast<double>(points.shape.height(k)))) +
        2;
  }
  detail::image_codes<D> codes{points.grid.most_images, 8};
  std::size_t candidates = 0;
  for (std::size_t i = 0; i < count; i += step) {
    const auto found = walked(points, i);
    candidates += found.size();
    EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end()) << "a candidate of point " << i << " twice";
    EXPECT_EQ(numbered(points, i), found) << "point " << i;
    for_each_shift<D>(most, [&](const vec<int, D>& shift) {
      for (std::size_t j = 0; j < count; ++j) {
        if (!points.near(i, j, shift)) continue;
        if (!std::binary_search(found.begin(), found.end(), make_candidate<D>(j, shift))) {
          ADD_FAILURE() << "the pair " << i << ", " << j << " is lost";
        }
        if (codes.fit()) {
          EXPECT_EQ(codes.shift(codes.of(shift) + 255), shift);
          EXPECT_EQ(codes.slot(codes.of(shift) + 255), 255u);
        }
      }
    });
    if (testing::Test::HasFailure()) return candidates;
  }
  return candidates;
}

template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> uniform_points(const lattice<T, D>& box, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<vec<T, D>> points(count, box.origin);
  for (auto& point : points) {
    for (int k = 0; k < D; ++k) point += random_unit<T>(random) * box.vectors[k];
  }
  return points;
}

template <typename T>
[[nodiscard]] lattice<T, 3> box_of(const vec<vec<T, 3>, 3>& vectors,
                                   const vec<bool, 3>& periodic = {{true, true, true}}) {
  return make_lattice<T, 3>({}, vectors, periodic);
}

}  // namespace

template <typename Shape>
class image_rows : public testing::Test {};
template <typename T, int D>
struct image_rows_shape {
  using type = T;
  static constexpr int dimension = D;
};
using image_rows_shapes = testing::Types<image_rows_shape<float, 2>, image_rows_shape<float, 3>,
                                         image_rows_shape<double, 2>, image_rows_shape<double, 3>>;
TYPED_TEST_SUITE(image_rows, image_rows_shapes);

TYPED_TEST(image_rows, hold_all_pairs_of_random_searches) {
  using T = typename TypeParam::type;
  constexpr int D = TypeParam::dimension;
  std::size_t tilted = 0, folded = 0, several_images = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const auto problem = neighbor_problem_maker<T, D>(seed).make();
    SCOPED_TRACE(message("seed ", seed, ": ", describe(problem)));
    if (problem.boxes.size() > 1) continue;
    // A few cells, so that some are folded.
    for (const std::size_t most : {std::size_t{0}, std::size_t{8}, std::size_t{40}}) {
      const stored_points<T, D> points(problem.boxes.front(), problem.points,
                                       problem.options.cutoff + problem.options.skin, problem.options.accept_outside,
                                       most);
      check_walks(points);
      tilted += points.grid.turned ? 1 : 0;
      folded += points.grid.folded ? 1 : 0;
      for (int k = 0; k < D; ++k) several_images += points.grid.most_images[k] > 1 ? 1 : 0;
      if (this->HasFailure()) return;
    }
  }
  EXPECT_GT(tilted, 100u);
  EXPECT_GT(folded, 100u);
  EXPECT_GT(several_images, 100u);
}

template <typename T>
class image_rows_3d : public testing::Test {};
using image_rows_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(image_rows_3d, image_rows_precisions);

TYPED_TEST(image_rows_3d, hold_all_pairs_in_boxes_of_hostile_shapes) {
  using T = TypeParam;
  const std::vector<vec<vec<T, 3>, 3>> shapes = {
      {{{{5, 0, 0}}, {{T(2.5), 5, 0}}, {{T(2.5), T(2.5), 5}}}},                  // tilted
      {{{{5, 0, 0}}, {{T(-2.5), 5, 0}}, {{T(-2.5), T(-2.5), -5}}}},              // left-handed
      {{{{0, 4, 4}}, {{4, 0, 4}}, {{4, 4, 0}}}},                                 // by 60 degrees
      {{{{5, 0, 0}}, {{50, 5, 0}}, {{-45, 38, 5}}}},                             // by ten lengths
      {{{{T(3.2), T(2.4), 0}}, {{T(-2.4), T(3.2), 0}}, {{0, 0, 4}}}},            // turned
      {{{{20, 0, 0}}, {{6, 20, 0}}, {{3, 5, T(0.3)}}}},                          // flat
      {{{{T(0.5), 0, 0}}, {{T(0.3), T(0.6), 0}}, {{T(0.1), T(-0.2), T(0.4)}}}},  // tiny
      {{{{60, 60, 60}}, {{1, -1, 0}}, {{T(0.6), T(0.6), T(-1.2)}}}},             // a needle
  };
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    for (int walls = 0; walls < 8; ++walls) {
      SCOPED_TRACE(message("shape ", k, ", walls ", walls));
      const auto box = box_of(shapes[k], {{(walls & 1) == 0, (walls & 2) == 0, (walls & 4) == 0}});
      check_walks<T, 3>({box, uniform_points(box, k == 6 ? 8 : 150, k + 1), 1, false}, 30);
      check_walks<T, 3>({box, std::vector<vec<T, 3>>(20, box.vectors[0] * T(0.5)), 1, false}, 2);  // in one place
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(image_rows_3d, hold_all_pairs_of_points_on_faces) {
  using T = TypeParam;
  const auto box = box_of<T>({{{{4, 0, 0}}, {{2, 4, 0}}, {{1, 2, 4}}}});
  std::vector<vec<T, 3>> points;
  for (int k = 0; k < 125; ++k) {
    points.push_back((T(k % 5) / 4) * box.vectors[0] + (T(k / 5 % 5) / 4) * box.vectors[1] +
                     (T(k / 25) / 4) * box.vectors[2]);
  }
  for (const T reach : {T(1.05), T(2), T(4.01), T(6)}) check_walks<T, 3>({box, points, reach, false}, 25);
}

TYPED_TEST(image_rows_3d, hold_all_pairs_of_points_far_outside_of_open_axes) {
  using T = TypeParam;
  for (const double far : {1e2, 1e4, sizeof(T) == 4 ? 3e4 : 1e9}) {
    SCOPED_TRACE(far);
    const auto box = box_of<T>({{{{3, 0, 0}}, {{1, 3, 0}}, {{T(0.5), 1, 3}}}}, {{true, true, false}});
    auto points = uniform_points(box, 120, 5);
    for (std::size_t i = 0; i < 60; ++i) points[i] += static_cast<T>(far) * box.vectors[2];
    check_walks<T, 3>({box, points, 1, true}, 60);
    const auto upright = box_of<T>({{{{3, 0, 0}}, {{0, 3, 0}}, {{0, 0, 3}}}}, {{false, true, false}});
    points = uniform_points(upright, 120, 6);
    for (std::size_t i = 0; i < 60; ++i) points[i] += static_cast<T>(far) * vec<T, 3>{1, 0, -1};
    check_walks<T, 3>({upright, points, 1, true}, 60);
  }
}

/// In boxes much larger than the reach almost all points see one image, whatever the shape.
TYPED_TEST(image_rows_3d, a_tilted_box_costs_the_candidates_and_rows_of_an_upright_one) {
  using T = TypeParam;
  struct cost {
    double candidates, images;
  };
  const auto cost_in = [](const vec<vec<T, 3>, 3>& vectors) {
    const auto box = box_of(vectors);
    const stored_points<T, 3> points(box, uniform_points(box, 16500, 7), 1, false);
    cost sum{};
    for (std::size_t i = 0; i < points.wrapped.size(); ++i) {
      const auto walk = points.around(i);
      walk.for_each_image([&](const vec<int, 3>& shift) {
        sum.images += 1;
        walk.for_each_range(shift,
                            [&](const detail::row_range<3>& range) { sum.candidates += range.last - range.first; });
      });
    }
    return cost{sum.candidates / 16500, sum.images / 16500};
  };
  const cost upright = cost_in({{{{12, 0, 0}}, {{0, 12, 0}}, {{0, 0, 12}}}});
  EXPECT_LE(upright.images, 1.18 * 1.18 * 1.18);
  for (const auto& vectors :
       {vec<vec<T, 3>, 3>{{{{12, 0, 0}}, {{4, 12, 0}}, {{-5, 3, 12}}}},
        vec<vec<T, 3>, 3>{{{{0, T(9.524), T(9.524)}}, {{T(9.524), 0, T(9.524)}}, {{T(9.524), T(9.524), 0}}}}}) {
    const cost tilted = cost_in(vectors);
    EXPECT_LE(tilted.candidates, 1.06 * upright.candidates);  // cells of up to 1.08 cutoffs
    EXPECT_LE(tilted.images, 1.4 * upright.images);
  }
}

TEST(image_codes, words_hold_as_many_images_as_their_upper_bits) {
  EXPECT_TRUE((detail::image_codes<3>{{{1, 1, 1}}, 27}.fit()));
  EXPECT_FALSE((detail::image_codes<3>{{{1, 1, 2}}, 27}.fit()));
  EXPECT_TRUE((detail::image_codes<3>{{{2, 2, 2}}, 25}.fit()));
  EXPECT_TRUE((detail::image_codes<3>{{{500, 500, 500}}, 2}.fit()));
  EXPECT_FALSE((detail::image_codes<3>{{{500, 500, 500}}, 3}.fit()));
}

}  // namespace quadrat::test
