// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/lattice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/random.hpp"

namespace quadrat::test {

namespace {

template <typename T>
class lattice_test : public testing::Test {
 protected:
  std::mt19937_64 random_{11};

  [[nodiscard]] T between(double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random_));
  }
  [[nodiscard]] vec<T, 3> anywhere(double far) { return {between(-far, far), between(-far, far), between(-far, far)}; }
};

using lattice_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(lattice_test, lattice_precisions);

TYPED_TEST(lattice_test, wraps_into_an_orthorhombic_box_from_near_and_far) {
  using T = TypeParam;
  for (int trial = 0; trial < 200'000; ++trial) {
    const vec<T, 3> length{this->between(0.1, 1), this->between(0.1, 1), this->between(0.1, 1)};
    const auto origin = this->anywhere(trial % 2 == 0 ? 1 : 100);
    const auto box = make_lattice(make_box_from_lengths(origin, length, vec<bool, 3>::filled(true)));
    const auto point = this->anywhere(std::pow(10.0, trial % 5));
    vec<int, 3> boxes{};
    const auto home = box.wrap(point, boxes);
    const auto back = home + box.translation(boxes);
    for (int axis = 0; axis < 3; ++axis) {
      const T offset = home[axis] - origin[axis];
      ASSERT_TRUE(offset >= T(0) && offset < length[axis])
          << point[axis] << " in " << origin[axis] << " + " << length[axis];
      const T size = std::fabs(point[axis]) + std::fabs(origin[axis]) + 1;
      ASSERT_NEAR(back[axis], point[axis], 4 * std::numeric_limits<T>::epsilon() * size);
    }
  }
}

TYPED_TEST(lattice_test, wraps_into_a_triclinic_box_within_rounding) {
  using T = TypeParam;
  for (int trial = 0; trial < 100'000; ++trial) {
    vec<vec<T, 3>, 3> vectors{};
    for (int axis = 0; axis < 3; ++axis) {
      for (int k = 0; k < 3; ++k) vectors[axis][k] = axis == k ? T(1) : this->between(-0.3, 0.3);
    }
    const auto box = make_lattice(this->anywhere(1), vectors, vec<bool, 3>::filled(true));
    const auto point = this->anywhere(std::pow(10.0, trial % 5));
    vec<int, 3> boxes{};
    const auto home = box.wrap(point, boxes);
    const auto back = home + box.translation(boxes);
    for (int axis = 0; axis < 3; ++axis) {
      const T fraction = box.fraction(home, axis);
      const T rounding = 32 * std::numeric_limits<T>::epsilon();
      ASSERT_TRUE(fraction >= -rounding && fraction <= T(1) + rounding) << fraction << " from " << point[axis];
      const T size = 3 * (std::fabs(point[0]) + std::fabs(point[1]) + std::fabs(point[2])) + 4;
      ASSERT_NEAR(back[axis], point[axis], 4 * std::numeric_limits<T>::epsilon() * size);
    }
  }
}

TYPED_TEST(lattice_test, leaves_what_is_no_place_and_what_is_too_far_as_it_is) {
  using T = TypeParam;
  const auto box = make_lattice(make_box<T, 2>({0, 0}, {1, 1}, {true, true}));
  const T far = T(2) * lattice<T, 2>::most_boxes;
  vec<int, 2> boxes{};
  EXPECT_EQ(box.wrap({far, T(0.5)}, boxes), (vec<T, 2>{far, T(0.5)}));
  EXPECT_EQ(boxes, (vec<int, 2>{0, 0}));
  EXPECT_TRUE(std::isnan(box.wrap({std::numeric_limits<T>::quiet_NaN(), T(0)}, boxes)[0]));
}

TYPED_TEST(lattice_test, knows_the_height_of_very_small_and_very_large_boxes) {
  using T = TypeParam;
  for (const T size : {T(1e-20), T(4e18)}) {  // their squares, or inverse squares, exceed the range of single precision
    const auto upright = make_lattice(make_box<T, 2>({0, 0}, {size, 2 * size}, {false, false}));
    EXPECT_EQ(upright.height(0), size);
    EXPECT_EQ(upright.height(1), 2 * size);
    const auto tilted = make_lattice<T, 2>({}, {{{{size, 0}}, {{size, size}}}}, {false, false});
    EXPECT_NEAR(tilted.height(0) / size, std::sqrt(T(0.5)), 8 * std::numeric_limits<T>::epsilon());
    EXPECT_NEAR(tilted.height(1) / size, T(1), 8 * std::numeric_limits<T>::epsilon());
  }
}

TYPED_TEST(lattice_test, gives_open_axes_without_a_vector_one_across_the_others) {
  using T = TypeParam;
  using vectors = vec<vec<T, 3>, 3>;
  const vec<bool, 3> slab{true, true, false}, wire{false, true, false};
  const auto upright = make_lattice<T, 3>({}, vectors{{{{3, 0, 0}}, {{0, 7, 0}}, {{0, 0, 0}}}}, slab);
  EXPECT_EQ(upright.vectors, (vectors{{{{3, 0, 0}}, {{0, 7, 0}}, {{0, 0, 7}}}}));
  EXPECT_TRUE(upright.orthorhombic);
  const auto molecule = make_lattice<T, 3>({}, vectors{}, vec<bool, 3>::filled(false));
  EXPECT_EQ(molecule.vectors, (vectors{{{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}}}));
  for (const T size : {T(1e-10), T(1), T(1e10)}) {
    const vec<T, 3> given{size, -2 * size, T(0.5) * size};
    const auto tilted = make_lattice<T, 3>({}, vectors{{{{0, 0, 0}}, given, {{0, 0, 0}}}}, wire);
    const double unit = static_cast<double>(squared_norm(given / size));
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(squared_norm(tilted.vectors[k] / size), unit, 1e-5);
      EXPECT_NEAR(dot(tilted.vectors[k] / size, given / size), k == 1 ? unit : 0, 1e-5);
    }
    EXPECT_NEAR(dot(tilted.vectors[0] / size, tilted.vectors[2] / size), 0, 1e-5);
    EXPECT_EQ(tilted.vectors[1], given);
  }
  const auto plane = make_lattice<T, 2>({}, {{{{0, 0}}, {{1, 1}}}}, {false, true});
  EXPECT_NEAR(dot(plane.vectors[0], plane.vectors[1]), 0, 1e-6);
  EXPECT_THROW((void)(make_lattice<T, 3>({}, vectors{}, slab)), argument_error) << "periodic axes need vectors";
  EXPECT_THROW((void)(make_lattice<T, 3>({}, vectors{{{{3, 0, 0}}, {{6, 0, 0}}, {{0, 0, 0}}}}, slab)), argument_error);
}

}  // namespace

}  // namespace quadrat::test
