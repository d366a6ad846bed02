// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "quadrat/search/visit.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

// Points on a line: lists, nearest neighbors, visitors and clusters in boxes of one dimension, compared with a loop
// over all pairs.

namespace quadrat::test {

namespace {

template <typename T>
struct line_problem {
  box<T, 1> line;
  T cutoff;
  std::size_t stride;
  std::vector<T> values;  ///< x of point i is values[i * stride]

  [[nodiscard]] std::size_t count() const { return values.size() / stride; }
  [[nodiscard]] T x(std::size_t i) const { return values[i * stride]; }
  /// From i to the image of j that is `shift` boxes further; points are inside the box.
  [[nodiscard]] T separation(std::size_t i, std::size_t j, int shift) const {
    return (x(j) - x(i)) + static_cast<T>(shift) * line.length[0];
  }
};

/// Points on faces, in one place, and at random.
template <typename T>
[[nodiscard]] line_problem<T> random_line(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const T lower = seed % 3 == 0 ? T(0) : T(-3.5), length = seed % 2 == 0 ? T(16) : T(10.7);
  line_problem<T> it{
      make_box<T, 1>({lower}, {lower + length}, {seed % 4 < 2}), seed % 5 < 3 ? T(1) : T(2.3), 1 + seed % 3, {}};
  const std::size_t count = seed % 10 == 0 ? seed / 10 % 3 : 80;
  it.values.assign(count * it.stride, T(1e6));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t kind = random() % 4;
    T x = lower + length * random_unit<T>(random);
    if (kind == 0) x = lower + std::floor(x - lower);
    if (kind == 1) x = lower;
    it.values[i * it.stride] = std::min(x, std::nextafter(lower + length, lower));
  }
  return it;
}

struct one_for_each_line_pair {
  template <typename Separation, typename T>
  QUADRAT_HD std::uint32_t operator()(particle_id, particle_id, const Separation&, T) const {
    return 1;
  }
};

template <typename T>
class line_test : public backend_test {};
using line_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(line_test, line_precisions);

using line_entry = std::pair<particle_id, int>;

/// The neighbors of i with their shifts, in order.
template <typename T>
[[nodiscard]] std::vector<line_entry> row_of(const line_problem<T>& it, std::size_t i) {
  std::vector<line_entry> row;
  const int most = it.line.periodic[0] ? 2 : 0;
  for (std::size_t j = 0; j < it.count(); ++j) {
    for (int shift = -most; shift <= most; ++shift) {
      const T r = it.separation(i, j, shift);
      if ((j != i || shift != 0) && r * r < it.cutoff * it.cutoff) row.emplace_back(static_cast<particle_id>(j), shift);
    }
  }
  return row;
}

TYPED_TEST(line_test, lists_hold_the_pairs_of_all_pairs) {
  using T = TypeParam;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto it = random_line<T>(seed);
    for (const backend_context& context : all_contexts()) {
      const auto stored = to_device(context, it.values);
      line_points<backend_context, T> line(context);
      auto list = make_neighbor_list(context, it.line, {.cutoff = it.cutoff, .sorted = true, .shifts = true});
      list.build(line.view(stored.data(), it.count(), it.stride));
      const auto view = list.view();
      const auto offsets = to_host(context, view.offsets, view.rows + 1);
      const auto neighbors = to_host(context, view.neighbors, list.size());
      const auto shifts = to_host(context, view.shifts, list.size());
      ASSERT_EQ(view.rows, it.count());
      for (std::size_t i = 0; i < it.count(); ++i) {
        std::vector<line_entry> row;
        for (auto k = offsets[i]; k < offsets[i + 1]; ++k) {
          row.emplace_back(neighbors[k], shifts[k][0]);
          ASSERT_EQ(shifts[k][1], 0);
        }
        ASSERT_EQ(row, row_of(it, i)) << i;
      }
    }
  }
}

