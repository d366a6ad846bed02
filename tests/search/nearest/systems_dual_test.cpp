// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "search/nearest_support.hpp"
#include "support/counting_memory.hpp"

// Many systems in one search, against one search for each.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct placed_points {
  std::vector<vec<T, D>> points;
  std::vector<std::uint32_t> systems;

  /// Those of one system, with their places.
  [[nodiscard]] std::vector<vec<T, D>> of(std::uint32_t system, std::vector<std::size_t>& places) const {
    std::vector<vec<T, D>> own;
    places.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (systems[i] != system) continue;
      own.push_back(points[i]);
      places.push_back(i);
    }
    return own;
  }
};

template <typename T, int D>
struct placed_on_device {
  array<vec<T, D>, backend_context> points;
  array<std::uint32_t, backend_context> systems;

  placed_on_device(const backend_context& context, const placed_points<T, D>& placed)
      : points(to_device(context, placed.points)), systems(to_device(context, placed.systems)) {}
};

template <typename T, int D>
struct nearest_batch {
  nearest_options<T> options;
  std::vector<lattice<T, D>> boxes;
  placed_points<T, D> points, queries;
};

/// Boxes from shorter than the cutoff to much longer, open, periodic, mixed and tilted; points in any order, some
/// outside, some equal.
template <typename T, int D>
[[nodiscard]] nearest_batch<T, D> random_nearest_batch(std::size_t systems, std::uint64_t seed,
                                                       std::size_t mean_points = 20) {
  std::mt19937_64 random(seed);
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  nearest_batch<T, D> batch;
  batch.options = {1 + random() % 20, between(0.3, 1), random() % 2 == 0, random() % 2 == 0};
  std::vector<std::size_t> weights;
  for (std::size_t s = 0; s < systems; ++s) {
    vec<vec<T, D>, D> vectors{};
    vec<bool, D> periodic{};
    for (int axis = 0; axis < D; ++axis) {
      vectors[axis][axis] = between(0.6, 3);
      periodic[axis] = random() % 2 == 0;
      for (int k = 0; k < axis && s % 3 == 2; ++k) vectors[axis][k] = vectors[k][k] * between(-0.3, 0.3);
      // An open vector must be perpendicular to the periodic ones.
      for (int k = 0; k < axis; ++k) {
        if (periodic[k] != periodic[axis]) vectors[axis][k] = T(0);
      }
    }
    batch.boxes.push_back(make_lattice(vec<T, D>::filled(between(-3, 3)), vectors, periodic));
    weights.push_back(random() % 3 == 0 ? 0 : 1 + random() % 50);
  }
  weights.front() = std::max<std::size_t>(weights.front(), 1);
  std::discrete_distribution<std::uint32_t> some_system(weights.begin(), weights.end());
  for (auto* const placed : {&batch.points, &batch.queries}) {
    for (std::size_t i = 0; i < mean_points * systems; ++i) {
      const std::uint32_t s = some_system(random);
      vec<T, D> point = batch.boxes[s].origin;
      for (int axis = 0; axis < D; ++axis) point += between(-0.5, 1.5) * batch.boxes[s].vectors[axis];
      placed->points.push_back(i % 7 == 6 && placed->systems.back() == s ? placed->points.back() : point);
      placed->systems.push_back(s);
    }
  }
  return batch;
}

/// The rows of a batch are those of each system alone.
template <typename T, int D>
void expect_systems(const backend_context& context, const nearest_batch<T, D>& batch, const nearest_rows<T, D>& rows,
                    bool with_queries) {
  const auto& asked = with_queries ? batch.queries : batch.points;
  ASSERT_EQ(rows.neighbors.size(), asked.points.size() * batch.options.k);
  for (std::uint32_t s = 0; s < batch.boxes.size(); ++s) {
    std::vector<std::size_t> places, rows_of_system;
    nearest_problem<T, D> alone{batch.boxes[s], batch.options, batch.points.of(s, places), {}, with_queries};
    alone.queries = asked.of(s, rows_of_system);
    const auto wanted = find_nearest(context, alone);
    for (std::size_t i = 0; i < rows_of_system.size(); ++i) {
      for (std::size_t place = 0; place < rows.k; ++place) {
        const std::size_t found = rows_of_system[i] * rows.k + place, there = i * rows.k + place;
        const bool none = wanted.neighbors[there] == no_particle;
#if QUADRAT_BACKEND_CPU
        ASSERT_EQ(rows.squared[found], wanted.squared[there]) << "system " << s << ", row " << i;
        ASSERT_EQ(rows.neighbors[found], none ? no_particle : places[wanted.neighbors[there]]);
        if (batch.options.shifts) {
          ASSERT_EQ(rows.shifts[found], wanted.shifts[there]);
        }
#else
        ASSERT_EQ(rows.neighbors[found] == no_particle, none) << "system " << s << ", row " << i;
        if (none) continue;
        ASSERT_EQ(batch.points.systems[rows.neighbors[found]], s);
        ASSERT_NEAR(rows.squared[found], wanted.squared[there], 512 * std::numeric_limits<T>::epsilon());
#endif
      }
    }
  }
}

}  // namespace

