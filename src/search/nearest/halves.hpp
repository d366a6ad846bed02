// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "search/nearest/tree.hpp"

/// Puts points in the order of a balanced k-d tree (J. Friedman, J. Bentley, R. Finkel, "An algorithm for finding best
/// matches in logarithmic expected time", 1977): a block of successive points is divided at the median of its widest
/// axis, into halves that are blocks, down to the points of a leaf. The boxes of blocks do not overlap, whatever the
/// scales of the points. The points are sorted along each axis once; then each sorted list is divided into halves
/// without another sort.
namespace quadrat::detail {

/// Integers that compare like the numbers, which must not be NaN.
template <typename T>
[[nodiscard]] QUADRAT_HD auto ordered_bits(T value) {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr word sign = word{1} << (8 * sizeof(T) - 1);
  word bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return (bits & sign) != 0 ? static_cast<word>(~bits) : static_cast<word>(bits | sign);
}

/// The keys that sort points along an axis.
template <typename T, int D>
struct key_nearest_axis {
  const vec<T, D>* wrapped;
  int axis;
  decltype(ordered_bits(T()))* keys;
  QUADRAT_HD void operator()(std::size_t i) const { keys[i] = ordered_bits(wrapped[i][axis]); }
};

/// D lists of all points, one after the other. Each list has the same blocks, and sorts the points of a block along one
/// axis.
template <typename T, int D>
struct nearest_blocks {
  const vec<T, D>* wrapped;  ///< by id
  const particle_id* lists;
  std::size_t count;  ///< of points
  std::size_t half;   ///< of a block

  /// The axis along which the block of a place is widest.
  [[nodiscard]] QUADRAT_HD int widest_axis(std::size_t place) const {
    const std::size_t first = place - place % (2 * half);
    const std::size_t last = first + 2 * half < count ? first + 2 * half : count;
    int widest = 0;
    T most = T(0);
    for (int axis = 0; axis < D; ++axis) {
      const particle_id* const list = lists + static_cast<std::size_t>(axis) * count;
      const T width = wrapped[list[last - 1]][axis] * T(0.5) - wrapped[list[first]][axis] * T(0.5);  // no overflow
      if (width > most) widest = axis, most = width;
    }
    return widest;
  }
};

/// Index: place. Marks the points of the upper halves.
template <typename T, int D>
struct mark_upper_halves {
  nearest_blocks<T, D> blocks;
  std::uint8_t* upper;  ///< by id

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t list = static_cast<std::size_t>(blocks.widest_axis(i)) * blocks.count;
    upper[blocks.lists[list + i]] = i % (2 * blocks.half) >= blocks.half ? 1 : 0;
  }
};

/// Index: place in all lists. The counts whose prefix sums divide_halves needs, list by list.
struct count_upper_halves {
  const particle_id* lists;
  const std::uint8_t* upper;
  std::uint32_t* counts;
  QUADRAT_HD void operator()(std::size_t i) const { counts[i] = upper[lists[i]]; }
};

/// Index: place in all lists. Moves a point to its half, in order. All blocks but the last one are full.
struct divide_halves {
  const particle_id* lists;
  std::size_t count;
  std::size_t half;
  const std::uint8_t* upper;
  const std::uint32_t* before;  ///< in each list: points of upper halves
  particle_id* divided;

  QUADRAT_HD void operator()(std::size_t i) const {
    const particle_id id = lists[i];
    const std::size_t place = i % count, first = place - place % (2 * half);
    const std::size_t rank = before[i] - first / 2;
    divided[i - place + (upper[id] != 0 ? first + half + rank : place - rank)] = id;
  }
};

}  // namespace quadrat::detail
