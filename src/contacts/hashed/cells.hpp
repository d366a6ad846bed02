// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "contacts/bodies/domains.hpp"
#include "contacts/bodies/placed.hpp"
#include "contacts/bodies/size_histogram.hpp"
#include "contacts/levels/grids.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/cell_index.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// Cells of several sizes in the domain of each system, none of which is stored: a body carries the name of its cell,
/// and a bucket of a hash table holds the bodies of several cells.
namespace quadrat::detail {

/// Which cell: of a system, on a level, at indices modulo 2^32.
struct cell_name {
  vec<std::uint32_t, 3> at;
  std::uint32_t level;  ///< system * most_levels + level
};

/// Cells in each direction that have buckets side by side.
inline constexpr std::uint32_t block_cells = 4;

/// Indices along an axis, modulo the cells of a periodic axis or 2^32.
struct cell_span {
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t cells;  ///< of the axis; 0: without end

  [[nodiscard]] QUADRAT_HD std::uint32_t operator[](std::uint32_t k) const {
    const std::uint32_t index = first + k;
    return cells != 0 && index >= cells ? index - cells : index;
  }
  /// How many from the k-th on, which has this index, are in its block and before the end of the axis.
  [[nodiscard]] QUADRAT_HD std::uint32_t together(std::uint32_t k, std::uint32_t index) const {
    std::uint32_t most = block_cells - index % block_cells;
    if (cells != 0 && most > cells - index) most = cells - index;
    return most < count - k ? most : count - k;
  }
};

/// floor of a coordinate modulo 2^32; NaN and infinity give 0.
template <typename T>
[[nodiscard]] QUADRAT_HD std::uint32_t turned_index(T coordinate) {
  constexpr T bound = T(1 << 30), turn = T(4) * bound;
  if (coordinate > -bound && coordinate < bound) return static_cast<std::uint32_t>(floor_to_int(coordinate));
  const T whole = std::floor(coordinate);
  const T rest = std::fma(-std::floor(whole / turn), turn, whole);
  return rest >= T(0) && rest < turn ? static_cast<std::uint32_t>(rest) : 0;
}

/// The cells along an axis of a domain. An open axis has no end. Along a periodic one a whole number of cells is at
/// least as long as asked for, and longer than rounding.
template <typename T>
struct cell_axis {
  T from;
  T rate;   ///< cells per length
  T cells;  ///< 0: without end

  QUADRAT_HD cell_axis(const box<T, 3>& domain, int axis, T edge) : from(T(0)), rate(T(1) / edge), cells(T(0)) {
    if (!domain.periodic[axis]) return;
    constexpr T most = sizeof(T) == 4 ? T(1 << 18) : T(1 << 29);
    cells = std::fmax(std::fmin(std::floor(domain.length[axis] / edge), most), T(1));
    rate = cells / domain.length[axis];
    from = domain.lower[axis];
  }
  /// Monotonic, also in floating point.
  [[nodiscard]] QUADRAT_HD T coordinate(T x) const { return (x - from) * rate; }
  [[nodiscard]] QUADRAT_HD std::uint32_t index(T x) const {
    if (cells == T(0)) return turned_index(coordinate(x));
    return static_cast<std::uint32_t>(clamped_index(floor_to_int(coordinate(x)), static_cast<int>(cells)));
  }
  /// The cells of all bodies within this distance of x; false if there are `most` or more.
  QUADRAT_HD bool reach(T x, T distance, std::size_t most, cell_span& span) const {
    if (cells != T(0)) return reach_around(coordinate(x), distance * rate, most, span);
    // Rounded subtraction, products and floor are monotonic: no body within the distance is in a cell outside.
    const T low = coordinate(x - distance), high = coordinate(x + distance);
    const auto farthest = static_cast<T>(most < most_cells_apart ? most : most_cells_apart);
    if (!(high - low < farthest)) return false;
    const std::uint32_t first = turned_index(low);
    span = {first, turned_index(high) - first + 1, 0};
    return span.count < most;
  }

