// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/visit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "cells/every_list.hpp"
#include "cells/random_scene.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "reference/neighbors.hpp"
#include "support/backend.hpp"

// Functors over all pairs: the calls, their number and arguments, and the sums, compared with the table of all pairs of
// the brute-force reference.

namespace quadrat::test {

namespace {

/// Counts the calls for (i, j) in a table, and keeps the squared distance.
template <typename T, int D>
struct tick_pair {
  std::size_t count;
  std::uint32_t* visits;
  T* squared;

  QUADRAT_HD void operator()(particle_id i, particle_id j, const vec<T, D>& separation, T squared_distance) const {
    const std::size_t place = i * count + j;
    // A wrong separation shows as an impossible count.
    atomic_add(visits + place, squared_norm(separation) == squared_distance ? 1u : 100u);
    squared[place] = squared_distance;
  }
};

/// An integer that differs only in sign between a pair and its mirror image.
struct signed_tag {
  template <typename Separation, typename T>
  QUADRAT_HD int operator()(particle_id i, particle_id j, const Separation&, T) const {
    const auto low = static_cast<int>(i < j ? i : j);
    const auto high = static_cast<int>(i < j ? j : i);
    return (1 + low * 7 + high * 13) * (i < j ? 1 : -1);
  }
};

/// A soft repulsion.
template <typename T, int D>
struct repulsion {
  T cutoff;
  QUADRAT_HD vec<T, D> operator()(particle_id, particle_id, const vec<T, D>& separation, T squared_distance) const {
    return separation * (squared_distance / (cutoff * cutoff) - T(1));
  }
};

/// A scene on the device with a cell list, and the table of its pairs.
template <typename Method, typename T, int D>
struct visited_scene {
  using list_type = decltype(make_list<Method>(std::declval<backend_context>(), std::declval<scene<T, D>>()));

  visited_scene(const backend_context& context, const scene<T, D>& it)
      : scene_(it),
        stored(to_device(context, it.points)),
        points(points_of(stored.data(), it.points.size())),
        list(make_list<Method>(context, it)) {
    list.build(points);
    const std::size_t n = points.count;
    array<T, backend_context> table(context, n * n);
    for_each(context, "brute force", n,
             reference::neighbors_of_each<T, D>{points, it.space.domain, it.cutoff, table.data()});
    wanted = to_host(context, table);
  }
  [[nodiscard]] bool neighbors(std::size_t i, std::size_t j) const { return wanted[i * points.count + j] >= T(0); }

  const scene<T, D>& scene_;
  array<vec<T, D>, backend_context> stored;
  points_view<T, D> points;
  list_type list;
  std::vector<T> wanted;
};

template <typename Order, typename Method, typename T, int D>
void check_pairs(const backend_context& context, const visited_scene<Method, T, D>& it, neighbor_pairs pairs) {
  const std::size_t n = it.points.count;
  auto visits = to_device(context, std::vector<std::uint32_t>(n * n, 0));
  auto squared = to_device(context, std::vector<T>(n * n, T(-1)));
  for_each_pair<Order>(context, it.list.view(), it.points, it.scene_.cutoff, pairs,
                       tick_pair<T, D>{n, visits.data(), squared.data()});
  const auto times = to_host(context, visits);
  const auto got = to_host(context, squared);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const bool wanted = it.neighbors(i, j) && (pairs == neighbor_pairs::full || i < j);
      ASSERT_EQ(times[i * n + j], wanted ? 1u : 0u) << "pair " << i << ", " << j;
      ASSERT_EQ(got[i * n + j], wanted ? it.wanted[i * n + j] : T(-1)) << "pair " << i << ", " << j;
    }
  }
}

template <typename Order, typename Method, typename T, int D>
void check_integer_sums(const backend_context& context, const visited_scene<Method, T, D>& it) {
  const std::size_t n = it.points.count;
  std::vector<int> wanted(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (!it.neighbors(i, j)) continue;
      wanted[i] += signed_tag{}(static_cast<particle_id>(i), static_cast<particle_id>(j), 0, 0);
    }
  }
  array<int, backend_context> sums(context, n);
  accumulate_neighbors<Order>(context, it.list.view(), it.points, it.scene_.cutoff, sums.data(), signed_tag{});
  EXPECT_EQ(to_host(context, sums), wanted);
  accumulate_pairs<Order>(context, it.list.view(), it.points, it.scene_.cutoff, sums.data(), signed_tag{});
  EXPECT_EQ(to_host(context, sums), wanted);
}

