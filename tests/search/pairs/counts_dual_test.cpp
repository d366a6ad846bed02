// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/search/pair_counts.hpp"
#include "reference/pair_counts.hpp"
#include "search/pairs/counting.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

using reference::weighted_points;

#if QUADRAT_BACKEND_CPU
constexpr double counts_may_differ = 0;
#else
constexpr double counts_may_differ = 4;  // distances that round to an edge
#endif

[[nodiscard]] std::vector<double> linear_edges(double low, double high, std::size_t bins) {
  std::vector<double> edges;
  for (std::size_t k = 0; k <= bins; ++k) {
    edges.push_back(low + (high - low) * static_cast<double>(k) / static_cast<double>(bins));
  }
  return edges;
}

/// Points on a lattice of 2^-6 in a box, open, periodic or tilted: squares of distances are exact, and many are edges.
template <typename T>
struct exact_frame {
  lattice<T, 3> box;
  weighted_points<T> points;
  weighted_points<T> others;
};
template <typename T>
[[nodiscard]] weighted_points<T> exact_points(std::mt19937_64& random, const lattice<T, 3>& box, std::size_t count) {
  weighted_points<T> made;
  for (std::size_t i = 0; i < count; ++i) {
    vec<T, 3> point = box.origin;
    for (int axis = 0; axis < 3; ++axis) {
      point += static_cast<T>(static_cast<double>(random() % 64) / 64) * box.vectors[axis];
    }
    made.points.push_back(i % 10 == 9 ? made.points.front() : point);
    made.weights.push_back(static_cast<T>(random_unit<double>(random) - 0.25));
  }
  return made;
}
template <typename T>
[[nodiscard]] exact_frame<T> exact_frame_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  vec<vec<T, 3>, 3> vectors{};
  vec<bool, 3> periodic{};
  for (int axis = 0; axis < 3; ++axis) {
    vectors[axis][axis] = seed % 3 == 0 ? T(0.5) : T(1 << (random() % 3));
    periodic[axis] = random() % 2 == 0;
    for (int k = 0; k < axis && seed % 2 == 0; ++k) vectors[axis][k] = vectors[k][k] * T(0.25);
  }
  exact_frame<T> frame{make_lattice(vec<T, 3>{}, vectors, periodic), {}, {}};
  frame.points = exact_points(random, frame.box, seed % 7 == 0 ? seed % 2 : 90);
  frame.others = exact_points(random, frame.box, seed % 5 == 0 ? 1 : 70);
  return frame;
}

[[nodiscard]] std::vector<pair_counts_options> all_coordinates() {
  const std::vector<double> uneven{0, 0.0625, 0.125, 0.25, 0.5, 0.6, 1};
  return {{pair_coordinates::r, uneven, {}},
          {pair_coordinates::r, {0.25, 0.9}, {}},
          {pair_coordinates::rp_pi, uneven, linear_edges(0, 1.25, 5)},
          {pair_coordinates::rp_pi, {0.125, 0.5}, {0.25, 0.3, 0.5}},
          {pair_coordinates::s_mu, uneven, linear_edges(0, 1, 4)},
          {pair_coordinates::s_mu, {0, 1}, {0.1, 0.2, 0.9}}};
}

/// Counts with the library.
template <typename T>
[[nodiscard]] pair_counts_result library_counts(const backend_context& context,
                                                pair_counts<backend_context, T, 3>& counter,
                                                const weighted_points<T>& points,
                                                const std::type_identity_t<weighted_points<T>>* others, bool weighted) {
  const auto first = to_device(context, points.points);
  const auto weights = to_device(context, points.weights);
  const auto regions = to_device(context, points.regions);
  const auto given = [](const auto& array, bool wanted) { return wanted ? array.data() : nullptr; };
  const bool split = counter.options().regions > 0;
  if (others == nullptr) return counter.count(points_of(first), given(weights, weighted), given(regions, split));
  const auto second = to_device(context, others->points);
  const auto other_weights = to_device(context, others->weights);
  const auto other_regions = to_device(context, others->regions);
  return counter.count_between(points_of(first), points_of(second), given(weights, weighted),
                               given(other_weights, weighted), given(regions, split), given(other_regions, split));
}