template <typename Shape>
class nearest_of_systems : public backend_test {
 protected:
  const backend_context context;
};
template <typename Precision, int Dimension>
struct nearest_systems_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using nearest_systems_shapes = testing::Types<nearest_systems_shape<float, 2>, nearest_systems_shape<float, 3>,
                                              nearest_systems_shape<double, 2>, nearest_systems_shape<double, 3>>;
TYPED_TEST_SUITE(nearest_of_systems, nearest_systems_shapes);

TYPED_TEST(nearest_of_systems, are_those_of_each_system_alone_also_without_waiting) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  for (const std::size_t systems : {1u, 2u, 30u}) {
    for (std::uint64_t seed = 1; seed < size_or(13, 5); ++seed) {
      SCOPED_TRACE(testing::Message() << systems << " systems, seed " << seed);
      auto batch = random_nearest_batch<T, D>(systems, seed * systems);
      if (systems == 1) batch.points.systems.assign(batch.points.systems.size(), 0);
      const placed_on_device<T, D> points(this->context, batch.points), queries(this->context, batch.queries);
      auto nearest = make_nearest_neighbors(this->context, batch.boxes, batch.options);
      nearest.build(points_of(points.points), points.systems.data());
      EXPECT_EQ(nearest.point_count(), batch.points.points.size());
      nearest.search();
      expect_systems(this->context, batch, rows_of(this->context, nearest), false);
      nearest.build_async(points_of(points.points), points.systems.data());
      nearest.search_async();
      nearest.check();
      expect_systems(this->context, batch, rows_of(this->context, nearest), false);
      nearest.search(points_of(queries.points), queries.systems.data());
      expect_systems(this->context, batch, rows_of(this->context, nearest), true);
      nearest.search_async(points_of(queries.points), queries.systems.data());
      nearest.check();
      expect_systems(this->context, batch, rows_of(this->context, nearest), true);
    }
  }
}

TYPED_TEST(nearest_of_systems, without_a_cutoff_are_those_of_each_system_alone) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  struct sizes {
    std::size_t systems, mean_points;
  };
  for (const auto& [systems, mean] : {sizes{1, 20}, {30, 20}, {5, 300}}) {  // of 5 systems, some have trees
    for (std::uint64_t seed = 1; seed < size_or(9, 3); ++seed) {
      SCOPED_TRACE(testing::Message() << systems << " systems, seed " << seed);
      auto batch = random_nearest_batch<T, D>(systems, seed * systems, mean);
      batch.options.cutoff = std::numeric_limits<T>::infinity();
      const placed_on_device<T, D> points(this->context, batch.points), queries(this->context, batch.queries);
      auto nearest = make_nearest_neighbors(this->context, batch.boxes, batch.options);
      for (int round = 0; round < 2; ++round) {
        nearest.build(points_of(points.points), points.systems.data());
        nearest.search();
        expect_systems(this->context, batch, rows_of(this->context, nearest), false);
        nearest.search(points_of(queries.points), queries.systems.data());
        expect_systems(this->context, batch, rows_of(this->context, nearest), true);
        nearest.check();
      }
    }
  }
}

