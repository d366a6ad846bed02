// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/tiles/cuda/grid.hpp"
#include "quadrat/core/macros.hpp"

/// The division of the points of segments among warps.
namespace quadrat::detail {

/// Work divided into units, each within one segment: all points of a segment, or those of one slice. All segments of a
/// slice come before those of the next.
struct segment_share {
  tile_grid grid;
  const std::uint32_t* offsets;
  std::uint32_t most_points;
  bool sliced;

  [[nodiscard]] QUADRAT_HD std::size_t count() const {
    return grid.segment_count() * static_cast<std::size_t>(sliced ? grid.slices : 1);
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t segment(std::size_t i) const {
    return static_cast<std::uint32_t>(i % grid.segment_count());
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t begin(std::size_t i) const { return offsets[first_tile(i)]; }
  [[nodiscard]] QUADRAT_HD std::uint32_t points(std::size_t i) const {
    return offsets[first_tile(i) + (sliced ? 1 : grid.segment_tiles())] - begin(i);
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t pieces(std::size_t i) const {
    return (points(i) + most_points - 1) / most_points;
  }

 private:
  [[nodiscard]] QUADRAT_HD std::size_t first_tile(std::size_t i) const {
    return segment(i) * grid.segment_tiles() + i / grid.segment_count();
  }
};

/// The last of `count` segments whose first item, first_of(segment), is at most `item`: the one that contains it.
/// Threads find the segment of an item rather than the items of a segment, because one segment may have them all.
template <typename First>
[[nodiscard]] QUADRAT_HD std::size_t segment_of(std::size_t count, std::uint32_t item, const First& first_of) {
  std::size_t low = 0, high = count;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (first_of(middle) <= item ? low : high) = middle;
  }
  return low;
}

/// Index: of the share.
struct count_units {
  segment_share share;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t i) const { counts[i] = share.pieces(i); }
};

/// Index: unit, some of which do not exist. Points are divided evenly.
struct fill_units {
  segment_share share;
  std::size_t count;
  const std::uint32_t* firsts;
  tile_unit* units;

  QUADRAT_HD void operator()(std::size_t unit) const {
    const auto number = static_cast<std::uint32_t>(unit);
    if (number >= firsts[count]) return;
    const std::size_t i = segment_of(count, number, [&](std::size_t s) { return firsts[s]; });
    const std::uint32_t begin = share.begin(i), points = share.points(i);
    const std::uint64_t piece = number - firsts[i], pieces = share.pieces(i);
    units[unit] = {begin + static_cast<std::uint32_t>(points * piece / pieces),
                   begin + static_cast<std::uint32_t>(points * (piece + 1) / pieces), share.segment(i)};
  }
};

}  // namespace quadrat::detail