TYPED_TEST(line_test, visitors_meet_the_pairs_of_all_pairs) {
  using T = TypeParam;
  const backend_context context;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto it = random_line<T>(seed);
    const auto stored = to_device(context, it.values);
    line_points<backend_context, T> line(context);
    const auto points = line.view(stored.data(), it.count(), it.stride);
    auto cells = make_cells(context, it.line, it.cutoff);
    cells.build(points);
    auto counts = to_device(context, std::vector<std::uint32_t>(it.count(), 7));
    accumulate_neighbors(context, cells.view(), points, it.cutoff, counts.data(), one_for_each_line_pair{});
    const auto got = to_host(context, counts);
    for (std::size_t i = 0; i < it.count(); ++i) {
      auto row = row_of(it, i);
      std::erase_if(row, [&](const line_entry& entry) { return entry.first == i; });
      ASSERT_EQ(got[i], row.size()) << i;
    }
  }
}

TYPED_TEST(line_test, nearest_neighbors_are_those_of_all_pairs) {
  using T = TypeParam;
  const backend_context context;
  for (std::uint64_t seed = 1; seed < 40; seed += 2) {
    SCOPED_TRACE(seed);
    const auto it = random_line<T>(seed);
    const auto stored = to_device(context, it.values);
    line_points<backend_context, T> line(context);
    auto nearest = make_nearest_neighbors(context, it.line, {.k = 3});
    nearest.build(line.view(stored.data(), it.count(), it.stride));
    nearest.search();
    nearest.check();
    const auto squared = to_host(context, nearest.view().squared_distances, 3 * it.count());
    for (std::size_t i = 0; i < it.count(); ++i) {
      std::vector<T> wanted;
      for (std::size_t j = 0; j < it.count(); ++j) {
        for (int shift = -2; shift <= 2; ++shift) {
          const T r = it.separation(i, j, shift);
          if ((j != i || shift != 0) && (it.line.periodic[0] || shift == 0)) wanted.push_back(r * r);
        }
      }
      std::sort(wanted.begin(), wanted.end());
      for (std::size_t k = 0; k < 3; ++k) ASSERT_EQ(squared[3 * i + k], wanted[k]) << i;
    }
  }
}

TYPED_TEST(line_test, clusters_are_runs_of_points) {
  using T = TypeParam;
  const backend_context context;
  const std::vector<T> values{T(9.9), T(0.2), T(3), T(3.25), T(3.5), T(6), T(0.5)};
  const auto stored = to_device(context, values);
  line_points<backend_context, T> line(context);
  auto finder = make_cluster_finder(context, make_box<T, 1>({0}, {10}, {true}), {.cutoff = T(0.4)});
  finder.find(line.view(stored.data(), values.size()));
  const cluster_view view = finder.view();
  EXPECT_EQ(to_host(context, view.labels, view.points), (std::vector<std::int32_t>{0, 0, 1, 1, 1, 2, 0}));
}

class line_on_backend : public backend_test {};

TEST_F(line_on_backend, what_is_refused_is_named) {
  const backend_context context;
  const auto line = make_box<double, 1>({0}, {10}, {true});
  expect_words(error_of<argument_error>([&] { static_cast<void>(make_neighbor_list(context, line, {.cutoff = -1})); }),
               {"the cutoff is -1"});
  expect_words(error_of<argument_error>([&] { static_cast<void>(make_cells(context, line, 5.5)); }),
               {"the cutoff 5.5 is more than half the periodic box"});
  expect_words(error_of<argument_error>([&] {
                 line_points<backend_context, double> points(context);
                 const double x = 0;
                 static_cast<void>(points.view(&x, 1, 0));
               }),
               {"the stride of the points is 0"});
}

/// As far apart as points on a line can be: the cost must follow them.
TEST_F(line_on_backend, long_lines_have_as_many_cells_as_points) {
  const backend_context context;
  const auto line = make_box<float, 1>({0}, {1e5f}, {false});
  auto cells = make_cells(context, line, 1.0f);
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(100 * i);
  const auto stored = to_device(context, values);
  line_points<backend_context, float> points(context);
  cells.build(points.view(stored.data(), values.size()));
  EXPECT_LE(cells.space().size(), 8192u);
}

}  // namespace

}  // namespace quadrat::test
