// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "quadrat/search/cluster_pairs.hpp"

/// The numbers of staged_places, from the masks.
namespace quadrat::detail {

struct row_masks {
  std::size_t rows;
  const std::uint64_t* offsets;  ///< rows + 1: tiles of the rows
  const std::uint64_t* words;    ///< groups_of_row a tile
};

/// Index: a point's place. The index of the first place of a row does the whole row of 32; the others do nothing. With
/// one index per point, small sets also use all threads.
struct count_places {
  row_masks masks;
  std::uint32_t* counts;  ///< rows: numbers

  void operator()(std::size_t i) const {
    if (i % points_of_row != 0) return;
    const std::size_t row = i / points_of_row;
    const std::uint64_t first = masks.offsets[row], last = masks.offsets[row + 1];
    std::uint64_t count = (last - first + tiles_of_stage - 1) / tiles_of_stage * points_of_row;
    for (std::uint64_t word = groups_of_row * first; word < groups_of_row * last; ++word) {
      count += static_cast<std::uint64_t>(std::popcount(masks.words[word]));
    }
    counts[row] = static_cast<std::uint32_t>(count);
  }
};

struct fill_places {
  row_masks masks;
  const std::uint64_t* offsets;  ///< rows: where the numbers of a row begin
  std::uint16_t* numbers;

  void operator()(std::size_t i) const {
    if (i % points_of_row != 0) return;
    const std::size_t row = i / points_of_row;
    std::uint16_t* to = numbers + offsets[row];
    const std::uint64_t last = masks.offsets[row + 1];
    for (std::uint64_t tile = masks.offsets[row]; tile < last; tile += tiles_of_stage) {
      const std::uint64_t here = std::min<std::uint64_t>(tiles_of_stage, last - tile);
      for (std::size_t p = 0; p < points_of_row; ++p) to = fill(tile, here, p, to);
    }
  }

 private:
  /// The number of places of point p, and the places; returns where the next begin.
  std::uint16_t* fill(std::uint64_t first, std::uint64_t tiles, std::size_t p, std::uint16_t* to) const {
    constexpr std::uint64_t at_once = 8;
    const std::uint64_t* const words = masks.words + groups_of_row * first + p / points_of_group;
    const std::size_t shift = points_of_group * (p % points_of_group);
    std::uint16_t* const head = to++;
    for (std::uint64_t tile = 0; tile < tiles; tile += at_once) {
      std::uint64_t bits = 0;
      for (std::uint64_t t = 0; t < std::min(at_once, tiles - tile); ++t) {
        bits |= (words[groups_of_row * (tile + t)] >> shift & 0xff) << points_of_group * t;
      }
      for (; bits != 0; bits &= bits - 1) {
        *to++ = static_cast<std::uint16_t>(points_of_group * tile + static_cast<unsigned>(std::countr_zero(bits)));
      }
    }
    *head = static_cast<std::uint16_t>(to - head - 1);
    return to;
  }
};

}  // namespace quadrat::detail
