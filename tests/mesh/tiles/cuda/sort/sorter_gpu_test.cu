// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/sort/sorter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "mesh/checks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

using detail::placed_point;
using detail::tile_grid;
using detail::tile_record;
using detail::tiled_point;

/// The plain form of tile_locator: tiles are numbered by row (their indices along the second and last axis), then along
/// the first axis.
template <typename T>
[[nodiscard]] QUADRAT_HD tiled_point<T> tile_of(const tile_grid& grid, const placed_point<T>& point, particle_id id) {
  using word = typename tile_record<T>::word;
  using signed_word = std::make_signed_t<word>;
  constexpr int bits = tile_record<T>::fraction_bits;
  constexpr word one = word{1} << bits;
  tiled_point<T> result{};
  int tile[3];
  for (int axis = 0; axis < 3; ++axis) {
    const int from = point.first[axis] - grid.origin[axis];
    tile[axis] = static_cast<int>(static_cast<unsigned>(from) / static_cast<unsigned>(grid.edge[axis]));
    int offset = from - tile[axis] * grid.edge[axis];
    if (axis == 0) offset = from - tile[0] / grid.segment * grid.segment * grid.edge[0];
    // Relative to the middle, because a place has more digits there than as a fraction from 0 to 1.
    const auto centered = static_cast<signed_word>(point.place[axis] * static_cast<T>(one));
    const word fraction = (static_cast<word>(centered) + one / 2) & (one - 1);
    result.record.place[axis] = static_cast<word>(offset) << bits | fraction;
  }
  result.record.id = id;
  result.tile = (static_cast<std::uint32_t>(tile[1]) * static_cast<std::uint32_t>(grid.tiles[2]) +
                 static_cast<std::uint32_t>(tile[2])) *
                    static_cast<std::uint32_t>(grid.segments * grid.segment) +
                static_cast<std::uint32_t>(tile[0]);
  result.tile = result.tile * static_cast<std::uint32_t>(grid.slices) + id / grid.slice_points;
  return result;
}

/// A mesh with points given in units of its box; in two dimensions there is no first axis.
struct tile_case {
  int dimension = 3;
  std::array<int, 3> extent{24, 30, 21};
  int width = 4;
  bool periodic = true;
  bool clip = false;
  int edge = 3;
  int segment = 2;
  int slices = 1;
};

/// Index: point.
template <typename T>
struct expect_tile {
  detail::tile_grid grid;
  detail::point_placement<T> placement;
  detail::tiled_point<T>* expected;

  QUADRAT_HD void operator()(std::size_t i) const {
    expected[i] = tile_of(grid, placement(i), static_cast<particle_id>(i));
  }
};

detail::tile_grid grid_of(const tile_case& it, std::size_t count) {
  detail::tile_grid grid{};
  grid.slices = it.slices;
  grid.slice_points = static_cast<std::uint32_t>(count / static_cast<std::size_t>(it.slices) + 1);
  grid.layers = 1;
  grid.shape.first_axis = 3 - it.dimension;
  for (int axis = 0; axis < 3; ++axis) {
    const bool there = axis >= grid.shape.first_axis;
    grid.shape.extent[axis] = there ? it.extent[static_cast<std::size_t>(axis)] : 1;
    grid.shape.width[axis] = there ? it.width : 1;
    grid.shape.periodic[axis] = there ? it.periodic : true;
    const bool beyond = there && it.clip && !it.periodic;
    grid.origin[axis] = beyond ? -it.width : 0;
    const int starts = grid.shape.extent[axis] + (beyond ? it.width + 1 : 0);
    grid.edge[axis] = std::min(it.edge, starts);
    grid.tiles[axis] = (starts + grid.edge[axis] - 1) / grid.edge[axis];
  }
  grid.segment = std::min(it.segment, grid.tiles[0]);
  grid.segments = (grid.tiles[0] + grid.segment - 1) / grid.segment;
  grid.inverse_edge = (1 << 16) / grid.edge[0] + 1;
  return grid;
}

template <typename T>
class tile_sort : public backend_test {
 protected:
  void SetUp() override {
    backend_test::SetUp();
    if (!IsSkipped()) device_.emplace();
  }

