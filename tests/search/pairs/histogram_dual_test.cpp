// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/search/pair_histogram.hpp"
#include "reference/neighbor_list.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

#if QUADRAT_BACKEND_CPU
constexpr std::int64_t bins_may_differ = 0;
#else
constexpr std::int64_t bins_may_differ = 4;  // distances that round to the face of a bin
#endif

template <typename T, int D>
struct typed_frame {
  lattice<T, D> box;
  std::vector<vec<T, D>> points;
  std::vector<std::uint32_t> types;
};

/// Points in a box from half a cutoff of 1 to some: open, periodic and mixed, upright and tilted.
template <typename T, int D>
[[nodiscard]] typed_frame<T, D> random_frame(std::uint64_t seed, std::uint32_t types) {
  std::mt19937_64 random(seed);
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random));
  };
  vec<vec<T, D>, D> vectors{};
  vec<bool, D> periodic{};
  for (int axis = 0; axis < D; ++axis) {
    vectors[axis][axis] = between(seed % 3 == 0 ? 0.5 : 2, 5);
    periodic[axis] = random() % 2 == 0;
    for (int k = 0; k < axis && seed % 2 == 0; ++k) vectors[axis][k] = vectors[k][k] * between(-0.4, 0.4);
  }
  typed_frame<T, D> frame{make_lattice(vec<T, D>{}, vectors, periodic), {}, {}};
  const std::size_t count = seed % 7 == 0 ? seed % 2 : 100;
  for (std::size_t i = 0; i < count; ++i) {
    vec<T, D> point{};
    for (int axis = 0; axis < D; ++axis) point += between(0.01, 0.99) * vectors[axis];
    frame.points.push_back(i % 10 == 9 ? frame.points.front() : point);
    frame.types.push_back(static_cast<std::uint32_t>(random() % types));
  }
  return frame;
}

template <typename T, int D>
void add_reference(const typed_frame<T, D>& frame, const pair_histogram_options<T>& options,
                   const pair_histogram_result& shape, std::vector<std::int64_t>& counts) {
  reference::neighbor_problem<T, D> problem;
  problem.options.cutoff = options.cutoff;
  problem.boxes = {frame.box};
  problem.points = frame.points;
  const T per_length = static_cast<T>(static_cast<double>(options.bins) / static_cast<double>(options.cutoff));
  for (const auto& entry : reference::neighbor_list(problem).entries) {
    const std::uint32_t a = frame.types[entry.i], b = frame.types[entry.j];
    const auto bin = std::min(static_cast<std::size_t>(std::sqrt(entry.squared) * per_length), options.bins - 1);
    if (a <= b) ++counts[shape.pair_of_types(a, b) * options.bins + bin];
  }
}

}  // namespace

template <typename Shape>
class pair_histogram_agreement : public backend_test {};
template <typename Precision, int Dimension>
struct pair_histogram_shape {
  using T = Precision;
  static constexpr int D = Dimension;
};
using pair_histogram_shapes = testing::Types<pair_histogram_shape<float, 2>, pair_histogram_shape<float, 3>,
                                             pair_histogram_shape<double, 2>, pair_histogram_shape<double, 3>>;
TYPED_TEST_SUITE(pair_histogram_agreement, pair_histogram_shapes);

TYPED_TEST(pair_histogram_agreement, counts_are_those_of_a_neighbor_list_over_all_frames) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  const backend_context context;
  for (const std::uint32_t types : {1u, 3u}) {
    const pair_histogram_options<T> options{T(1), 30, types, false};
    pair_histogram<backend_context, T, D> histogram(context, options);
    const auto shape = histogram.result();
    std::vector<std::int64_t> wanted(shape.counts.size(), 0);
    const std::uint64_t frames = size_or(25, 5);
    for (std::uint64_t seed = 0; seed < frames; ++seed) {
      const auto frame = random_frame<T, D>(seed, types);
      const auto points = to_device(context, frame.points);
      const auto of = to_device(context, frame.types);
      histogram.add(points_of(points), frame.box, types == 1 && seed % 2 == 0 ? nullptr : of.data());
      add_reference(frame, options, shape, wanted);
    }
    const auto found = histogram.result();
    EXPECT_EQ(found.frames, frames);
    ASSERT_EQ(found.counts.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      EXPECT_LE(std::abs(static_cast<std::int64_t>(found.counts[k]) - wanted[k]), bins_may_differ) << k;
    }
    EXPECT_GT(std::accumulate(wanted.begin(), wanted.end(), std::int64_t{0}), 100);
  }
}