/// The same counts, and sums within the steps of fixed point and the rounding of the reference.
void expect_same(const pair_counts_result& found, const pair_counts_result& wanted, const std::string& where) {
  EXPECT_EQ(found.counts, wanted.counts) << where;
  ASSERT_EQ(found.weights.size(), wanted.weights.size()) << where;
  ASSERT_EQ(found.mean_separations.size(), wanted.mean_separations.size()) << where;
  for (std::size_t k = 0; k < wanted.weights.size(); ++k) {
    EXPECT_NEAR(found.weights[k], wanted.weights[k], 1e-10 * (1 + static_cast<double>(wanted.counts[k]))) << where;
  }
  for (std::size_t k = 0; k < wanted.mean_separations.size(); ++k) {
    EXPECT_NEAR(found.mean_separations[k], wanted.mean_separations[k], 1e-6 * wanted.mean_separations[k]) << where;
  }
}

/// Regions of a few points: slices along the first axis, or random ones. The last one has none.
template <typename T>
void put_in_regions(weighted_points<T>& set, std::uint32_t regions, bool slices, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  set.regions.clear();
  for (const vec<T, 3>& point : set.points) {
    const std::uint64_t number = slices ? static_cast<std::uint64_t>(16 * point[0]) : random();
    set.regions.push_back(static_cast<std::uint32_t>(number % (regions - 1)));
  }
}

/// Compares the counts without each region with those of the points of the others alone.
template <typename T>
void expect_delete_one_counts(const backend_context& context, const lattice<T, 3>& box,
                              const pair_counts_options& options, const weighted_points<T>& points,
                              const std::type_identity_t<weighted_points<T>>* others, const std::string& where) {
  pair_counts<backend_context, T, 3> counter(context, box, options);
  const bool weighted = !points.weights.empty();
  const auto found = library_counts(context, counter, points, others, weighted);
  const std::size_t bins = found.counts.size();
  ASSERT_EQ(found.region_counts.size(), options.regions * bins) << where;
  ASSERT_EQ(found.region_weights.size(), weighted ? options.regions * bins : 0) << where;
  for (std::uint32_t region = 0; region < options.regions; ++region) {
    const auto left = points.without(region);
    const auto others_left = others == nullptr ? left : others->without(region);
    const auto wanted = reference::pair_counts_of(options, box, left, others == nullptr ? nullptr : &others_left);
    for (std::size_t k = 0; k < bins; ++k) {
      EXPECT_EQ(found.counts[k] - found.region_counts[region * bins + k], wanted.counts[k])
          << where << " without region " << region << " bin " << k;
      if (left.weights.empty()) continue;
      EXPECT_NEAR(found.weights[k] - found.region_weights[region * bins + k], wanted.weights[k],
                  1e-10 * (1 + static_cast<double>(found.counts[k])))
          << where << " without region " << region << " bin " << k;
    }
  }
}

}  // namespace

template <typename T>
class pair_counts_agreement : public backend_test {
 protected:
  const backend_context context;
};
using pair_counts_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(pair_counts_agreement, pair_counts_precisions);

