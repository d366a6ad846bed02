// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/visit_radii.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cells/every_list.hpp"
#include "cells/random_scene.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "reference/radius_neighbors.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

// Functors over the pairs of particles with radii, compared with brute force over all pairs.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct tick_radius_pair {
  std::size_t count;
  std::uint32_t* visits;
  T* squared;

  QUADRAT_HD void operator()(particle_id i, particle_id j, const vec<T, D>&, T squared_distance) const {
    atomic_add(visits + i * count + j, 1u);
    squared[i * count + j] = squared_distance;
  }
};

/// Changes its sign with the order of a pair.
struct radius_pair_tag {
  template <typename Separation, typename T>
  QUADRAT_HD int operator()(particle_id i, particle_id j, const Separation&, T) const {
    const int sum = 1 + static_cast<int>(i + j) * 3;
    return i < j ? sum : -sum;
  }
};

/// Calls the functor in a kernel of its own.
template <typename View, typename T, int D>
struct count_in_kernel {
  View view;
  points_view<T, D> points;
  pair_cutoffs<T> cutoffs;
  int* found;

  QUADRAT_HD void operator()(std::size_t i) const {
    int count = 0;
    for_each_neighbor(view, points, static_cast<particle_id>(i), cutoffs,
                      [&](particle_id, const vec<T, D>&, T) { ++count; });
    found[i] = count;
  }
};

/// A scene with radii over some octaves.
template <typename Method, typename T, int D>
struct scene_of_radii {
  using list_type = decltype(make_list<Method>(std::declval<backend_context>(), std::declval<scene<T, D>>()));

  scene_of_radii(const backend_context& where, const scene<T, D>& it, cutoff_rule chosen)
      : context(where),
        rule(chosen),
        stored(to_device(where, it.points)),
        points(points_of(stored.data(), it.points.size())),
        list(make_list<Method>(where, it)) {
    const T largest = rule == cutoff_rule::sum_of_radii ? it.cutoff / 2 : it.cutoff;
    std::vector<T> values;
    for (std::size_t i = 0; i < points.count; ++i) {
      values.push_back(i % 11 == 5 ? T(0) : largest * static_cast<T>(std::ldexp(1.0, -static_cast<int>(i % 4))));
    }
    radii = to_device(where, values);
    list.build(points);
    array<T, backend_context> table(where, points.count * points.count);
    for_each(where, "brute force", points.count,
             reference::radius_neighbors_of_each<T, D>{points, it.space.domain, radii.data(), rule, table.data()});
    wanted = to_host(where, table);
  }
  [[nodiscard]] particle_radii<T> given() const { return {radii.data(), rule}; }

  void check_pairs(neighbor_pairs pairs) const {
    const std::size_t n = points.count;
    auto visits = to_device(context, std::vector<std::uint32_t>(n * n, 0));
    auto squared = to_device(context, std::vector<T>(n * n, T(-1)));
    for_each_pair(context, list.view(), points, given(), pairs,
                  tick_radius_pair<T, D>{n, visits.data(), squared.data()});
    const auto times = to_host(context, visits);
    const auto got = to_host(context, squared);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const bool listed = wanted[i * n + j] >= T(0) && (pairs == neighbor_pairs::full || i < j);
        ASSERT_EQ(times[i * n + j], listed ? 1u : 0u) << "pair " << i << ", " << j;
        ASSERT_EQ(got[i * n + j], listed ? wanted[i * n + j] : T(-1)) << "pair " << i << ", " << j;
      }
    }
  }
  void check_sums() const {
    const std::size_t n = points.count;
    std::vector<int> sums(n, 0), counts(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (wanted[i * n + j] < T(0)) continue;
        sums[i] += radius_pair_tag{}(static_cast<particle_id>(i), static_cast<particle_id>(j), 0, 0);
        ++counts[i];
      }
    }
    array<int, backend_context> result(context, n);
    accumulate_neighbors(context, list.view(), points, given(), result.data(), radius_pair_tag{});
    EXPECT_EQ(to_host(context, result), sums);
    if (rule != cutoff_rule::own_radius) {
      accumulate_pairs(context, list.view(), points, given(), result.data(), radius_pair_tag{});
      EXPECT_EQ(to_host(context, result), sums);
    }
    using view_type = decltype(list.view());
    for_each(
        context, "count", n,
        count_in_kernel<view_type, T, D>{list.view(), points, make_pair_cutoffs(context, given(), n), result.data()});
    EXPECT_EQ(to_host(context, result), counts);
  }

  const backend_context& context;
  cutoff_rule rule;
  array<vec<T, D>, backend_context> stored;
  array<T, backend_context> radii;
  points_view<T, D> points;
  list_type list;
  std::vector<T> wanted;
};

