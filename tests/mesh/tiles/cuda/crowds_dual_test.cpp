// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "mesh/exact_window.hpp"
#include "mesh/support.hpp"
#include "quadrat/mesh/spread_plan.hpp"

// Many points in few places, where patches of `tiles` on a GPU collect their points and are divided among warps. The
// expected results are those of one point per place with the sum of the values there.

namespace quadrat::test {

namespace {

template <typename T>
class crowded_patches : public backend_test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(crowded_patches, precisions);

/// Places in the box [-1.5, 2.2)^3, the first near its corner or a face; none where two polynomials of a window meet,
/// since their derivatives differ there by more than rounding.
template <typename T>
std::vector<vec<T, 3>> places_of(std::size_t count) {
  if (count == 2) return {{T(-1.49), T(-1.48), T(-1.47)}, {T(0.3), T(1.21), T(-0.77)}};
  std::vector<vec<T, 3>> places;
  for (std::size_t i = 0; i < count; ++i) {
    places.push_back({T(0.4), T(-1.49) + T(3.6) * static_cast<T>(i) / static_cast<T>(count), T(2.1)});
  }
  return places;
}

/// Values of the places: each is that of many points, in turn.
template <typename T>
std::vector<long double> sums_at(const std::vector<T>& values, std::size_t places, std::size_t components) {
  std::vector<long double> sums(places * components);
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[i / components % places * components + i % components] += static_cast<long double>(values[i]);
  }
  return sums;
}

/// What one point at each place gets, for all points.
reference::weighted_sums repeated(const reference::weighted_sums& one, std::size_t numbers, std::size_t count) {
  reference::weighted_sums all = one;
  all.value.resize(count * numbers);
  all.magnitude.resize(count * numbers);
  for (std::size_t i = 0; i < all.value.size(); ++i) {
    all.value[i] = one.value[i % one.value.size()];
    all.magnitude[i] = one.magnitude[i % one.value.size()];
  }
  return all;
}

template <typename T>
void expect_crowds(int width, std::size_t places, std::size_t components) {
  spread_case<T, 3> one = uniform_case<T, 3>(9, 0, width > 8 ? 21 : 44);
  one.components = components;
  one.points = places_of<T>(places);
  one.domain.periodic[0] = places > 1;
  one.options.clip = true;
  spread_case<T, 3> all = one;
  const std::size_t count = size_or(6000, 2500) / places * places;
  for (std::size_t i = places; i < count; ++i) all.points.push_back(one.points[i % places]);
  const auto window = width > 8 ? named_window<T>(window_shape::prolate, width) : bspline_window<T>(width);
  const spread_input<T, 3> input(all);
  const auto problem = problem_of(one, exact_window(window));
  auto at_places = reference::interpolate(problem, exactly(input.mesh), 1, components);
  const wanted_results wanted{reference::spread(problem, sums_at(input.values, places, components), 1, components),
                              repeated(at_places.values, components, count),
                              repeated(at_places.gradients, 3 * components, count)};
  for (const determinism level : {determinism::none, determinism::run_to_run}) {
    SCOPED_TRACE(message("width ", width, ", ", places, " places, ", components, " components"));
    const backend_context context = context_at(level);
    const auto found = run_method(context, all, input, "tiles", window);
    expect_agreement(found, wanted, 5 * spread_tolerance<T>);
    if (level == determinism::none) continue;
    EXPECT_TRUE(same_bits(run_method(context, all, input, "tiles", window).mesh, found.mesh));
  }
}

TYPED_TEST(crowded_patches, are_right_with_all_points_in_one_place_in_two_or_on_a_line) {
  for (const int width : {6, 9, 13, 16}) {
    expect_crowds<TypeParam>(width, 1, 1);
    expect_crowds<TypeParam>(width, 2, 2);
    expect_crowds<TypeParam>(width, 25, 1);
  }
}

}  // namespace

}  // namespace quadrat::test
