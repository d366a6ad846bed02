// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/levels/sizes.hpp"

namespace quadrat::detail {

/// The points of a range of sizes.
struct radius_level {
  double end;  ///< upper bound of their sizes, as a fraction of the largest
  std::uint64_t points;

  bool operator==(const radius_level&) const = default;
};

/// Points are stored in layers, each with cells of one size. Layer k holds level k. Layer levels + k holds a copy
/// of all finer levels, in cells that fit level k, if `copied`. A large point then finds many small ones in few
/// cells.
struct radius_plan {
  std::vector<radius_level> levels;    ///< finest first; at least one
  std::vector<std::uint64_t> copied;   ///< by level: points in its copy of all finer levels, or 0: not made
  std::vector<std::uint32_t> visited;  ///< by level: bits of the layers that its points are searched in

  /// The largest size in a layer, as a fraction of the largest of all.
  [[nodiscard]] double widest(std::size_t layer) const {
    return layer < levels.size() ? levels[layer].end : levels[layer - levels.size() - 1].end;
  }
};

/// One level for all points.
[[nodiscard]] radius_plan plan_of_one_level(std::uint64_t points);

/// Chooses levels for the numbers of points by class (radius_class). `adds`: whether a cutoff is the sum of two sizes.
[[nodiscard]] radius_plan plan_radius_levels(std::span<const std::uint64_t> counts, bool adds, int dimension);

}  // namespace quadrat::detail
