// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

/// Load balancing of blocks of cells by a library.
namespace quadrat::detail {

/// The extent of one part along each axis; infinite on sides without a neighbor.
struct part_box {
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  std::array<double, 3> lower{-infinite, -infinite, -infinite};
  std::array<double, 3> upper{infinite, infinite, infinite};
};

/// An interface of communicators that can divide weighted points among their ranks by cuts across the axes.
class box_partitioner {
 public:
  box_partitioner() = default;
  box_partitioner(const box_partitioner&) = delete;
  box_partitioner& operator=(const box_partitioner&) = delete;
  virtual ~box_partitioner() = default;

  /// Boxes of nearly equal weight, one per rank, in any order, by recursive coordinate bisection. `places`: the points
  /// of this rank, `dimensions` numbers each; `weights`: one per point. The same result on all ranks; empty if the
  /// library cannot do it. Collective.
  [[nodiscard]] virtual std::vector<part_box> partition(int dimensions, std::span<const double> places,
                                                        std::span<const float> weights) = 0;
};

}  // namespace quadrat::detail