TYPED_TEST(pair_counts_agreement, counts_and_sums_are_those_of_all_pairs_in_every_box_and_coordinate) {
  using T = TypeParam;
  std::uint64_t pairs = 0;
  for (std::uint64_t seed = 0; seed < size_or(16, 4); ++seed) {
    const auto frame = exact_frame_of<T>(seed);
    std::size_t which = 0;
    for (pair_counts_options options : all_coordinates()) {
      const bool sums = (seed + which) % 2 == 0 && !frame.points.points.empty();
      options.mean_separation = sums;
      pair_counts<backend_context, T, 3> counter(this->context, frame.box, options);
      for (const bool cross : {false, true}) {
        const weighted_points<T>* const others = cross ? &frame.others : nullptr;
        weighted_points<T> points = frame.points, partners = frame.others;
        if (!sums) points.weights.clear();
        const auto wanted =
            reference::pair_counts_of(options, frame.box, points, others == nullptr ? nullptr : &partners);
        const auto found = library_counts(this->context, counter, frame.points, others, sums);
        expect_same(
            found, wanted,
            "seed " + std::to_string(seed) + " options " + std::to_string(which) + (cross ? " cross" : " auto"));
        pairs += std::accumulate(found.counts.begin(), found.counts.end(), std::uint64_t{0});
      }
      ++which;
    }
  }
  EXPECT_GT(pairs, 10'000u);
}

TYPED_TEST(pair_counts_agreement, counts_without_a_region_are_those_of_the_points_of_the_others) {
  using T = TypeParam;
  constexpr std::uint32_t regions = 5;
  for (std::uint64_t seed = 0; seed < size_or(8, 3); ++seed) {
    auto frame = exact_frame_of<T>(seed);
    put_in_regions(frame.points, regions, seed % 3 > 0, seed);
    put_in_regions(frame.others, regions, seed % 3 > 0, seed + 100);
    for (pair_counts_options options : all_coordinates()) {
      options.regions = regions;
      options.mean_separation = seed % 2 == 0;
      if (seed % 4 < 2) frame.points.weights.clear();
      const std::string where = "seed " + std::to_string(seed);
      expect_delete_one_counts(this->context, frame.box, options, frame.points, nullptr, where);
      expect_delete_one_counts(this->context, frame.box, options, frame.points, &frame.others, where + " cross");
    }
  }
}

/// From counters of threads to the totals themselves on a GPU, with many warps and regions of many pairs.
TYPED_TEST(pair_counts_agreement, regions_of_many_points_and_bins_have_the_counts_of_the_others) {
  using T = TypeParam;
  std::mt19937_64 random(6);
  const auto box = make_lattice(make_box(vec<T, 3>{}, vec<T, 3>::filled(T(4)), {true, true, false}));
  auto points = exact_points<T>(random, box, size_or(300, 150));
  for (const std::uint32_t regions : {2u, 7u}) {
    for (const bool slices : {false, true}) {
      put_in_regions(points, regions, slices, 8);
      for (const std::size_t bins : {5u, 60u, 900u}) {
        pair_counts_options options{pair_coordinates::r, linear_edges(0, 1.5, bins), {}};
        options.regions = regions;
        expect_delete_one_counts(this->context, box, options, points, nullptr, std::to_string(bins) + " bins");
      }
    }
  }
}

TYPED_TEST(pair_counts_agreement, angles_on_the_sky_are_those_of_all_pairs) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  weighted_points<T> sky;
  for (std::size_t i = 0; i < size_or(800, 200); ++i) {
    const double z = 2 * random_unit<double>(random) - 1, turn = 6.28318530717958648 * random_unit<double>(random);
    const double across = std::sqrt(1 - z * z);
    sky.points.push_back(
        {{static_cast<T>(across * std::cos(turn)), static_cast<T>(across * std::sin(turn)), static_cast<T>(z)}});
    sky.weights.push_back(static_cast<T>(random_unit<double>(random)));
  }
  const pair_counts_options options{pair_coordinates::theta, {0, 1, 3, 10, 30, 90, 179}, {}, true};
  pair_counts<backend_context, T, 3> counter(this->context, options);
  const auto found = library_counts(this->context, counter, sky, nullptr, true);
  const auto box = make_lattice(make_box(vec<T, 3>::filled(T(-2)), vec<T, 3>::filled(T(2)), vec<bool, 3>{}));
  const auto wanted = reference::pair_counts_of(options, box, sky, nullptr);
  for (std::size_t k = 0; k < wanted.counts.size(); ++k) {
    EXPECT_NEAR(static_cast<double>(found.counts[k]), static_cast<double>(wanted.counts[k]), counts_may_differ);
    EXPECT_NEAR(found.weights[k], wanted.weights[k], 4 + 1e-9 * wanted.weights[k]);
    EXPECT_NEAR(found.mean_separations[k], wanted.mean_separations[k], 1e-2 * wanted.mean_separations[k] + 1e-5);
  }
}

/// From counters of threads to the totals themselves on a GPU.
TYPED_TEST(pair_counts_agreement, many_bins_give_the_counts_of_all_pairs) {
  using T = TypeParam;
  const auto frame = exact_frame_of<T>(4);
  for (const std::size_t bins : {1u, 20u, 128u, 129u, 700u, 5000u}) {
    for (const bool sums : {false, true}) {
      const pair_counts_options options{pair_coordinates::r, linear_edges(0, 1, bins), {}, sums};
      pair_counts<backend_context, T, 3> counter(this->context, frame.box, options);
      weighted_points<T> points = frame.points;
      if (!sums) points.weights.clear();
      expect_same(library_counts(this->context, counter, frame.points, nullptr, sums),
                  reference::pair_counts_of(options, frame.box, points, nullptr), std::to_string(bins) + " bins");
    }
  }
}

