// SPDX-License-Identifier: BSD-3-Clause
#include "core/reduced_lattice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

// Boxes with the shortest vectors: of the same images, whatever the box, with maps of shifts that are exact.

namespace quadrat::test {

namespace {

template <int D>
using box_vectors = vec<vec<double, D>, D>;

template <int D>
[[nodiscard]] double signed_volume(const box_vectors<D>& vectors) {
  double volume = 0;
  static_cast<void>(detail::reciprocal(vectors, volume));
  return volume;
}

template <int D>
[[nodiscard]] vec<double, D> translation_of(const box_vectors<D>& vectors, const vec<int, D>& shift) {
  vec<double, D> result{};
  for (int k = 0; k < D; ++k) result += shift[k] * vectors[k];
  return result;
}

/// Vectors of about one length, of either handedness.
template <int D>
[[nodiscard]] box_vectors<D> random_vectors(std::mt19937_64& random) {
  std::uniform_real_distribution<double> either(-0.3, 0.3);
  box_vectors<D> vectors{};
  for (int k = 0; k < D; ++k) {
    for (int a = 0; a < D; ++a) vectors[k][a] = either(random) + (a == k ? 1 : 0);
  }
  if (random() % 2 == 0) vectors[0] = -vectors[0];
  return vectors;
}

/// Adds about `by` times one periodic vector to another one, `times` times.
template <int D>
void shear(box_vectors<D>& vectors, const vec<bool, D>& periodic, int by, int times, std::mt19937_64& random) {
  for (int step = 0; step < times; ++step) {
    const int a = static_cast<int>(random() % D), b = (a + 1 + static_cast<int>(random() % (D - 1))) % D;
    if (periodic[a] && periodic[b]) vectors[a] += (random() % 2 == 0 ? by : -by) * vectors[b];
  }
}

/// No sum or difference of vectors is shorter than the longest in it.
template <int D>
void expect_shortest(const lattice<double, D>& shape) {
  for (int number = 1; number < (D == 2 ? 9 : 27); ++number) {
    vec<int, D> shift{};
    for (int k = 0, rest = number; k < D; ++k, rest /= 3) shift[k] = rest % 3 - 1;
    double longest = 0;
    bool whole = true;
    for (int k = 0; k < D; ++k) {
      whole = whole && (shift[k] == 0 || shape.periodic[k]);
      if (shift[k] != 0) longest = std::max(longest, norm(shape.vectors[k]));
    }
    if (!whole) continue;
    EXPECT_GE(norm(translation_of<D>(shape.vectors, shift)), (1 - 1e-5) * longest);
  }
}

template <int D>
void expect_right_reductions(int by, int times) {
  std::mt19937_64 random(static_cast<unsigned>(by));
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(message(D, "D, sheared by ", by, ", trial ", trial));
    vec<bool, D> periodic = vec<bool, D>::filled(true);
    if (trial % 3 == 0) periodic[trial % D] = false;
    const box_vectors<D> upright = random_vectors<D>(random);
    box_vectors<D> given = upright;
    shear<D>(given, periodic, by, times, random);
    const auto box = make_lattice<double, D>({}, given, periodic);
    const auto found = detail::reduced(box, true);
    ASSERT_NEAR(signed_volume<D>(found.shape.vectors), signed_volume<D>(upright), 1e-6);
    EXPECT_EQ(found.shape.periodic, periodic);
    if (!found.changed) {
      EXPECT_EQ(found.shape.vectors, given);
      EXPECT_LE(detail::product_of_heights(make_lattice<double, D>({}, upright, periodic)),
                1.8 * detail::product_of_heights(box));
      continue;
    }
    expect_shortest<D>(found.shape);
    for (int k = 0; k < D; ++k) {
      EXPECT_TRUE(periodic[k] || found.shape.vectors[k] == given[k]);
      vec<int, D> one{}, far{};
      one[k] = 1;
      for (int a = 0; a < D; ++a) far[a] = periodic[a] ? static_cast<int>(random() % 2001) - 1000 : 0;
      EXPECT_EQ(found.map.to_searched(found.map.to_given(one)), one);
      EXPECT_EQ(found.map.to_given(found.map.to_searched(far)), far);
      const auto difference =
          translation_of<D>(given, far) - translation_of<D>(found.shape.vectors, found.map.to_searched(far));
      EXPECT_LT(norm(difference), 1e-12 * (norm(translation_of<D>(given, far)) + 1000.0 * by)) << "vector " << k;
    }
  }
}

}  // namespace

TEST(reduced_lattice, has_the_images_of_the_given_one_and_the_shortest_vectors) {
  for (const int by : {1, 2, 10, 30, 100}) {
    expect_right_reductions<2>(by, 1);
    expect_right_reductions<3>(by, 1);
  }
  for (const int by : {1, 4, 12}) expect_right_reductions<3>(by, 2);
}

TEST(reduced_lattice, is_exact_where_the_vectors_are) {
  for (const int by : {1, 10, 30, 300}) {
    const auto box = make_lattice<float, 3>(
        {1, 2, 3}, {{{{4, 0, 0}}, {{4.0F * static_cast<float>(by), 5, 0}}, {{0, 0, 6}}}}, {true, true, true});
    const auto found = detail::reduced(box, true);
    EXPECT_TRUE(found.changed);
    EXPECT_TRUE(found.shape.orthorhombic);
    EXPECT_EQ(found.shape.vectors, (vec<vec<float, 3>, 3>{{{{4, 0, 0}}, {{0, 5, 0}}, {{0, 0, 6}}}}));
    EXPECT_EQ(found.map.to_given({0, 1, 0}), (vec<int, 3>{-by, 1, 0}));
    EXPECT_EQ(found.map.to_searched({0, 1, 0}), (vec<int, 3>{by, 1, 0}));
  }
}

TEST(reduced_lattice, leaves_boxes_as_they_are_that_cost_little_or_are_open) {
  const auto same = [](const vec<vec<double, 2>, 2>& vectors, const vec<bool, 2>& periodic) {
    return !detail::reduced(make_lattice<double, 2>({}, vectors, periodic), false).changed;
  };
  EXPECT_TRUE(same({{{{1, 0}}, {{0, 1}}}}, {true, true}));
  EXPECT_TRUE(same({{{{1, 0}}, {{0.6, 1}}}}, {true, true})) << "a shorter one is not worth it";
  EXPECT_TRUE(same({{{{1, 0}}, {{9, 1}}}}, {true, false}));
  EXPECT_FALSE(same({{{{1, 0}}, {{1.1, 1}}}}, {true, true}));
}

TEST(reduced_lattice, maps_shifts_only_where_they_stay_small_enough) {
  const auto box = [](double by) { return make_lattice<double, 2>({}, {{{{1, 0}}, {{by, 1}}}}, {true, true}); };
  EXPECT_TRUE(detail::reduced(box(300), true).changed);
  EXPECT_FALSE(detail::reduced(box(301), true).changed) << "shifts could exceed 2^31";
  EXPECT_TRUE(detail::reduced(box(1e6), false).changed);
}

}  // namespace quadrat::test
