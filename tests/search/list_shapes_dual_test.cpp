// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "list_support.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Flat, long, thin, tilted and far boxes: every method finds what the reference finds, in float and in double.

namespace quadrat::test {

namespace {

template <typename T>
[[nodiscard]] vec<vec<T, 3>, 3> edges(T x, T y, T z) {
  return {{{{x, 0, 0}}, {{0, y, 0}}, {{0, 0, z}}}};
}

template <typename T>
struct shaped_box {
  const char* name;
  vec<vec<T, 3>, 3> vectors;
  T cutoff;
};

template <typename T>
[[nodiscard]] std::vector<shaped_box<T>> shaped_boxes() {
  return {
      {"flat", edges<T>(100, 100, 1), 1},
      {"long", edges<T>(128, 1, 1), T(0.5)},
      {"long, last axis", edges<T>(1, 1, 1000), T(0.3)},
      {"thin", edges<T>(1, 1, T(0.0145)), T(0.05)},
      {"very thin", edges<T>(1, 1, T(1e-6)), T(0.05)},
      {"needle", edges<T>(T(1e5), T(0.01), T(0.01)), T(20)},
      {"long and sheared", {{{{128, 0, 0}}, {{64, 1, 0}}, {{T(-32), T(0.5), 1}}}}, T(0.4)},
      {"short vectors sheared along a long one", {{{{1, 0, 0}}, {{T(0.5), 1, 0}}, {{T(0.3), T(0.2), 128}}}}, T(0.4)},
      {"sheared by many boxes", {{{{1, 0, 0}}, {{20, 1, 0}}, {{0, 0, 1}}}}, T(0.4)}};
}

/// Random points, some in one plane, some on faces; or points `away` boxes away, near faces and a third of a box apart.
template <typename T>
[[nodiscard]] neighbor_problem<T, 3> points_in(const shaped_box<T>& shape, const vec<bool, 3>& periodic,
                                               std::size_t count, int away, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  neighbor_problem<T, 3> problem;
  const vec<T, 3> origin{T(-0.25), T(3), T(0.125)};
  problem.boxes = {make_lattice<T, 3>(origin, shape.vectors, periodic)};
  problem.options.cutoff = shape.cutoff;
  problem.options.sorted = problem.options.shifts = problem.options.vectors = problem.options.squared_distances = true;
  const bool upright = problem.boxes[0].orthorhombic;
  // Dense enough to have neighbors.
  const T crowd = std::fmin(T(1), 10 * shape.cutoff / std::sqrt(squared_norm(shape.vectors[seed % 2 == 0 ? 0 : 2])));
  for (std::size_t i = 0; i < count; ++i) {
    vec<T, 3> point = origin;
    for (int axis = 0; axis < 3; ++axis) {
      T fraction = random_unit<T>(random) * (i % 2 == 0 ? T(1) : crowd);
      if (i % 7 == 0) fraction = T(0);
      if (!upright && !periodic[axis]) fraction = T(0.01) + T(0.98) * fraction;
      if (away > 0) {
        fraction = static_cast<T>(random() % 3) / 3 + T(0.05) * (random_unit<T>(random) - T(0.5));
        fraction += static_cast<T>(static_cast<int>(random() % (2u * static_cast<unsigned>(away) + 1)) - away);
      }
      point += shape.vectors[axis] * fraction;
    }
    for (int axis = 0; upright && axis < 3; ++axis) {
      if (periodic[axis]) continue;
      const T upper = problem.boxes[0].vectors[axis][axis];
      while (point[axis] - origin[axis] > upper) point[axis] = std::nextafter(point[axis], origin[axis]);
    }
    problem.points.push_back(point);
  }
  return problem;
}

template <typename T>
void expect_all_methods_agree(const neighbor_problem<T, 3>& problem) {
  const auto wanted = reference::neighbor_list(problem);
  EXPECT_GT(wanted.entries.size(), problem.points.size() / 4);
  if (!same_bits && wanted.margin < 64) return;  // the GPU's contraction may decide otherwise
  check_method(backend_context(), problem, wanted, "");
  for (const std::string& method : methods_here()) check_method(backend_context(), problem, wanted, method);
}

template <typename T>
class neighbor_list_shapes_test : public backend_test {};
using shape_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(neighbor_list_shapes_test, shape_precisions);

TYPED_TEST(neighbor_list_shapes_test, flat_long_and_thin_boxes_open_and_periodic) {
  using T = TypeParam;
  for (const auto& shape : shaped_boxes<T>()) {
    for (unsigned walls = 0; walls < 8; ++walls) {
      SCOPED_TRACE(message(shape.name, ", periodic ", walls));
      const vec<bool, 3> periodic{(walls & 1u) != 0, (walls & 2u) != 0, (walls & 4u) != 0};
      bool few_images = true;
      const auto box = make_lattice<T, 3>({}, shape.vectors, periodic);
      for (int axis = 0; axis < 3; ++axis)
        few_images = few_images && (!periodic[axis] || shape.cutoff < 5 * box.height(axis));
      if (few_images) expect_all_methods_agree(points_in(shape, periodic, 150, 0, walls));
    }
  }
}

/// Many boxes away, the rounding of a translation exceeds the tolerance at a face.
TYPED_TEST(neighbor_list_shapes_test, points_many_boxes_away_lose_no_neighbors) {
  using T = TypeParam;
  for (const int away : {2, 100, 10'000, 500'000}) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      SCOPED_TRACE(message(away, " boxes away"));
      const shaped_box<T> upright{"", edges<T>(T(0.3), T(0.3), T(0.3)), T(0.0999)};
      expect_all_methods_agree(points_in(upright, {true, true, true}, 150, away, seed));
      const shaped_box<T> tilted{
          "", {{{{T(0.3), 0, 0}}, {{T(0.1), T(0.3), 0}}, {{T(0.1), T(-0.1), T(0.3)}}}}, T(0.085)};
      expect_all_methods_agree(points_in(tilted, {true, true, true}, 150, away, seed));
    }
  }
}