/// A heavy cell, a chain, and points far from all others in a box of far more cells than points.
TYPED_TEST(pair_counts_agreement, uneven_points_in_a_huge_open_box_give_the_counts_of_all_pairs) {
  using T = TypeParam;
  std::mt19937_64 random(9);
  const auto box = make_lattice(make_box(vec<T, 3>{}, vec<T, 3>::filled(T(4096)), {true, false, true}));
  weighted_points<T> points;
  const auto put = [&](double x, double y, double z) {
    points.points.push_back({{static_cast<T>(x), static_cast<T>(y), static_cast<T>(z)}});
  };
  for (std::size_t i = 0; i < size_or(400, 100); ++i) {
    put(static_cast<double>(random() % 8) / 8, static_cast<double>(random() % 8) / 8, 1);
  }
  for (std::size_t i = 0; i < size_or(200, 50); ++i) put(16 + static_cast<double>(i) / 8, 20, 4095.5);
  for (std::size_t i = 0; i < size_or(200, 50); ++i) {
    put(static_cast<double>(random() % 4096), static_cast<double>(random() % 4096),
        static_cast<double>(random() % 4096));
  }
  std::shuffle(points.points.begin(), points.points.end(), random);
  for (const pair_counts_options& options : all_coordinates()) {
    pair_counts<backend_context, T, 3> counter(this->context, box, options);
    expect_same(library_counts(this->context, counter, points, nullptr, false),
                reference::pair_counts_of(options, box, points, nullptr), "uneven");
  }
}

namespace {

class pair_counts_test : public backend_test {
 protected:
  using counter_type = pair_counts<backend_context, double, 3>;
  const backend_context context;
  const box<double, 3> cube = make_box<double, 3>({0, 0, 0}, {4, 4, 4}, {true, true, true});

