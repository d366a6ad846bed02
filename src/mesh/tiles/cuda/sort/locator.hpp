// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "mesh/tiles/cuda/grid.hpp"

namespace quadrat::detail {

/// Exact division of numbers below 2^21 by a divisor of at most 2^10: the error of the rounded reciprocal stays below
/// 2^31 / 2^31.
struct exact_divisor {
  std::uint32_t divisor;
  std::uint32_t reciprocal;

  explicit exact_divisor(int number)
      : divisor(static_cast<std::uint32_t>(number)), reciprocal(((1u << 31) + divisor - 1) / divisor) {}
  [[nodiscard]] QUADRAT_HD std::uint32_t quotient(std::uint32_t number) const {
    return static_cast<std::uint32_t>(std::uint64_t{number} * reciprocal >> 31);
  }
};

/// Finds the tile of a point, and its record. Tiles are numbered by row (their indices along the second and last axis),
/// then along the first axis, then by slice. Gives an existing tile for any point.
template <typename T>
struct tile_locator {
  tile_grid grid;
  exact_divisor edge[3];
  exact_divisor segment;
  std::uint32_t last_tile;

  explicit tile_locator(const tile_grid& of)
      : grid(of),
        edge{exact_divisor(of.edge[0]), exact_divisor(of.edge[1]), exact_divisor(of.edge[2])},
        segment(of.edge[0] * of.segment),
        last_tile(static_cast<std::uint32_t>(of.tile_count() - 1)) {}

  [[nodiscard]] QUADRAT_HD tiled_point<T> operator()(const placed_point<T>& point, particle_id id) const {
    using word = typename tile_record<T>::word;
    using signed_word = std::make_signed_t<word>;
    constexpr int bits = tile_record<T>::fraction_bits;
    constexpr word one = word{1} << bits;
    tiled_point<T> result{};
    std::uint32_t tile[3];
    QUADRAT_UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      const auto from = static_cast<std::uint32_t>(point.first[axis] - grid.origin[axis]);
      tile[axis] = edge[axis].quotient(from);
      const exact_divisor& whole = axis == 0 ? segment : edge[axis];
      const std::uint32_t offset = from - whole.quotient(from) * whole.divisor;
      // Relative to the middle, because a place has more digits there than as a fraction from 0 to 1.
      const auto centered = static_cast<signed_word>(point.place[axis] * static_cast<T>(one));
      const word fraction = (static_cast<word>(centered) + one / 2) & (one - 1);
      result.record.place[axis] = static_cast<word>(offset) << bits | fraction;
    }
    result.record.id = id;
    std::uint32_t number = (tile[1] * static_cast<std::uint32_t>(grid.tiles[2]) + tile[2]) *
                               static_cast<std::uint32_t>(grid.segments * grid.segment) +
                           tile[0];
    if (grid.slices > 1) number = number * static_cast<std::uint32_t>(grid.slices) + id / grid.slice_points;
    result.tile = number < last_tile ? number : last_tile;
    return result;
  }
};

}  // namespace quadrat::detail
