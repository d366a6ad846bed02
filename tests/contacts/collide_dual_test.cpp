// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "contacts/colliding_bodies.hpp"
#include "quadrat/contacts/collide.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"

// The narrow phase on the backend, compared with the host.

namespace quadrat::test {

namespace {

template <typename T>
struct collide_all {
  const colliding_bodies<T>* cases;
  contact_manifold<T>* found;
  contact_manifold<T>* on_wall;
  plane<T> wall;

  QUADRAT_HD void operator()(std::size_t k) const {
    static_cast<void>(collide(cases[k].a, cases[k].b, cases[k].offset, found[k]));
    body<T> at_wall = cases[k].a;
    at_wall.center = cases[k].offset;
    static_cast<void>(collide_with_plane(at_wall, wall, on_wall[k]));
  }
};

template <typename T>
[[nodiscard]] std::vector<colliding_bodies<T>> random_cases(std::size_t count) {
  std::mt19937_64 random(17);
  const body_mix mixes[] = {{3, 1, 0.9}, {3, 1, 0.2}, {1.2, 3, 0.9}, {10, 1, 0.5}, {2, 300, 0.8}};
  std::vector<colliding_bodies<T>> cases;
  for (std::size_t k = 0; k < count; ++k) {
    cases.push_back(random_pair<T>(random, all_shapes[k % 4], all_shapes[k / 4 % 4], mixes[k / 16 % 5]));
  }
  return cases;
}

/// Counts pairs with different features, which rounding changes occasionally.
template <typename T>
void compare(const colliding_bodies<T>& c, const contact_manifold<T>& found, const contact_manifold<T>& expected,
             std::size_t& differ) {
  const double tolerance = (sizeof(T) == 4 ? 2e-5 : 1e-12) * c.scale();
  ASSERT_NO_FATAL_FAILURE(expect_defined(c, found));
  if ((found.count > 0) != (expected.count > 0)) {
    ASSERT_LT(deepest_of(found.count > 0 ? found : expected).depth, tolerance);
    return;
  }
  bool same = found.count == expected.count;
  for (int k = 0; same && k < found.count; ++k) {
    const contact_point<T>&one = found.points[k], &other = expected.points[k];
    const auto between = cast<double>(one.point_a) - cast<double>(other.point_a);
    same = one.feature == other.feature && std::fabs(one.depth - other.depth) < tolerance &&
           reference::length_of(between) < 100 * tolerance;
  }
  differ += same ? 0 : 1;
}

}  // namespace

template <typename T>
class collide_dual_test : public backend_test {};
using scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(collide_dual_test, scalars);

TYPED_TEST(collide_dual_test, gives_what_the_host_gives) {
  const auto cases = random_cases<TypeParam>(size_or(16'000, 1'600));
  const plane<TypeParam> wall{{TypeParam(0.6), TypeParam(0), TypeParam(0.8)}, TypeParam(-0.5), 0};
  const backend_context context;
  const auto inputs = to_device(context, cases);
  array<contact_manifold<TypeParam>, backend_context> found(context, cases.size()), on_wall(context, cases.size());
  for_each(context, "test.collide", cases.size(),
           collide_all<TypeParam>{inputs.data(), found.data(), on_wall.data(), wall});
  const auto given = to_host(context, found), given_on_wall = to_host(context, on_wall);
  std::vector<contact_manifold<TypeParam>> expected(cases.size()), expected_on_wall(cases.size());
  const collide_all<TypeParam> host{cases.data(), expected.data(), expected_on_wall.data(), wall};
  std::size_t differ = 0, differ_on_wall = 0, touching = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    SCOPED_TRACE(testing::Message() << "case " << k << ", shapes " << k % 4 << " and " << k / 4 % 4);
    host(k);
    ASSERT_NO_FATAL_FAILURE(compare(cases[k], given[k], expected[k], differ));
    ASSERT_NO_FATAL_FAILURE(compare(cases[k], given_on_wall[k], expected_on_wall[k], differ_on_wall));
    touching += expected[k].count > 0 ? 1 : 0;
  }
  EXPECT_GT(touching, cases.size() / 4);
  EXPECT_LE(differ, cases.size() / 500);
  EXPECT_LE(differ_on_wall, cases.size() / 500);
}

}  // namespace quadrat::test