  [[nodiscard]] std::vector<std::uint64_t> counts_of(const pair_counts_options& options,
                                                     const std::vector<vec<double, 3>>& points) const {
    counter_type counter(context, cube, options);
    const auto there = to_device(context, points);
    return counter.count(points_of(there)).counts;
  }
};

TEST_F(pair_counts_test, edges_belong_to_the_bin_above_and_points_pair_with_themselves_at_zero) {
  const std::vector<vec<double, 3>> line{{0.25, 1, 1}, {3.75, 1, 1}, {1.25, 1, 1}};  // 0.5, 1 and 1.5 apart
  EXPECT_EQ(counts_of({pair_coordinates::r, {0, 0.5, 1, 1.5}, {}}, line), (std::vector<std::uint64_t>{3, 2, 2}));
  EXPECT_EQ(counts_of({pair_coordinates::r, {0.25, 1, 2}, {}}, line), (std::vector<std::uint64_t>{2, 4}));
  EXPECT_EQ(counts_of({pair_coordinates::r, {0, 1}, {}}, {}), std::vector<std::uint64_t>{0});
  EXPECT_EQ(counts_of({pair_coordinates::r, {0, 1}, {}}, {{1, 1, 1}}), std::vector<std::uint64_t>{1});
}

TEST_F(pair_counts_test, images_count_beyond_half_of_the_box) {
  // A point sees itself at 4 in 6 directions and at 4 sqrt(2) in 12.
  EXPECT_EQ(counts_of({pair_coordinates::r, {1, 4, 5, 6}, {}}, {{1, 1, 1}}), (std::vector<std::uint64_t>{0, 6, 12}));
  EXPECT_EQ(counts_of({pair_coordinates::rp_pi, {0, 1, 5}, {0, 4, 5}}, {{1, 1, 1}}),
            (std::vector<std::uint64_t>{1, 2, 4, 8}));
}

TEST_F(pair_counts_test, all_threads_and_all_orders_of_points_give_the_same_bits) {
  std::mt19937_64 random(2);
  std::vector<vec<double, 3>> points(size_or(6000, 600));
  std::vector<double> weights;
  for (auto& point : points) {
    point = make_vec<double, 3>([&](int) { return 4 * random_unit<double>(random); });
    weights.push_back(1 + random_unit<double>(random));
  }
  const auto region_of = [&](std::size_t i) { return static_cast<std::uint32_t>(i % 3 > 0 ? 2 * points[i][1] : 8); };
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  pair_counts_result first;
  for (const auto& each : all_contexts()) {
    std::vector<vec<double, 3>> moved;
    std::vector<double> moved_weights;
    std::vector<std::uint32_t> regions;
    for (const std::size_t i : order) {
      moved.push_back(points[i]);
      moved_weights.push_back(weights[i]);
      regions.push_back(region_of(i));
    }
    counter_type counter(each, cube, {pair_coordinates::r, linear_edges(0, 1, 7), {}, true, false, 9});
    const auto there = to_device(each, moved);
    const auto weights_there = to_device(each, moved_weights);
    const auto regions_there = to_device(each, regions);
    const auto found = counter.count(points_of(there), weights_there.data(), regions_there.data());
    if (first.counts.empty()) first = found;
    EXPECT_EQ(found.counts, first.counts);
    EXPECT_EQ(found.weights, first.weights);
    EXPECT_EQ(found.region_counts, first.region_counts);
    EXPECT_EQ(found.region_weights, first.region_weights);
    EXPECT_EQ(found.mean_separations, first.mean_separations);
    std::shuffle(order.begin(), order.end(), random);
  }
  EXPECT_GT(first.counts.back(), 1000u);
}

TEST_F(pair_counts_test, a_set_and_its_copy_have_the_counts_of_the_set_with_itself) {
  const auto frame = exact_frame_of<double>(8);
  counter_type counter(context, frame.box, {pair_coordinates::s_mu, {0, 0.5, 1}, {0, 0.5, 1}, true});
  const auto own = library_counts(context, counter, frame.points, nullptr, true);
  const auto copy = library_counts(context, counter, frame.points, &frame.points, true);
  EXPECT_EQ(own.counts, copy.counts);
  for (std::size_t k = 0; k < own.weights.size(); ++k) EXPECT_NEAR(own.weights[k], copy.weights[k], 1e-9);
}

TEST_F(pair_counts_test, impossible_edges_are_refused_by_their_value) {
  const auto refusal = [&](const pair_counts_options& options) {
    return error_of<argument_error>([&] { counter_type(context, cube, options); });
  };
  expect_words(refusal({pair_coordinates::r, {1}, {}}), {"there are 1 edges of r"});
  expect_words(refusal({pair_coordinates::r, {0, 2, 1}, {}}), {"edge 2 of r is 1", "after 2", "must increase"});
  expect_words(refusal({pair_coordinates::r, {-1, 1}, {}}), {"edge 0 of r is -1"});
  expect_words(refusal({pair_coordinates::r, {0, std::nan("")}, {}}), {"edge 1 of r is nan"});
  expect_words(refusal({pair_coordinates::r, {0, 1e-170}, {}}), {"edges 0 and 1e-170 of r", "squared"});
  expect_words(refusal({pair_coordinates::r, {0, 1}, {0, 1}}), {"there are 2 second edges", "r has none"});
  expect_words(refusal({pair_coordinates::rp_pi, {0, 1}, {}}), {"there are 0 edges of pi"});
  expect_words(refusal({pair_coordinates::s_mu, {0, 1}, {0, 2}}), {"edge 1 of mu is 2", "from 0 to 1"});
  expect_words(refusal({pair_coordinates::theta, {0, 1}, {}}), {"without a box"});
  expect_words(error_of<argument_error>([&] {
                 pair_counts<backend_context, float, 3>(context, {pair_coordinates::theta, {0, 179.9999, 180}, {}});
               }),
               {"edges 179.9999 and 180 of theta", "chords", "32 bits"});
  expect_words(refusal({pair_coordinates::rp_pi, linear_edges(0, 1, 2000), linear_edges(0, 1, 2000)}),
               {"2000 x 2000 bins", "1048576"});
  expect_words(refusal({pair_coordinates::r, {0, 1, 2, 3}, {}, false, false, 400'000}),
               {"400000 regions", "349525", "3 x 1 bins"});
  expect_words(error_of<argument_error>([&] {
                 counter_type(context, {pair_coordinates::r, {0, 1}, {}});
               }),
               {"give the box"});
}

TEST_F(pair_counts_test, regions_that_do_not_exist_are_named_and_later_calls_are_right) {
  counter_type counter(context, cube, {pair_coordinates::r, {0.25, 1}, {}, false, false, 2});
  const auto points = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1, 1.5, 1}});
  const auto good = to_device(context, std::vector<std::uint32_t>{0, 1});
  const auto bad = to_device(context, std::vector<std::uint32_t>{0, 2});
  const auto all = points_of(points);
  expect_words(error_of<data_error>([&] { static_cast<void>(counter.count(all, nullptr, bad.data())); }),
               {"point 1 is in region 2", "there are 2, from 0"});
  expect_words(error_of<data_error>([&] {
                 static_cast<void>(counter.count_between(all, all, nullptr, nullptr, good.data(), bad.data()));
               }),
               {"other point 1 is in region 2"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(counter.count(all)); }), {"each point needs a region"});
  EXPECT_EQ(counter.count(all, nullptr, good.data()).region_counts, (std::vector<std::uint64_t>{2, 2}));
  counter_type without(context, cube, {pair_coordinates::r, {0.25, 1}, {}});
  expect_words(error_of<argument_error>([&] { static_cast<void>(without.count(all, nullptr, good.data())); }),
               {"regions are given"});
}