 private:
  static constexpr std::size_t most_cells_apart = std::size_t{1} << 30;

  QUADRAT_HD bool reach_around(T center, T distance, std::size_t most, cell_span& span) const {
    // Coordinates and separations of images round by a few units of the whole axis.
    const T margin = distance + T(16) * rounding_unit<T> * cells;
    const int all = static_cast<int>(cells);
    span = {0, static_cast<std::uint32_t>(all), static_cast<std::uint32_t>(all)};
    if (T(2) * margin < cells) {
      const int first = floor_to_int(center - margin), last = floor_to_int(center + margin);
      span.first = static_cast<std::uint32_t>(first < 0 ? first + all : first);
      if (last - first + 1 < all) {
        span.count = static_cast<std::uint32_t>(last - first + 1);
      } else {
        span.first = 0;
      }
    }
    return span.count < most;
  }
};

/// Levels of cells, finest first. A body is in the cell of its center, on the first level that is wide enough for it.
template <typename T>
struct hashed_levels {
  int count;
  T widest[most_levels];  ///< largest half extent on a level; increasing

  /// Partners on the same level are in the cells beside that of a body.
  [[nodiscard]] QUADRAT_HD T edge(int level) const { return T(2) * widest[level]; }
  /// The level of a body; bodies wider than planned get the last level.
  [[nodiscard]] QUADRAT_HD int level_of(T half_extent) const {
    int level = 0;
    while (level + 1 < count && half_extent > widest[level]) ++level;
    return level;
  }
  /// As level_grids::widest_of.
  [[nodiscard]] QUADRAT_HD T widest_of(int level, std::uint64_t largest) const {
    return level + 1 < count ? widest[level] : std::fmax(widest[level], size_of_bits<T>(largest));
  }
  [[nodiscard]] QUADRAT_HD cell_name cell_of(const placed_body<T>& body, const system_domains<T>& domains) const {
    const int level = level_of(body.widest());
    const box<T, 3>& domain = domains.of(body.id);
    cell_name name{};
    name.level = domains.system_of(body.id) * most_levels + static_cast<std::uint32_t>(level);
    for (int axis = 0; axis < 3; ++axis) {
      name.at[axis] = cell_axis<T>(domain, axis, edge(level)).index(body.center[axis]);
    }
    return name;
  }
};

/// Buckets, a power of two of them. A block of 4^3 cells has 64 buckets side by side, where its name is mixed to (the
/// steps of MurmurHash3, A. Appleby), with x fastest: what is searched together is together in memory. Blocks begin
/// with any of their rows, so that lines and sheets of bodies do not crowd.
struct cell_buckets {
  static constexpr std::uint32_t least = block_cells * block_cells * block_cells;
  std::uint32_t mask;

  [[nodiscard]] QUADRAT_HD static std::uint32_t mix_level(std::uint32_t level) { return level * 0x9e3779b1u; }
  /// Mixes in the index of a block, along z, then y, then x.
  [[nodiscard]] QUADRAT_HD static std::uint32_t mix_index(std::uint32_t mixed, std::uint32_t index) {
    mixed = (mixed ^ index / block_cells) * 0x85ebca6bu;
    mixed = (mixed ^ mixed >> 15) * 0xc2b2ae35u;
    return mixed ^ mixed >> 13;
  }
  /// The bucket of a cell, whose block is mixed to this.
  [[nodiscard]] QUADRAT_HD std::uint32_t of(std::uint32_t mixed, const vec<std::uint32_t, 3>& at) const {
    const std::uint32_t row = at[2] % block_cells * block_cells + at[1] % block_cells + (mixed >> 28);
    const std::uint32_t within = row % (least / block_cells) * block_cells + at[0] % block_cells;
    return (mixed * least + within) & mask;
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t of(const cell_name& name) const {
    std::uint32_t mixed = mix_level(name.level);
    for (int axis = 2; axis >= 0; --axis) mixed = mix_index(mixed, name.at[axis]);
    return of(mixed, name.at);
  }
};

}  // namespace quadrat::detail