  /// Packed points in a unit box.
  detail::point_placement<T> placement_of(const tile_case& it, const detail::tile_grid& grid, const T* points,
                                          std::size_t count) {
    box<T, 3> domain{};
    for (int axis = 0; axis < 3; ++axis) {
      domain.lower[axis] = T(0);
      domain.length[axis] = T(1);
      domain.periodic[axis] = it.periodic;
    }
    detail::point_placement<T> placement{};
    for (int axis = grid.shape.first_axis; axis < 3; ++axis) {
      placement.axis[axis] = detail::make_mesh_axis(domain, axis, grid.shape.extent[axis], grid.shape.width[axis]);
      placement.component[axis] = points + axis;
    }
    placement.stride = 3;
    placement.count = count;
    placement.clip = it.clip;
    placement.faults = device_->faults.flag();
    return placement;
  }

  /// Sorts twice, the second time over what the first has left, and checks everything. `points`: packed triples.
  void expect_sorted(const tile_case& it, const std::vector<T>& points, bool ordered,
                     fault_kind fault = fault_kind::none) {
    const std::size_t count = points.size() / 3;
    const detail::tile_grid grid = grid_of(it, count);
    const auto given = to_device(device_->context, points);
    const auto placement = placement_of(it, grid, given.data(), count);
    array<detail::tiled_point<T>, cuda_context> expected(device_->context, count);
    for_each(device_->context, "test.expect", count, expect_tile<T>{grid, placement, expected.data()});
    device_->faults.clear(device_->context);
    array<detail::tile_record<T>, cuda_context> records(device_->context, count);
    for (int round = 0; round < 2; ++round) {
      fill_bytes(device_->context, records.data(), 0xff, records.bytes());
      const std::uint32_t* const offsets =
          device_->sorter.sort(device_->context, grid, placement, placement.count, ordered, records.data());
      EXPECT_EQ(device_->faults.read(device_->context).kind, fault);
      if (fault == fault_kind::none) {
        compare(to_host(device_->context, expected), to_host(device_->context, records),
                to_host(device_->context, offsets, grid.tile_count() + 1), ordered);
      }
      if (HasFatalFailure()) return;
    }
  }

  void expect_no_more_bytes_than_said(std::size_t count, bool ordered) const {
    const std::size_t tiles = grid_of({}, count).tile_count();
    EXPECT_GT(device_->sorter.bytes(), 0u);
    EXPECT_LE(device_->sorter.bytes(), detail::tile_sorter<T>::bytes_needed(count, tiles, ordered));
  }

  [[nodiscard]] static std::vector<T> uniform_points(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<T> points(3 * count);
    for (T& x : points) x = random_unit<T>(random);
    return points;
  }

 private:
  static void compare(const std::vector<detail::tiled_point<T>>& expected,
                      const std::vector<detail::tile_record<T>>& records, const std::vector<std::uint32_t>& offsets,
                      bool ordered) {
    ASSERT_EQ(offsets.front(), 0u);
    ASSERT_EQ(offsets.back(), expected.size());
    std::vector<bool> seen(expected.size(), false);
    for (std::size_t tile = 0; tile + 1 < offsets.size(); ++tile) {
      ASSERT_LE(offsets[tile], offsets[tile + 1]) << "tile " << tile;
      for (std::size_t slot = offsets[tile]; slot < offsets[tile + 1]; ++slot) {
        const detail::tile_record<T>& record = records[slot];
        ASSERT_LT(record.id, expected.size()) << "slot " << slot;
        ASSERT_FALSE(seen[record.id]) << "point " << record.id << " twice";
        seen[record.id] = true;
        ASSERT_EQ(expected[record.id].tile, tile) << "point " << record.id;
        for (int axis = 0; axis < 3; ++axis) {
          ASSERT_EQ(record.place[axis], expected[record.id].record.place[axis]) << "point " << record.id;
        }
        if (ordered && slot > offsets[tile]) {
          ASSERT_LT(records[slot - 1].id, record.id) << "slot " << slot;
        }
      }
    }
  }

  struct on_device {
    cuda_context context;
    fault_state<cuda_context> faults{context};
    detail::tile_sorter<T> sorter;
  };
  std::optional<on_device> device_;
};

