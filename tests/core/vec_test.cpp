// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/vec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

namespace quadrat::test {

namespace {

TEST(vec, adds_subtracts_and_scales_by_component) {
  const vec<double, 3> a{1, 2, 3};
  const vec<double, 3> b{10, 20, 30};
  EXPECT_EQ(a + b, (vec<double, 3>{11, 22, 33}));
  EXPECT_EQ(b - a, (vec<double, 3>{9, 18, 27}));
  EXPECT_EQ(a * 2.0, (vec<double, 3>{2, 4, 6}));
  EXPECT_EQ(2.0 * a, a * 2.0);
  vec<double, 3> c = a;
  c += b;
  EXPECT_EQ(c, a + b);
  c -= b;
  EXPECT_EQ(c, a);
}

TEST(vec, has_signs_and_quotients) {
  constexpr vec<double, 3> a{1, -2, 3};
  static_assert(-a == vec<double, 3>{-1, 2, -3} && +a == a);
  static_assert(a / 2.0 == vec<double, 3>{0.5, -1, 1.5});
  EXPECT_TRUE(std::signbit((-vec<float, 2>{0, 1})[0]));
  // One rounding: 49 * (1 / 49) is less than 1.
  EXPECT_EQ((vec<double, 2>{49, 98} / 49.0), (vec<double, 2>{1, 2}));
  vec<double, 3> b = a;
  b *= 3.0;
  EXPECT_EQ(b, a * 3.0);
  b /= 3.0;
  EXPECT_EQ(b, a);
  EXPECT_EQ((vec<int, 2>{7, -7} / 2), (vec<int, 2>{3, -3}));
}

TEST(vec, has_a_length) {
  EXPECT_EQ(norm(vec<double, 3>{2, 3, 6}), 7);
  EXPECT_EQ(norm(vec<float, 2>{3, -4}), 5.0f);
  EXPECT_EQ(norm(vec<float, 3>{}), 0.0f);
  EXPECT_TRUE(std::isnan(norm(vec<float, 2>{std::nanf(""), 1})));
}

TEST(vec, deduces_type_and_dimension) {
  EXPECT_TRUE((std::is_same_v<decltype(vec{1.0f, 2.0f, 3.0f}), vec<float, 3>>));
  const vec two{1.0, 2.0};
  EXPECT_TRUE((std::is_same_v<decltype(two), const vec<double, 2>>));
  const vec copy{two};
  EXPECT_EQ(copy, two);
}

TEST(vec, multiplies_in_the_order_of_the_axes) {
  EXPECT_EQ(dot(vec<int, 2>{2, 3}, vec<int, 2>{5, 7}), 31);
  EXPECT_EQ(squared_norm(vec<int, 3>{1, 2, 3}), 14);
  // (big + 1) - big is 0 in float, (big - big) + 1 is 1: so the order matters.
  const float big = 1e8f;
  EXPECT_EQ(dot(vec<float, 3>{big, 1, -big}, vec<float, 3>{1, 1, 1}), 0.0f);
  EXPECT_EQ(dot(vec<float, 3>{big, -big, 1}, vec<float, 3>{1, 1, 1}), 1.0f);
}

TEST(vec, differs_when_one_component_does) {
  EXPECT_EQ((vec<int, 2>{1, 2}), (vec<int, 2>{1, 2}));
  EXPECT_FALSE((vec<int, 2>{1, 2} == vec<int, 2>{1, 3}));
  EXPECT_FALSE((vec<int, 2>{1, 2} == vec<int, 2>{0, 2}));
}

TEST(vec, is_made_from_a_value_or_a_function_of_the_axis) {
  EXPECT_EQ((vec<int, 3>::filled(4)), (vec<int, 3>{4, 4, 4}));
  EXPECT_EQ((make_vec<int, 3>([](int axis) { return 10 * axis; })), (vec<int, 3>{0, 10, 20}));
  EXPECT_EQ((cast<int>(vec<double, 2>{1.9, -1.9})), (vec<int, 2>{1, -1}));
}

TEST(vec, is_plain_memory) {
  EXPECT_TRUE((std::is_trivially_copyable_v<vec<float, 3>>));
  EXPECT_EQ(sizeof(vec<float, 3>), 3 * sizeof(float));
}

}  // namespace

}  // namespace quadrat::test