TYPED_TEST(neighbor_list_shapes_test, a_cutoff_of_hundreds_of_images_finds_them_all) {
  using T = TypeParam;
  neighbor_problem<T, 3> problem;
  problem.boxes = {make_lattice<T, 3>({}, edges<T>(1, 1000, 1000), {true, false, false})};
  problem.points = {{T(0.25), 500, 500}};
  problem.options.cutoff = T(400.5);
  problem.options.sorted = problem.options.shifts = true;
  const auto wanted = reference::neighbor_list(problem);
  ASSERT_EQ(wanted.entries.size(), 800u);
  for (const std::string& method : methods_here()) check_method(backend_context(), problem, wanted, method);
}

/// The message of a build in such a box.
template <typename T>
[[nodiscard]] std::string refusal(const vec<vec<T, 3>, 3>& vectors, T cutoff, const vec<T, 3>& origin = {}) {
  neighbor_problem<T, 3> problem;
  problem.boxes = {make_lattice<T, 3>(origin, vectors, vec<bool, 3>::filled(true))};
  problem.points = {origin};
  problem.options.cutoff = cutoff;
  const backend_context context;
  const neighbor_input_on_device<T, 3> stored(context, problem);
  neighbor_list<backend_context, T, 3> list(context, problem.options);
  return error_of<argument_error>([&] { list.build(stored.input()); });
}

class neighbor_list_boxes_test : public backend_test {};

TEST_F(neighbor_list_boxes_test, what_is_lost_to_rounding_is_called_by_its_name) {
  expect_words(refusal<float>(edges<float>(1, 1, 1), 1000), {"cutoff 1000 spans 1000 images", "at most 498"});
  const vec<vec<float, 3>, 3> tilted{{{{1, 0, 0}}, {{90, 1, 0}}, {{0, 0, 1}}}};
  EXPECT_EQ(refusal<float>(tilted, 0.25f), "no error");
  EXPECT_EQ(refusal<float>(tilted, 6), "no error");  // 540 images in these vectors, and 6 in the shortest ones
  const vec<vec<float, 3>, 3> more_than_maps{{{{1, 0, 0}}, {{400, 1, 0}}, {{0, 0, 1}}}};
  expect_words(refusal<float>(more_than_maps, 2), {"the cutoff 2 spans 800", "images of box 0", "at most 498"});
  expect_words(refusal<float>(tilted, 0.25f, {1e9f, 0, 0}), {"origin of box 0"});
  const vec<vec<float, 3>, 3> dependent{{{{1, 0, 0}}, {{1e6f, 1, 0}}, {{0, 0, 1}}}};
  expect_words(refusal<float>(dependent, 1e-4f), {"vectors of box 0", "nearly dependent"});
}

}  // namespace

}  // namespace quadrat::test
