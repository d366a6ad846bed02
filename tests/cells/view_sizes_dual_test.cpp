// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "quadrat/cells/make_cells.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/search/lattice_cells.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// Views say how long their arrays are.

namespace quadrat::test {

namespace {

class cell_views : public backend_test {
 protected:
  static constexpr std::size_t count = 500;
  box<float, 2> domain_ = make_box<float, 2>({0, 0}, {1, 1}, {true, true});
  std::vector<vec<float, 2>> points_ = [] {
    std::vector<vec<float, 2>> result;
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < count; ++i) result.push_back({random_unit<float>(random), random_unit<float>(random)});
    return result;
  }();

  /// `elements`: ids of all points, each once.
  static void expect_all(const backend_context& context, const particle_id* elements, std::size_t size) {
    ASSERT_EQ(size, count);
    std::vector<particle_id> ids = to_host(context, elements, size), all(count);
    std::iota(all.begin(), all.end(), particle_id{0});
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, all);
  }
};

TEST_F(cell_views, of_ranges_have_the_numbers_of_buckets_and_elements) {
  for (const backend_context& context : all_contexts()) {
    const auto stored = to_device(context, points_);
    const auto points = points_of(stored);
    auto counting = make_cells<cell_methods::counting>(context, domain_, 0.1f);
    counting.build(points);
    const auto counted = counting.view().buckets;
    EXPECT_EQ(counted.bucket_count, counting.space().size());
    EXPECT_EQ(to_host(context, counted.offsets + counted.bucket_count, 1)[0], count) << "the end of the last";
    expect_all(context, counted.elements, counted.count);
    auto sorted = make_cells<cell_methods::sorted>(context, domain_, 0.1f);
    sorted.build(points);
    const auto ranges = sorted.view().buckets;
    EXPECT_EQ(ranges.bucket_count, sorted.space().size());
    expect_all(context, ranges.elements, ranges.count);
    auto hashed = make_cells<cell_methods::hashed>(context, domain_, 0.1f);
    hashed.build(points);
    expect_all(context, hashed.view().buckets.elements, hashed.view().buckets.count);
  }
}

TEST_F(cell_views, of_linked_lists_have_the_numbers_of_heads_and_links) {
  const backend_context context;
  const auto stored = to_device(context, points_);
  auto linked = make_cells<cell_methods::linked_loose>(context, domain_, 0.1f);
  linked.build(points_of(stored));
  EXPECT_EQ(linked.view().buckets.bucket_count, linked.space().size());
  EXPECT_EQ(linked.view().buckets.count, count);
}

TEST_F(cell_views, of_lattice_cells_have_the_number_of_slots) {
  const backend_context context;
  const auto stored = to_device(context, points_);
  auto cells = make_lattice_cells(context, domain_, {.cutoff = 0.1f});
  cells.build(points_of(stored));
  const auto view = cells.view();
  ASSERT_EQ(view.count, count);
  EXPECT_EQ(to_host(context, view.offsets + view.grid.cell_count(), 1)[0], count);
}

}  // namespace

}  // namespace quadrat::test
