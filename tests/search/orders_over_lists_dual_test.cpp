// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "cells/every_list.hpp"
#include "cells/random_scene.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighborhood.hpp"
#include "reference/neighbors.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// Every order over every cell list that allows it gives the pairs of the brute-force reference, each once, with the
// same bits.

namespace quadrat::test {

namespace {

/// Row i of two tables: how often j was visited around point i, and its squared distance.
template <typename Order, typename View>
struct tabulate_by_order {
  using T = typename View::value_type;
  static constexpr int D = View::dimension;
  View view;
  points_view<T, D> points;
  T cutoff;
  bool of_point;  ///< searches around any point, where a particle is its own neighbor
  std::uint32_t* visits;
  T* squared;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = i * points.count;
    for (std::size_t j = 0; j < points.count; ++j) {
      visits[row + j] = 0;
      squared[row + j] = T(-1);
    }
    const auto visit = [&](particle_id j, const vec<T, D>& separation, T squared_distance) {
      if (of_point && j == i) return;
      visits[row + j] += squared_norm(separation) == squared_distance ? 1u : 100u;
      squared[row + j] = squared_distance;
    };
    if (of_point) {
      for_each_neighbor_of_point<Order>(view, points, points[i], cutoff, visit);
    } else {
      for_each_neighbor<Order>(view, points, static_cast<particle_id>(i), cutoff, visit);
    }
  }
};

/// The table of the reference, and the results of the orders over any cell list.
template <typename T, int D>
class comparison {
 public:
  comparison(const backend_context& context, const scene<T, D>& it)
      : context_(context),
        it_(it),
        stored_(to_device(context, it.points)),
        points_(points_of(stored_.data(), it.points.size())) {
    const std::size_t n = it.points.size();
    array<T, backend_context> expected(context, n * n);
    for_each(context, "brute force", n,
             reference::neighbors_of_each<T, D>{points_, it.space.domain, it.cutoff, expected.data()});
    wanted_ = to_host(context, expected);
  }

  template <typename Method, typename Order>
  void check() {
    SCOPED_TRACE(message(Method::name, ", ", Order::name, ", ", describe(it_)));
    auto list = make_list<Method>(context_, it_);
    list.build(points_);
    using view_type = typename decltype(list)::view_type;
    const std::size_t n = it_.points.size();
    array<T, backend_context> squared(context_, n * n);
    array<std::uint32_t, backend_context> visits(context_, n * n);
    for_each(context_, "walk", n,
             tabulate_by_order<Order, view_type>{list.view(), points_, it_.cutoff, n % 2 == 0, visits.data(),
                                                 squared.data()});
    ASSERT_EQ(to_host(context_, squared), wanted_);
    const auto times = to_host(context_, visits);
    ASSERT_TRUE(std::ranges::all_of(times, [](std::uint32_t count) { return count <= 1; }));
  }

 private:
  const backend_context& context_;
  const scene<T, D>& it_;
  array<vec<T, D>, backend_context> stored_;
  points_view<T, D> points_;
  std::vector<T> wanted_;
};

/// A box with these numbers of cells of edge `cutoff` (the last slightly larger) and random points, many of them on
/// faces.
template <typename T, int D>
[[nodiscard]] scene<T, D> crowded(const std::array<int, 3>& cells, int walls, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  scene<T, D> result{};
  result.cutoff = T(0.5);
  box<T, D> domain{};
  vec<int, D> counts{};
  for (int axis = 0; axis < D; ++axis) {
    const bool periodic = ((walls >> axis) & 1) != 0;
    counts[axis] =
        periodic ? std::max(2, cells[static_cast<std::size_t>(axis)]) : cells[static_cast<std::size_t>(axis)];
    domain.lower[axis] = T(-0.25);
    domain.length[axis] = result.cutoff * static_cast<T>(counts[axis]) * (axis == D - 1 ? T(1.01) : T(1));
    domain.periodic[axis] = periodic;
  }
  result.space = make_grid(make_box_from_lengths(domain.lower, domain.length, domain.periodic), counts);
  result.points.resize(90 + seed % 2);
  for (auto& point : result.points) {
    point = make_vec<T, D>([&](int axis) {
      const T x = domain.length[axis] * random_unit<T>(random);
      const T on_face = std::floor(x / result.cutoff) * result.cutoff;
      return domain.lower[axis] + (random() % 3 == 0 ? on_face : x);
    });
  }
  return result;
}

}  // namespace

template <typename Method>
class orders_over_list_test : public backend_test {
 protected:
  /// Calls f(Order) for the orders that the list allows; strips, hybrid and trimmed in all shapes, the others in two
  /// (their code is the same for every list).
  template <typename T, int D>
  static void check_all(comparison<T, D>& it) {
    using view_type = typename Method::template type<backend_context, T, D>::view_type;
    search_order_list::for_each([&](auto order) {
      using order_type = decltype(order);
      constexpr bool seldom = std::is_same_v<T, float> == (D == 2);
      if constexpr (walkable<order_type, view_type> && (order_type::by_strips || !seldom)) {
        if (!testing::Test::HasFatalFailure()) it.template check<Method, order_type>();
      }
    });
  }
};
TYPED_TEST_SUITE(orders_over_list_test, every_cell_list, method_names);

TYPED_TEST(orders_over_list_test, give_the_neighbors_of_the_reference) {
  const backend_context context;
  for_each_shape([&]<typename T, int D>() {
    for (std::size_t seed = 0; seed < size_or(120, 6); ++seed) {
      SCOPED_TRACE(message("seed ", seed));
      scene<T, D> it = scene_maker<T, D>(seed + 60'000).make();
      comparison<T, D> pairs(context, it);
      this->check_all(pairs);
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(orders_over_list_test, give_the_neighbors_that_rounding_decides) {
  const backend_context context;
  for_each_shape([&]<typename T, int D>() {
    for (std::size_t seed = 0; seed < size_or(40, 3); ++seed) {
      SCOPED_TRACE(message("seed ", seed));
      scene<T, D> it = scene_maker<T, D>(seed + 70'000).make_line_scene(60);
      comparison<T, D> pairs(context, it);
      this->check_all(pairs);
      if (this->HasFatalFailure()) return;
    }
  });
}

// 1, 2, 3, 4, 5 and 7 cells along each axis, with open axes and across the seam.
TYPED_TEST(orders_over_list_test, walk_boxes_of_few_cells) {
  const backend_context context;
  constexpr std::array<int, 6> counts{1, 2, 3, 4, 5, 7};
  std::uint64_t seed = 0;
  for (const int walls : {0, 7, 1, 6, 5}) {
    if (small_sizes() && walls != 6) continue;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const std::array<int, 3> cells{counts[k], counts[(k + 1 + seed) % 6], counts[(2 * k + seed) % 6]};
      scene<float, 3> solid = crowded<float, 3>(cells, walls, ++seed);
      comparison<float, 3> solid_pairs(context, solid);
      this->check_all(solid_pairs);
      scene<double, 2> flat = crowded<double, 2>(cells, walls, seed);
      comparison<double, 2> flat_pairs(context, flat);
      this->check_all(flat_pairs);
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace quadrat::test