namespace {

class nearest_systems_test : public backend_test {
 protected:
  const backend_context context;
  const std::vector<lattice<double, 2>> boxes{make_lattice(make_box<double, 2>({}, {4, 4}, {true, true})),
                                              make_lattice(make_box<double, 2>({}, {4, 4}, {false, false}))};
  const std::vector<vec<double, 2>> points{{0.5, 1}, {0.5, 1}, {3.5, 1}, {3.5, 1}};
  const std::vector<std::uint32_t> systems{0, 1, 1, 0};
};

TEST_F(nearest_systems_test, each_system_has_its_own_periodic_axes) {
  const auto there = to_device(context, points);
  const auto of = to_device(context, systems);
  auto nearest = make_nearest_neighbors(context, boxes, {.k = 1, .cutoff = 1.5, .shifts = true});
  nearest.build(points_of(there), of.data());
  nearest.search();
  const auto rows = rows_of(context, nearest);
  EXPECT_EQ(rows.neighbors, (std::vector<particle_id>{3, no_particle, no_particle, 0}));
  EXPECT_EQ(rows.squared[0], 1.0);
  EXPECT_EQ(rows.shifts[0], (vec<int, 2>{-1, 0}));
  EXPECT_EQ(rows.shifts[1], (vec<int, 2>{}));
}

TEST_F(nearest_systems_test, searches_of_the_same_size_allocate_nothing) {
  counting_memory memory;
  const backend_context counted = memory.context(determinism::none);
  const auto there = to_device(counted, points);
  const auto of = to_device(counted, systems);
  auto nearest = make_nearest_neighbors(counted, boxes, {.k = 2, .cutoff = 1.5});
  nearest.build(points_of(there), of.data());
  nearest.search();
  const auto before = memory.allocations();
  nearest.build_async(points_of(there), of.data());
  nearest.search_async();
  nearest.check();
  EXPECT_EQ(memory.allocations(), before);
  EXPECT_GT(nearest.bytes(), 4u * 2 * 12);
}

TEST_F(nearest_systems_test, systems_of_one_point_have_its_images_alone) {
  constexpr std::uint32_t many = 20000;
  const std::vector<lattice<double, 2>> of_each(many, boxes.front());
  std::vector<vec<double, 2>> places;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t s = 0; s < many; ++s) {
    places.push_back({4.0 * s / many, 1});
    numbers.push_back(many - 1 - s);
  }
  const auto there = to_device(context, places);
  const auto of = to_device(context, numbers);
  auto nearest = make_nearest_neighbors(context, of_each, {.k = 4, .shifts = true});
  nearest.build(points_of(there), of.data());
  nearest.search();
  const auto rows = rows_of(context, nearest);
  for (std::uint32_t i = 0; i < many; ++i) {
    for (std::size_t entry = 4 * i; entry < 4 * i + 4; ++entry) {
      ASSERT_EQ(rows.neighbors[entry], i);
      ASSERT_EQ(rows.squared[entry], 16.0);
    }
    ASSERT_EQ(rows.shifts[4 * i], (vec<int, 2>{-1, 0}));
  }
}

TEST_F(nearest_systems_test, impossible_cutoffs_systems_and_points_are_refused_until_the_next_build) {
  expect_words(error_of<argument_error>(
                   [&] { static_cast<void>(make_nearest_neighbors(context, boxes, {.k = 65, .cutoff = 1.0})); }),
               {"k is 65"});
  auto broken = points;
  broken[2][1] = std::numeric_limits<double>::quiet_NaN();
  const auto there = to_device(context, points), bad = to_device(context, broken);
  const auto of = to_device(context, systems), lost = to_device(context, std::vector<std::uint32_t>{0, 1, 2, 0});
  auto within = make_nearest_neighbors(context, boxes, {.k = 1, .cutoff = 1.5});
  auto anywhere = make_nearest_neighbors(context, boxes, {.k = 1});
  const auto refused = [&](auto& nearest, const auto& given, const auto& numbers,
                           const std::vector<std::string>& words) {
    expect_words(error_of<data_error>([&] { nearest.build(points_of(given), numbers.data()); }), words);
    EXPECT_THROW(nearest.check(), data_error);
    EXPECT_THROW(nearest.search(), argument_error);
    EXPECT_EQ(nearest.point_count(), 0u);
    nearest.build(points_of(there), of.data());
    nearest.search();
    nearest.check();
    expect_words(error_of<data_error>([&] { nearest.search(points_of(given), numbers.data()); }), {"query 2 "});
    EXPECT_THROW(nearest.check(), data_error);
    EXPECT_THROW(static_cast<void>(nearest.view()), argument_error);
    nearest.search();
    EXPECT_EQ(nearest.view().rows, points.size());
  };
  for (auto* const nearest : {&within, &anywhere}) {
    refused(*nearest, bad, of, {"point 2 at", "not finite"});
    refused(*nearest, there, lost, {"point 2 belongs to system 2", "there are 2"});
    expect_words(error_of<argument_error>([&] { nearest->build(points_of(there)); }), {"no system of each point"});
  }
  EXPECT_THROW(anywhere.build_async(points_of(there), of.data()), argument_error) << "it waits";
  EXPECT_THROW(anywhere.search_async(), argument_error);
  auto of_one = make_nearest_neighbors(context, boxes.front(), {.k = 1});
  expect_words(error_of<argument_error>([&] { of_one.build(points_of(there), of.data()); }), {"only one box"});
}

}  // namespace

}  // namespace quadrat::test