namespace {

/// Frames as systems of one batch, with the points in any order.
template <typename T, int D>
struct typed_batch {
  std::vector<lattice<T, D>> boxes;
  std::vector<vec<T, D>> points;
  std::vector<std::uint32_t> systems, types;
};

template <typename T, int D>
[[nodiscard]] typed_batch<T, D> batch_of(const std::vector<typed_frame<T, D>>& frames, std::uint64_t seed) {
  typed_batch<T, D> batch;
  std::vector<std::pair<std::uint32_t, std::size_t>> places;
  for (std::uint32_t system = 0; system < frames.size(); ++system) {
    batch.boxes.push_back(frames[system].box);
    for (std::size_t i = 0; i < frames[system].points.size(); ++i) places.emplace_back(system, i);
  }
  std::shuffle(places.begin(), places.end(), std::mt19937_64(seed));
  for (const auto& [system, i] : places) {
    batch.points.push_back(frames[system].points[i]);
    batch.systems.push_back(system);
    batch.types.push_back(frames[system].types[i]);
  }
  return batch;
}

}  // namespace

TYPED_TEST(pair_histogram_agreement, systems_of_a_batch_count_as_a_frame_each) {
  using T = typename TypeParam::T;
  constexpr int D = TypeParam::D;
  const backend_context context;
  for (const std::uint64_t number : {1u, 2u, 16u}) {
    std::vector<typed_frame<T, D>> frames;
    for (std::uint64_t seed = 0; seed < number; ++seed) frames.push_back(random_frame<T, D>(seed + number, 3));
    const auto batch = batch_of(frames, number);
    for (const bool distinct : {false, true}) {
      const pair_histogram_options<T> options{T(1), 30, 3, false, distinct};
      pair_histogram<backend_context, T, D> together(context, options), in_turn(context, options);
      const auto points = to_device(context, batch.points);
      const auto systems = to_device(context, batch.systems), types = to_device(context, batch.types);
      together.add(points_of(points), batch.boxes, systems.data(), types.data());
      for (const auto& frame : frames) {
        const auto own = to_device(context, frame.points);
        const auto of = to_device(context, frame.types);
        in_turn.add(points_of(own), frame.box, of.data());
      }
      const auto found = together.result(), wanted = in_turn.result();
      EXPECT_EQ(found.frames, number);
      EXPECT_EQ(found.counts, wanted.counts);
      for (std::size_t k = 0; k < wanted.rdf.size(); ++k) {
        EXPECT_NEAR(found.rdf[k], wanted.rdf[k], 1e-12 * (1 + wanted.rdf[k])) << k;
      }
    }
  }
}

namespace {

class pair_histogram_test : public backend_test {
 protected:
  const backend_context context;
  const box<double, 3> cube = make_box<double, 3>({0, 0, 0}, {4, 4, 4}, {true, true, true});
};

TEST_F(pair_histogram_test, one_pair_of_two_types_by_hand) {
  pair_histogram<backend_context, double, 3> histogram(context, {.cutoff = 1, .bins = 4, .types = 2});
  const auto points = to_device(context, std::vector<vec<double, 3>>{{0.1, 1, 1}, {3.8, 1, 1}, {2, 2, 2}});
  const auto types = to_device(context, std::vector<std::uint32_t>{1, 0, 0});
  for (int frame = 0; frame < 3; ++frame) histogram.add(points_of(points), cube, types.data());
  const auto found = histogram.result();
  EXPECT_EQ(found.counts, (std::vector<std::uint64_t>{0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(found.pair_of_types(1, 0), 1u);
  EXPECT_EQ(found.pair_of_types(1, 1), 2u);
  EXPECT_DOUBLE_EQ(found.center(1), 0.375);
  const double shell = 4 * std::numbers::pi / 3 * (0.125 - 0.015625);
  EXPECT_NEAR(found.rdf[5], 3 / (3 * (2 * 1 / 64.0) * shell), 1e-12);
  histogram.clear();
  EXPECT_EQ(histogram.result().counts, std::vector<std::uint64_t>(12, 0));
  EXPECT_EQ(histogram.result().frames, 0u);
}

TEST_F(pair_histogram_test, distinct_points_are_no_neighbors_of_themselves) {
  const auto two = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1, 1.5, 1}});
  const auto three = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1, 1.5, 1}, {3, 3, 3}});
  const auto types = to_device(context, std::vector<std::uint32_t>{0, 0, 1});
  pair_histogram<backend_context, double, 3> all(context, {.cutoff = 1, .bins = 1, .types = 2});
  pair_histogram<backend_context, double, 3> distinct(context, {.cutoff = 1, .bins = 1, .types = 2, .distinct = true});
  for (auto* const histogram : {&all, &distinct}) {
    histogram->add(points_of(two), cube, types.data());
    histogram->add(points_of(three), cube, types.data());
  }
  const double shell = 4 * std::numbers::pi / 3;
  EXPECT_EQ(distinct.result().counts, (std::vector<std::uint64_t>{4, 0, 0}));
  EXPECT_EQ(all.result().counts, distinct.result().counts);
  EXPECT_NEAR(all.result().rdf[0], 4 / ((2 * 2 + 2 * 2) / 64.0 * shell), 1e-12);
  EXPECT_NEAR(distinct.result().rdf[0], 4 / ((2 * 1 + 2 * 1) / 64.0 * shell), 1e-12);
  EXPECT_EQ(distinct.result().rdf[2], 0);  // of one point there are no pairs
}

