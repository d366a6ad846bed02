// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "cells/every_list.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/visit.hpp"
#include "quadrat/search/visit_radii.hpp"
#include "reference/neighbors.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Visitors in boxes much larger than their points, for which cell lists are folded: the pairs of brute force, and as
// many candidates and as much memory as in a tight box.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct wide_scene {
  box<T, D> domain;
  T cutoff;
  std::vector<vec<T, D>> points;
};

/// Heaps in a box of up to 2^14 cutoffs: at random, on its faces, and powers of two of cutoffs apart.
template <typename T, int D>
[[nodiscard]] wide_scene<T, D> heaps_in_wide_box(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t bound) { return random() % bound; };
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  wide_scene<T, D> it;
  it.cutoff = below(2) == 0 ? T(1) : between(0.5, 2);
  vec<T, D> lower{}, upper{};
  vec<bool, D> periodic{};
  for (int axis = 0; axis < D; ++axis) {
    const double wide = static_cast<double>(std::size_t{1} << (D == 2 ? 7 : 5) << below(8));
    lower[axis] = below(2) == 0 ? T(0) : between(-wide, 0);
    upper[axis] = lower[axis] + it.cutoff * (below(2) == 0 ? static_cast<T>(wide) : between(wide / 2, wide));
    periodic[axis] = below(2) == 0;
  }
  it.domain = make_box(lower, upper, periodic);
  while (it.points.size() < 100) {
    vec<T, D> center{};
    for (int axis = 0; axis < D; ++axis) {
      const T length = it.domain.length[axis], power = it.cutoff * static_cast<T>(std::size_t{1} << below(10));
      const T places[] = {T(0), length, length * random_unit<T>(random), std::floor(length / power / 2) * power};
      center[axis] = lower[axis] + places[below(4)];
    }
    for (std::size_t k = below(4) == 0 ? 1 : 5 + below(20); k > 0; --k) {
      vec<T, D> point = center;
      for (int axis = 0; axis < D; ++axis) {
        point[axis] += it.cutoff * between(-1.5, 1.5);
        if (below(3) == 0) point[axis] = center[axis];
        if (!periodic[axis]) point[axis] = std::clamp(point[axis], lower[axis], it.domain.upper(axis));
      }
      it.points.push_back(point);
    }
  }
  return it;
}

/// Counts the calls for each pair in a table.
template <typename T, int D>
struct tick_folded_pair {
  std::size_t count;
  std::uint32_t* visits;
  QUADRAT_HD void operator()(particle_id i, particle_id j, const vec<T, D>&, T) const {
    atomic_add(visits + i * count + j, 1u);
  }
};

template <typename Order, typename Method, typename T, int D>
void check_pairs_of(const backend_context& context, const wide_scene<T, D>& it, T part, bool& is_folded) {
  const std::size_t n = it.points.size();
  const auto stored = to_device(context, it.points);
  const auto points = points_of(stored.data(), n);
  auto list = make_cells<Method>(context, it.domain, it.cutoff, {.fixed_capacity = static_cast<std::uint32_t>(n)});
  list.build(points);
  is_folded = is_folded || list.space().folded;
  const T cutoff = part * it.cutoff;
  array<T, backend_context> table(context, n * n);
  for_each(context, "brute force", n, reference::neighbors_of_each<T, D>{points, it.domain, cutoff, table.data()});
  const std::vector<T> wanted = to_host(context, table);
  auto visits = to_device(context, std::vector<std::uint32_t>(n * n, 0));
  for_each_pair<Order>(context, list.view(), points, cutoff, neighbor_pairs::full,
                       tick_folded_pair<T, D>{n, visits.data()});
  const auto times = to_host(context, visits);
  for (std::size_t k = 0; k < n * n; ++k) {
    ASSERT_EQ(times[k], wanted[k] >= T(0) ? 1u : 0u) << Order::name << ", pair " << k / n << ", " << k % n;
  }
}

/// All particles that a walk looks at.
template <typename View>
struct count_candidates_of_folded {
  using T = typename View::value_type;
  View view;
  points_view<T, View::dimension> points;
  T cutoff;
  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    std::uint64_t count = 0;
    if constexpr (tight_cell_list<View>) {
      for_each_tight_candidate(view, points[i], [&](particle_id) { ++count; });
    } else {
      for_each_candidate(view, points[i], cutoff, [&](particle_id) { ++count; });
    }
    return count;
  }
};

struct one_for_each_folded_pair {
  QUADRAT_HD std::uint32_t operator()(particle_id, particle_id, const vec<float, 3>&, float) const { return 1; }
};

template <typename Method>
inline constexpr bool is_hashed = std::is_same_v<Method, cell_methods::hashed>;

struct folded_cost {
  double candidates;
  std::size_t bytes;
};

template <typename Method>
[[nodiscard]] folded_cost cost_in_box(const backend_context& context, const std::vector<vec<float, 3>>& values,
                                      float side, bool periodic) {
  const auto domain = make_box<float, 3>({}, vec<float, 3>::filled(side), vec<bool, 3>::filled(periodic));
  auto list = make_cells<Method>(context, domain, 1.0f, {.fixed_capacity = 64});
  const auto stored = to_device(context, values);
  const auto points = points_of(stored.data(), values.size());
  list.build(points);
  using view_type = decltype(list.view());
  workspace<backend_context> scratch;
  const std::uint64_t sum =
      reduce(context, "candidates", values.size(), count_candidates_of_folded<view_type>{list.view(), points, 1.0f},
             plus_operation{}, std::uint64_t{0}, scratch);
  return {static_cast<double>(sum), list.bytes()};
}

}  // namespace