using tile_sort_types = testing::Types<float, double>;
TYPED_TEST_SUITE(tile_sort, tile_sort_types);

TYPED_TEST(tile_sort, every_point_stands_once_in_its_tile) {
  const std::vector<std::size_t> counts{0, 1, 1000, size_or(300'001, 5000), size_or(200'000, 3000)};
  for (const bool ordered : {false, true}) {
    for (const std::size_t count : counts) this->expect_sorted({}, this->uniform_points(count, count + 1), ordered);
  }
}

TYPED_TEST(tile_sort, tiles_of_every_mesh_are_told_apart) {
  const std::size_t count = size_or(250'000, 2000);
  const auto points = this->uniform_points(count, 3);
  this->expect_sorted({.extent = {1, 1, 1}, .width = 1}, points, false);
  this->expect_sorted({.dimension = 2, .extent = {1, 40, 50}}, points, false);
  this->expect_sorted({.dimension = 1, .extent = {1, 1, 700}, .width = 3}, points, false);
  this->expect_sorted({.extent = {40, 31, 60}, .periodic = false, .clip = true}, points, false);
  if (!small_sizes()) {
    this->expect_sorted({.extent = {200, 210, 220}, .edge = 1, .segment = 8}, points, false);  // more than 2^23
    this->expect_sorted({.extent = {200, 200, 200}, .edge = 1, .segment = 8}, points, false);
  }
}

TYPED_TEST(tile_sort, crowded_tiles_and_empty_ranges_are_right) {
  const std::size_t count = size_or(400'000, 3000);
  auto points = this->uniform_points(count, 5);
  const tile_case fine{.extent = {64, 64, 64}};
  for (std::size_t i = 0; i < count / 2; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) points[6 * i + axis] = TypeParam(0.4) + points[6 * i + axis] / 8;
  }
  this->expect_sorted(fine, points, false);
  for (TypeParam& x : points) x = TypeParam(0.3) + x / 16;  // the last tiles and most ranges are empty
  this->expect_sorted(fine, points, false);
  for (TypeParam& x : points) x = TypeParam(0.99);
  this->expect_sorted(fine, points, false);
  this->expect_sorted(fine, points, true);
}

TYPED_TEST(tile_sort, millions_of_points_are_sorted) {
  if (small_sizes()) {
    GTEST_SKIP() << "too long when every access is checked";
  }
  this->expect_sorted({.extent = {128, 128, 128}}, this->uniform_points(3'000'000, 7), false);
}

TYPED_TEST(tile_sort, slices_have_tiles_of_their_own) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, size_or(300'001, 3000)}) {
    for (const int slices : {2, 5}) {
      this->expect_sorted({.slices = slices}, this->uniform_points(count, 15), false);
      this->expect_sorted({.dimension = 2, .extent = {1, 40, 50}, .slices = slices}, this->uniform_points(count, 17),
                          false);
    }
  }
}

TYPED_TEST(tile_sort, holds_no_more_memory_than_it_says) {
  const std::size_t count = size_or(300'000, 5000);
  this->expect_sorted({}, this->uniform_points(count, 13), false);
  this->expect_no_more_bytes_than_said(count, false);
}

TYPED_TEST(tile_sort, holds_no_more_memory_than_it_says_where_ids_are_in_order) {
  const std::size_t count = size_or(300'000, 5000);
  this->expect_sorted({}, this->uniform_points(count, 13), true);
  this->expect_no_more_bytes_than_said(count, true);
}

TYPED_TEST(tile_sort, point_that_is_no_number_raises_a_fault) {
  for (const std::size_t count : {std::size_t{1000}, std::size_t{300'000}}) {
    auto points = this->uniform_points(count, 9);
    points[3 * (count / 2) + 1] = std::numeric_limits<TypeParam>::quiet_NaN();
    this->expect_sorted({}, points, false, fault_kind::not_finite);
  }
}

TYPED_TEST(tile_sort, footprint_outside_an_open_mesh_raises_a_fault_and_harms_nothing) {
  const std::size_t count = size_or(300'000, 2000);
  this->expect_sorted({.periodic = false}, this->uniform_points(count, 11), false, fault_kind::value_range);
}

}  // namespace

}  // namespace quadrat::test
