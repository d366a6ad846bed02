// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "cells/every_list.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighborhood.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// If points may lie outside the box, none is lost: neither on a walk from inside nor on one from outside.

namespace quadrat::test {

namespace {

template <typename Method>
class outside_test : public backend_test {};
TYPED_TEST_SUITE(outside_test, every_cell_list, method_names);

template <typename View>
struct count_neighbors {
  View view;
  points_view<float, 3> points;
  float cutoff;
  std::uint32_t* counts;
  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    for_each_neighbor(view, points, static_cast<particle_id>(i), cutoff,
                      [&](particle_id, const vec<float, 3>&, float) { ++count; });
    counts[i] = count;
  }
};

constexpr float cutoff = 0.3f;

/// Two thirds of them outside the unit cube, some far.
[[nodiscard]] std::vector<vec<float, 3>> scattered_points() {
  std::mt19937_64 generator(3);
  std::vector<vec<float, 3>> points(300);
  for (auto& point : points) {
    for (int axis = 0; axis < 3; ++axis) point[axis] = 1.5f * random_unit<float>(generator) - 0.25f;
  }
  points[7] = {50, 0.5f, 0.5f};
  points[8] = {50.1f, 0.5f, 0.5f};
  return points;
}

template <typename Method>
[[nodiscard]] auto make_tolerant_list(const backend_context& context) {
  const auto domain = make_box<float, 3>({0, 0, 0}, {1, 1, 1}, vec<bool, 3>::filled(false));
  cell_list_options<float> options;
  options.radius = cutoff / 2;
  options.fixed_capacity = 400;
  options.accept_outside = true;
  return typename Method::template type<backend_context, float, 3>(context, make_grid_for_cutoff(domain, cutoff / 2),
                                                                   options);
}

TYPED_TEST(outside_test, points_are_found_from_everywhere) {
  if constexpr (!is_tight<TypeParam>) {
    const backend_context context;
    const auto points = scattered_points();
    const auto stored = to_device(context, points);
    const auto view = points_of(stored.data(), points.size());
    auto list = make_tolerant_list<TypeParam>(context);
    list.build(view);
    array<std::uint32_t, backend_context> counts(context, points.size());
    using view_type = typename decltype(list)::view_type;
    for_each(context, "count", points.size(), count_neighbors<view_type>{list.view(), view, cutoff, counts.data()});
    const auto found = to_host(context, counts);
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::uint32_t expected = 0;
      for (std::size_t j = 0; j < points.size(); ++j) {
        expected += i != j && squared_norm(points[j] - points[i]) < cutoff * cutoff ? 1u : 0u;
      }
      EXPECT_EQ(found[i], expected) << i;
    }
  }
}

TYPED_TEST(outside_test, what_is_not_finite_is_still_a_fault) {
  if constexpr (!is_tight<TypeParam>) {
    const backend_context context;
    auto points = scattered_points();
    points[11][1] = std::numeric_limits<float>::infinity();
    const auto stored = to_device(context, points);
    auto list = make_tolerant_list<TypeParam>(context);
    EXPECT_THROW(list.build(points_of(stored.data(), points.size())), data_error);
  }
}

}  // namespace

}  // namespace quadrat::test