template <typename Method>
class visit_folded : public backend_test {};
TYPED_TEST_SUITE(visit_folded, every_cell_list, method_names);

TYPED_TEST(visit_folded, visits_the_pairs_of_brute_force) {
  const backend_context context;
  bool is_folded = false;
  for (std::uint64_t seed = 0; seed < size_or(24, 4); ++seed) {
    for_each_shape([&]<typename T, int D>() {
      SCOPED_TRACE(message(D, "D, seed ", seed, sizeof(T) == 4 ? ", float" : ", double"));
      const auto it = heaps_in_wide_box<T, D>(seed);
      check_pairs_of<search_orders::natural, TypeParam>(context, it, T(1), is_folded);
      if constexpr (!is_tight<TypeParam>) {
        // Wider walks than the list was made for meet each pair once, too.
        check_pairs_of<search_orders::natural, TypeParam>(context, it, T(0.7 + static_cast<double>(seed % 8)),
                                                          is_folded);
        check_pairs_of<search_orders::modular, TypeParam>(context, it, T(1), is_folded);
      }
      if constexpr (std::is_same_v<TypeParam, cell_methods::counting>) {
        check_pairs_of<search_orders::hybrid, TypeParam>(context, it, T(1), is_folded);
        check_pairs_of<search_orders::trimmed, TypeParam>(context, it, T(1), is_folded);
        check_pairs_of<search_orders::trimmed, TypeParam>(context, it, T(3), is_folded);
      }
    });
    if (this->HasFatalFailure()) return;
  }
  EXPECT_EQ(is_folded, !is_hashed<TypeParam>);
}

TYPED_TEST(visit_folded, candidates_and_memory_follow_the_points) {
  const backend_context context;
  std::vector<vec<float, 3>> blob(8000);
  std::mt19937_64 random(3);
  for (auto& point : blob) {
    for (int axis = 0; axis < 3; ++axis) point[axis] = 13 * random_unit<float>(random);
  }
  const folded_cost tight = cost_in_box<TypeParam>(context, blob, 13, false);
  const auto expect_same_cost = [&](const std::vector<vec<float, 3>>& points, float side, bool periodic) {
    const folded_cost wide = cost_in_box<TypeParam>(context, points, side, periodic);
    EXPECT_LE(wide.candidates, 1.3 * tight.candidates);
    // Besides the points: 4 cells for each, of at most 64 slots; curves fill cubes.
    EXPECT_LE(wide.bytes, tight.bytes + 8000 * std::size_t{4 * 4 * 65});
  };
  for (const float side : {400.0f, 13000.0f}) {
    for (const bool periodic : {false, true}) {
      SCOPED_TRACE(message("side ", side, periodic ? ", periodic" : ""));
      expect_same_cost(blob, side, periodic);
      auto stray = blob;
      stray[17] = vec<float, 3>::filled(side * 0.99f);
      expect_same_cost(stray, side, periodic);
    }
  }
}

TYPED_TEST(visit_folded, lists_refuse_a_grid_that_is_folded_already) {
  const backend_context context;
  const auto domain = make_box<double, 2>({}, {1e4, 1e4}, {});
  const auto whole = make_grid_for_cutoff(domain, 1.0, any_number_of_cells);
  const cell_list_options<double> options{.radius = 0.5, .fold_reach = 1};
  EXPECT_TRUE(is_hashed<TypeParam> || make_cells<TypeParam>(context, whole, options).space().folded);
  expect_words(error_of<argument_error>([&] {
                 static_cast<void>(make_cells<TypeParam>(context, folded(whole, {10, 1.0}), options));
               }),
               {"the grid is folded", "fold_reach"});
}

/// A list that was folded for few points must serve many, and the other way around.
TYPED_TEST(visit_folded, lists_follow_the_number_of_points_from_build_to_build) {
  const backend_context context;
  const auto domain = make_box<float, 3>({}, {40, 40, 40}, {false, true, false});
  auto list = make_cells<TypeParam>(context, domain, 1.0f, {.fixed_capacity = 64});
  std::mt19937_64 random(5);
  for (const std::size_t n : {100, 20'000, 3000, 0, 100}) {
    SCOPED_TRACE(n);
    std::vector<vec<float, 3>> values(n);
    for (auto& value : values) {
      for (int axis = 0; axis < 3; ++axis) value[axis] = 40 * random_unit<float>(random);
    }
    const auto stored = to_device(context, values);
    const auto points = points_of(stored.data(), n);
    list.build(points);
    auto counts = to_device(context, std::vector<std::uint32_t>(n, 77));
    accumulate_neighbors(context, list.view(), points, 1.0f, counts.data(), one_for_each_folded_pair{});
    const auto got = to_host(context, counts);
    for (std::size_t i = 0; i < n; i += 1 + n / 50) {
      std::uint32_t wanted = 0;
      for (std::size_t j = 0; j < n; ++j) {
        wanted += i != j && squared_norm(domain.separation(values[i], values[j])) < 1.0f ? 1 : 0;
      }
      ASSERT_EQ(got[i], wanted) << i;
    }
  }
}

}  // namespace quadrat::test