TEST_F(pair_histogram_test, uniform_points_have_a_distribution_of_one_and_all_threads_count_the_same) {
  std::mt19937_64 random(2);
  std::vector<vec<double, 3>> host(size_or(20'000, 3000));
  for (auto& point : host) point = make_vec<double, 3>([&](int) { return 4 * random_unit<double>(random); });
  std::vector<std::uint64_t> first;
  for (const auto& each : all_contexts()) {
    pair_histogram<backend_context, double, 3> histogram(each, {.cutoff = 1, .bins = 5});
    const auto points = to_device(each, host);
    histogram.add(points_of(points), cube);
    const auto found = histogram.result();
    if (first.empty()) first = found.counts;
    EXPECT_EQ(found.counts, first);
    for (std::size_t k = 2; k < 5; ++k) EXPECT_NEAR(found.rdf[k], 1, 0.05) << k;
  }
}

TEST_F(pair_histogram_test, impossible_options_and_points_are_refused_and_count_nothing) {
  using histogram_type = pair_histogram<backend_context, double, 3>;
  const auto refusal = [&](const pair_histogram_options<double>& options) {
    return error_of<argument_error>([&] { histogram_type(context, options); });
  };
  expect_words(refusal({.cutoff = 0}), {"cutoff is 0"});
  expect_words(refusal({.cutoff = std::numeric_limits<double>::infinity()}), {"cutoff is inf"});
  expect_words(refusal({.cutoff = 1, .bins = 0}), {"there are 0 bins"});
  expect_words(refusal({.cutoff = 1, .types = 65}), {"there are 65 types", "1 to 64"});

  histogram_type histogram(context, {.cutoff = 1, .types = 2});
  const auto bad = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1, std::nan(""), 1}});
  const auto good = to_device(context, std::vector<vec<double, 3>>{{1, 1, 1}, {1, 1.5, 1}});
  const auto types = to_device(context, std::vector<std::uint32_t>{0, 2});
  expect_words(error_of<data_error>([&] { histogram.add(points_of(bad), cube); }), {"point 1 at", "not finite"});
  expect_words(error_of<data_error>([&] { histogram.add(points_of(good), cube, types.data()); }),
               {"point 1 has type 2", "there are 2 types"});
  const std::vector<lattice<double, 3>> boxes(2, make_lattice(cube));
  expect_words(error_of<data_error>([&] { histogram.add(points_of(good), boxes, types.data()); }),
               {"point 1 belongs to system 2", "there are 2 systems"});
  expect_words(error_of<argument_error>([&] { histogram.add(points_of(good), boxes, nullptr); }),
               {"there are 2 boxes", "no system of each point"});
  EXPECT_EQ(histogram.result().frames, 0u);
  histogram.add(points_of(good), cube);
  const auto found = histogram.result();
  EXPECT_EQ(found.counts[100], 2u);
  EXPECT_EQ(std::accumulate(found.counts.begin(), found.counts.end(), std::uint64_t{0}), 2u);
}

}  // namespace

}  // namespace quadrat::test