TEST_F(pair_counts_test, tiny_and_huge_weights_give_their_products_or_are_refused) {
  counter_type counter(context, cube, {pair_coordinates::r, {0.25, 1}, {}});
  const auto points = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1, 1.5, 1}});
  const auto sum_of = [&](double weight) {
    const auto weights = to_device(context, std::vector<double>{weight, -weight});
    return counter.count(points_of(points), weights.data()).weights[0];
  };
  for (const double weight : {1e-139, 1e-20, 1e20, 1e139}) {
    EXPECT_NEAR(sum_of(weight) / (-2 * weight * weight), 1, 1e-10) << weight;
  }
  EXPECT_EQ(sum_of(0), 0);
  for (const double weight : {1e-300, 1e-150, 1e150, 1e300}) {
    expect_words(error_of<data_error>([&] { static_cast<void>(sum_of(weight)); }),
                 {"the largest weights are", message(weight), "1e-280 to 1e280"});
  }
}

/// As many pairs as no test has time to count.
TEST(pair_sums, more_than_2_to_32_terms_add_up_however_they_are_grouped) {
  for (const std::int64_t term : {(std::int64_t{1} << 40) - 1, std::int64_t{1} - (std::int64_t{1} << 40)}) {
    const std::uint64_t terms = std::uint64_t{3} << 40;
    const double alone = detail::sum_of_parts(terms * detail::low_part(term), terms * detail::high_part(term));
    const double by_1024 = detail::sum_of_parts(terms / 1024 * detail::low_part(1024 * term),
                                                terms / 1024 * detail::high_part(1024 * term));
    EXPECT_EQ(alone, by_1024);
    EXPECT_EQ(alone, static_cast<double>(terms) * static_cast<double>(term));
  }
}

TEST_F(pair_counts_test, bad_points_and_weights_are_named_and_later_calls_are_right) {
  counter_type counter(context, cube, {pair_coordinates::r, {0.25, 1}, {}});
  const auto good = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1, 1.5, 1}});
  const auto bad = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1, std::nan(""), 1}});
  const auto weights = to_device(context, std::vector<double>{1, std::numeric_limits<double>::infinity()});
  expect_words(error_of<data_error>([&] { static_cast<void>(counter.count(points_of(bad))); }),
               {"point 1 at", "not finite"});
  expect_words(error_of<data_error>([&] { static_cast<void>(counter.count_between(points_of(good), points_of(bad))); }),
               {"other point 1 at", "not finite"});
  expect_words(error_of<data_error>([&] { static_cast<void>(counter.count(points_of(good), weights.data())); }),
               {"the weight of point 1 is inf"});
  expect_words(error_of<argument_error>(
                   [&] { static_cast<void>(counter.count_between(points_of(good), points_of(good), weights.data())); }),
               {"one set of points has weights"});
  EXPECT_EQ(counter.count(points_of(good)).counts, std::vector<std::uint64_t>{2});
  counter_type sky(context, {pair_coordinates::theta, {0, 10}, {}});
  expect_words(error_of<data_error>([&] { static_cast<void>(sky.count(points_of(good))); }),
               {"point 0 at (1, 1, 1) has length 1.73"});
  const auto short_ones = to_device(context, std::vector<vec<double, 3>>{{0, 0, 1}, {0, 0.5, 0}});
  expect_words(error_of<data_error>([&] { static_cast<void>(sky.count(points_of(short_ones))); }),
               {"point 1 at (0, 0.5, 0) has length 0.5", "unit vectors"});
}

}  // namespace

}  // namespace quadrat::test
