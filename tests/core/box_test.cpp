// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/box.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/random.hpp"

namespace quadrat::test {

namespace {

template <typename T>
class box_test : public testing::Test {
 protected:
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();

  static box<T, 2> half_periodic(T lower, T upper) {
    return make_box<T, 2>({lower, lower}, {upper, upper}, {true, false});
  }
};

using scalar_types = testing::Types<float, double>;
TYPED_TEST_SUITE(box_test, scalar_types);

TYPED_TEST(box_test, wraps_periodic_axes_and_leaves_open_ones) {
  using T = TypeParam;
  const auto domain = this->half_periodic(T(-1), T(3));
  EXPECT_EQ(domain.wrap({T(0), T(0)}), (vec<T, 2>{0, 0}));
  EXPECT_EQ(domain.wrap({T(3.5), T(3.5)}), (vec<T, 2>{T(-0.5), T(3.5)}));
  EXPECT_EQ(domain.wrap({T(-1.5), T(-1.5)}), (vec<T, 2>{T(2.5), T(-1.5)}));
  EXPECT_EQ(domain.wrap({T(103.5), T(0)}), (vec<T, 2>{T(-0.5), T(0)}));
  EXPECT_EQ(domain.wrap({T(-1), T(0)}), (vec<T, 2>{T(-1), T(0)}));
}

TYPED_TEST(box_test, wraps_the_upper_face_to_the_lower) {
  using T = TypeParam;
  const auto domain = this->half_periodic(T(-1), T(3));
  EXPECT_EQ(domain.wrap({T(3), T(3)}), (vec<T, 2>{T(-1), T(3)}));
  EXPECT_EQ(domain.wrap({T(7), T(3)}), (vec<T, 2>{T(-1), T(3)}));
}

TYPED_TEST(box_test, never_wraps_to_the_upper_face_whatever_is_rounded) {
  using T = TypeParam;
  std::mt19937_64 generator(1);
  for (int trial = 0; trial < 200'000; ++trial) {
    const T scale = std::pow(T(10), T(8) * random_unit<T>(generator) - T(4));
    const T lower = (random_unit<T>(generator) - T(0.5)) * scale;
    const T upper = lower + T(0.001) + random_unit<T>(generator);
    if (!(upper > lower)) continue;
    const auto domain = make_box<T, 1>({lower}, {upper}, {true});
    T x = lower + std::floor(T(9) * random_unit<T>(generator) - T(4)) * domain.length[0];
    const T toward = generator() % 2 == 0 ? this->infinity : -this->infinity;
    for (std::uint64_t steps = generator() % 3; steps > 0; --steps) x = std::nextafter(x, toward);
    if (trial % 5 == 0) x = -std::numeric_limits<T>::denorm_min() * static_cast<T>(trial);
    const T wrapped = domain.wrap({x})[0];
    ASSERT_GE(wrapped, lower) << x << " in [" << lower << ", " << upper << ")";
    ASSERT_LT(wrapped, domain.upper(0)) << x << " in [" << lower << ", " << upper << ")";
    ASSERT_EQ(domain.wrap({wrapped})[0], wrapped) << "wrapping twice is wrapping once";
  }
}

TYPED_TEST(box_test, keeps_huge_points_inside_and_shows_values_that_are_not_finite) {
  using T = TypeParam;
  const auto domain = this->half_periodic(T(-1), T(3));
  for (const T x : {T(1e30), T(-1e30), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()}) {
    const T wrapped = domain.wrap({x, T(0)})[0];
    EXPECT_GE(wrapped, T(-1));
    EXPECT_LT(wrapped, T(3));
  }
  for (const T x : {this->nan, this->infinity, -this->infinity}) {
    EXPECT_TRUE(std::isnan(domain.wrap({x, T(0)})[0]));
    EXPECT_FALSE(domain.contains({x, T(0)}));
    EXPECT_FALSE(domain.contains({T(0), x}));
  }
}

TYPED_TEST(box_test, separates_by_the_nearest_image) {
  using T = TypeParam;
  const auto domain = this->half_periodic(T(0), T(4));
  EXPECT_EQ(domain.separation({T(0.5), T(0.5)}, {T(3.5), T(3.5)}), (vec<T, 2>{T(-1), T(3)}));
  EXPECT_EQ(domain.separation({T(3.5), T(3.5)}, {T(0.5), T(0.5)}), (vec<T, 2>{T(1), T(-3)}));
  EXPECT_EQ(domain.separation({T(1), T(1)}, {T(2), T(2)}), (vec<T, 2>{T(1), T(1)}));
  // Half the box away there are two images; either will do, and the distance is the same from both ends.
  EXPECT_EQ(std::fabs(domain.separation({T(0), T(0)}, {T(2), T(0)})[0]), T(2));
  EXPECT_EQ(std::fabs(domain.separation({T(2), T(0)}, {T(0), T(0)})[0]), T(2));
}

TYPED_TEST(box_test, separation_is_antisymmetric_below_half_the_box) {
  using T = TypeParam;
  std::mt19937_64 generator(2);
  const auto domain = make_box<T, 3>({T(-0.3), T(0.1), T(5)}, {T(0.9), T(1.7), T(6)}, {true, true, false});
  for (int trial = 0; trial < 50'000; ++trial) {
    const auto random_point = [&] {
      return domain.wrap(make_vec<T, 3>(
          [&](int axis) { return domain.lower[axis] + domain.length[axis] * random_unit<T>(generator); }));
    };
    const auto a = random_point();
    const auto b = random_point();
    const auto d = domain.separation(a, b);
    for (int axis = 0; axis < 3; ++axis) {
      const T half = domain.length[axis] / 2;
      ASSERT_TRUE(!domain.periodic[axis] || std::fabs(d[axis]) <= half);
      ASSERT_TRUE(std::fabs(d[axis]) >= half || d[axis] == -domain.separation(b, a)[axis]);
    }
  }
}

TYPED_TEST(box_test, contains_both_faces_of_an_open_axis_and_every_finite_value_of_a_periodic_one) {
  using T = TypeParam;
  const auto domain = this->half_periodic(T(-1), T(3));
  EXPECT_TRUE(domain.contains({T(1e20), T(-1)}));
  EXPECT_TRUE(domain.contains({T(0), T(3)}));
  EXPECT_FALSE(domain.contains({T(0), std::nextafter(T(3), T(4))}));
  EXPECT_FALSE(domain.contains({T(0), std::nextafter(T(-1), T(-2))}));
}

TYPED_TEST(box_test, contains_the_given_upper_face_whatever_is_rounded) {
  using T = TypeParam;
  std::mt19937_64 generator(3);
  for (int trial = 0; trial < 100'000; ++trial) {
    const T scale = std::pow(T(10), T(12) * random_unit<T>(generator) - T(6));
    const T lower = (random_unit<T>(generator) - T(0.5)) * scale;
    const T upper = random_unit<T>(generator) + std::fmax(lower, T(0));
    if (!(upper > lower)) continue;
    const auto domain = make_box<T, 1>({lower}, {upper}, {false});
    ASSERT_TRUE(domain.contains({upper})) << "[" << lower << ", " << upper << "]";
    ASSERT_TRUE(domain.contains({lower})) << "[" << lower << ", " << upper << "]";
    ASSERT_LE(domain.upper(0) - upper, 4 * std::numeric_limits<T>::epsilon() * std::fmax(domain.length[0], upper));
  }
}

TYPED_TEST(box_test, keeps_given_lengths_to_the_last_bit_wherever_it_lies) {
  using T = TypeParam;
  std::mt19937_64 generator(4);
  int lost_by_faces = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const T lower = (random_unit<T>(generator) - T(0.5)) * T(2000);
    const T length = T(0.1) + random_unit<T>(generator);
    const auto domain = make_box_from_lengths<T, 1>({lower}, {length}, {true});
    ASSERT_EQ(domain.lower[0], lower);
    ASSERT_EQ(domain.length[0], length);
    if (make_box<T, 1>({lower}, {lower + length}, {true}).length[0] != length) ++lost_by_faces;
  }
  EXPECT_GT(lost_by_faces, 5'000) << "the test has lengths that two faces lose";
}

TYPED_TEST(box_test, refuses_lengths_that_make_no_box) {
  using T = TypeParam;
  const auto build = [&](T lower, T length) { return make_box_from_lengths<T, 1>({lower}, {length}, {false}); };
  EXPECT_THROW(static_cast<void>(build(1, 0)), argument_error);
  EXPECT_THROW(static_cast<void>(build(1, -1)), argument_error);
  EXPECT_THROW(static_cast<void>(build(this->nan, 1)), argument_error);
  EXPECT_THROW(static_cast<void>(build(0, this->nan)), argument_error);
  EXPECT_THROW(static_cast<void>(build(0, this->infinity)), argument_error);
  EXPECT_THROW(static_cast<void>(build(std::numeric_limits<T>::max(), std::numeric_limits<T>::max())), argument_error);
  EXPECT_THROW(static_cast<void>(build(T(1) / std::numeric_limits<T>::epsilon(), T(0.25))), argument_error)
      << "a length that is lost beside the lower bound";
}

TYPED_TEST(box_test, measures_points_in_units_of_the_box) {
  using T = TypeParam;
  const auto domain = this->half_periodic(T(-1), T(3));
  EXPECT_EQ(domain.fraction({T(-1), T(3)}, 0), T(0));
  EXPECT_EQ(domain.fraction({T(-1), T(3)}, 1), T(1));
  EXPECT_EQ(domain.fraction({T(0), T(0)}, 0), T(0.25));
}

TYPED_TEST(box_test, refuses_bounds_that_make_no_box) {
  using T = TypeParam;
  const vec<bool, 1> open{false};
  const auto build = [&](T lower, T upper) { return make_box<T, 1>({lower}, {upper}, open); };
  EXPECT_THROW(static_cast<void>(build(1, 1)), argument_error);
  EXPECT_THROW(static_cast<void>(build(1, 0)), argument_error);
  EXPECT_THROW(static_cast<void>(build(this->nan, 1)), argument_error);
  EXPECT_THROW(static_cast<void>(build(0, this->nan)), argument_error);
  EXPECT_THROW(static_cast<void>(build(0, this->infinity)), argument_error);
  EXPECT_THROW(static_cast<void>(build(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max())),
               argument_error);
}

TEST(make_box, names_the_axis_and_the_bounds_it_refuses) {
  try {
    static_cast<void>(make_box<double, 2>({0, 2.5}, {1, 1.25}, {false, false}));
    FAIL() << "a box of negative length was made";
  } catch (const argument_error& refusal) {
    EXPECT_STREQ(refusal.what(), "box length along axis 1 is -1.25; it must be positive");
  }
}

}  // namespace

}  // namespace quadrat::test