template <typename Method, typename T, int D>
void check_radii(const backend_context& context, const scene<T, D>& made) {
  SCOPED_TRACE(describe(made));
  for (const cutoff_rule rule : {cutoff_rule::sum_of_radii, cutoff_rule::larger_radius, cutoff_rule::own_radius}) {
    const scene_of_radii<Method, T, D> it(context, made, rule);
    it.check_pairs(neighbor_pairs::full);
    if (rule != cutoff_rule::own_radius) it.check_pairs(neighbor_pairs::half);
    it.check_sums();
  }
}

using lists_for_radii = testing::Types<cell_methods::counting, cell_methods::sorted_morton, cell_methods::linked_packed,
                                       cell_methods::linked_tight>;

[[nodiscard]] scene<float, 3> crowd_of_radii(std::size_t count, bool periodic = true) {
  scene<float, 3> it{};
  it.cutoff = 0.25f;
  it.space = make_grid_for_cutoff(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, vec<bool, 3>::filled(periodic)), it.cutoff);
  std::mt19937_64 random(17);
  it.points.resize(count);
  for (auto& point : it.points) point = make_vec<float, 3>([&](int) { return random_unit<float>(random); });
  return it;
}

}  // namespace

template <typename Method>
class visit_radii_test : public backend_test {};
TYPED_TEST_SUITE(visit_radii_test, lists_for_radii, method_names);

TYPED_TEST(visit_radii_test, meets_the_pairs_of_the_reference) {
  const backend_context context;
  for (std::size_t seed = 0; seed < size_or(30, 4); ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    check_radii<TypeParam>(context, scene_maker<float, 3>(seed + 90'000).make());
    check_radii<TypeParam>(context, scene_maker<double, 2>(seed + 90'000).make());
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(visit_radii_test, meets_the_pairs_of_a_crowd_and_of_few) {
  const backend_context context;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, size_or(700, 100)}) {
    check_radii<TypeParam>(context, crowd_of_radii(count));
  }
}

class visit_radii_state : public backend_test {};

TEST_F(visit_radii_state, impossible_radii_are_named) {
  const backend_context context;
  const scene<float, 3> made = crowd_of_radii(300);
  scene_of_radii<cell_methods::counting, float, 3> it(context, made, cutoff_rule::sum_of_radii);
  array<int, backend_context> sums(context, 300);
  const auto run = [&](float radius, cutoff_rule rule) {
    auto values = to_host(context, it.radii);
    values[123] = values[200] = radius;
    it.radii = to_device(context, values);
    accumulate_neighbors(context, it.list.view(), it.points, {it.radii.data(), rule}, sums.data(), radius_pair_tag{});
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const float radius : {nan, infinity, -infinity, -0.125f}) {
    const std::string text = error_of<data_error>([&] { run(radius, cutoff_rule::own_radius); });
    expect_words(text, {"particle 123", "radius", "finite and not negative"});
  }
  // More than half of the periodic box, by the sum of two and by one.
  expect_words(error_of<argument_error>([&] { run(0.2501f, cutoff_rule::sum_of_radii); }), {"0.5002"});
  expect_words(error_of<argument_error>([&] { run(0.5001f, cutoff_rule::larger_radius); }), {"0.5001"});
  expect_words(error_of<argument_error>([&] { run(0.1f, cutoff_rule::uniform); }), {"rule"});
}

TEST_F(visit_radii_state, pairs_by_own_radius_are_not_met_once) {
  const backend_context context;
  const scene<float, 3> made = crowd_of_radii(10);
  const scene_of_radii<cell_methods::counting, float, 3> it(context, made, cutoff_rule::own_radius);
  array<int, backend_context> sums(context, 10);
  const auto run = [&] {
    accumulate_pairs(context, it.list.view(), it.points, it.given(), sums.data(), radius_pair_tag{});
  };
  expect_words(error_of<argument_error>(run), {"own_radius", "full"});
}

TEST_F(visit_radii_state, radii_of_zero_have_no_pairs) {
  const backend_context context;
  const scene<float, 3> made = crowd_of_radii(50);
  scene_of_radii<cell_methods::counting, float, 3> it(context, made, cutoff_rule::sum_of_radii);
  it.radii = to_device(context, std::vector<float>(50, 0.0f));
  auto sums = to_device(context, std::vector<int>(50, 7));
  accumulate_neighbors(context, it.list.view(), it.points, it.given(), sums.data(), radius_pair_tag{});
  EXPECT_EQ(to_host(context, sums), std::vector<int>(50, 0));
  accumulate_pairs(context, it.list.view(), it.points, it.given(), sums.data(), radius_pair_tag{});
  EXPECT_EQ(to_host(context, sums), std::vector<int>(50, 0));
}

}  // namespace quadrat::test