template <typename Method, typename T, int D>
void check_scene(const backend_context& context, const scene<T, D>& made) {
  SCOPED_TRACE(describe(made));
  using order = search_orders::natural;
  const visited_scene<Method, T, D> it(context, made);
  check_pairs<order>(context, it, neighbor_pairs::full);
  check_pairs<order>(context, it, neighbor_pairs::half);
  check_integer_sums<order>(context, it);
}

using some_lists =
    testing::Types<cell_methods::counting, cell_methods::sorted_morton, cell_methods::linked_loose_low_vertex,
                   cell_methods::linked_packed, cell_methods::linked_tight>;

/// A thousand points, several per cell.
[[nodiscard]] scene<float, 3> crowd() {
  scene<float, 3> it{};
  it.cutoff = 0.25f;
  it.space = make_grid_for_cutoff(make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, false}), it.cutoff);
  std::mt19937_64 random(17);
  it.points.resize(size_or(1000, 100));
  for (auto& point : it.points) point = make_vec<float, 3>([&](int) { return random_unit<float>(random); });
  return it;
}

}  // namespace

template <typename Method>
class visit_test : public backend_test {};
TYPED_TEST_SUITE(visit_test, some_lists, method_names);

TYPED_TEST(visit_test, meets_the_pairs_of_the_reference) {
  const backend_context context;
  const auto check = [&]<typename T, int D>() {
    for (std::size_t seed = 0; seed < size_or(60, 5); ++seed) {
      SCOPED_TRACE(message("seed ", seed));
      check_scene<TypeParam>(context, scene_maker<T, D>(seed + 80'000).make());
      if (this->HasFatalFailure()) return;
    }
  };
  check.template operator()<float, 3>();
  check.template operator()<double, 2>();
}

TYPED_TEST(visit_test, meets_the_pairs_of_a_crowd) {
  for (const backend_context& context : all_contexts()) check_scene<TypeParam>(context, crowd());
}

class visit_orders_test : public backend_test {};

TEST_F(visit_orders_test, every_order_meets_the_same_pairs) {
  const backend_context context;
  const scene<float, 3> made = crowd();
  const visited_scene<cell_methods::counting, float, 3> it(context, made);
  search_order_list::for_each([&](auto order) {
    SCOPED_TRACE(order.name);
    check_pairs<decltype(order)>(context, it, neighbor_pairs::half);
    check_integer_sums<decltype(order)>(context, it);
  });
}

TEST_F(visit_orders_test, forces_obey_newtons_third_law) {
  const backend_context context;
  const scene<float, 3> made = crowd();
  const visited_scene<cell_methods::sorted, float, 3> it(context, made);
  const std::size_t n = it.points.count;
  array<vec<float, 3>, backend_context> both(context, n), once(context, n);
  const repulsion<float, 3> law{made.cutoff};
  accumulate_neighbors(context, it.list.view(), it.points, made.cutoff, both.data(), law);
  accumulate_pairs(context, it.list.view(), it.points, made.cutoff, once.data(), law);
  const auto each = to_host(context, both);
  const auto shared = to_host(context, once);
  vec<float, 3> total{};
  for (std::size_t i = 0; i < n; ++i) {
    total += shared[i];
    for (int axis = 0; axis < 3; ++axis) ASSERT_NEAR(each[i][axis], shared[i][axis], 1e-4f) << "particle " << i;
  }
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(total[axis], 0.0f, 1e-2f);
}

TEST_F(visit_orders_test, sums_are_the_same_bits_in_every_run) {
  const scene<float, 3> made = crowd();
  std::vector<vec<float, 3>> first;
  for (const backend_context& context : all_contexts()) {
    for (int run = 0; run < 3; ++run) {
      const visited_scene<cell_methods::sorted, float, 3> it(context, made);
      array<vec<float, 3>, backend_context> sums(context, it.points.count);
      accumulate_neighbors(context, it.list.view(), it.points, made.cutoff, sums.data(),
                           repulsion<float, 3>{made.cutoff});
      const auto got = to_host(context, sums);
      if (first.empty()) first = got;
      ASSERT_EQ(got, first);
    }
  }
}

TEST_F(visit_orders_test, refuses_a_cutoff_that_does_not_fit) {
  const backend_context context;
  const scene<float, 3> made = crowd();
  const visited_scene<cell_methods::linked_tight, float, 3> it(context, made);
  array<int, backend_context> sums(context, it.points.count);
  for (const float cutoff : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(), 0.5001f, 0.2501f}) {
    EXPECT_THROW(accumulate_neighbors(context, it.list.view(), it.points, cutoff, sums.data(), signed_tag{}),
                 argument_error)
        << cutoff;
  }
}

}  // namespace quadrat::test
