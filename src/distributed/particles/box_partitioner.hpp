// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

/// What a library of load balancing does for blocks of cells.
namespace quadrat::detail {

/// Where one part begins and ends along each axis; infinite where it has no neighbor.
struct part_box {
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  std::array<double, 3> lower{-infinite, -infinite, -infinite};
  std::array<double, 3> upper{infinite, infinite, infinite};
};

/// A communicator that can divide weighted places among its ranks by cuts across the axes.
class box_partitioner {
 public:
  box_partitioner() = default;
  box_partitioner(const box_partitioner&) = delete;
  box_partitioner& operator=(const box_partitioner&) = delete;
  virtual ~box_partitioner() = default;

  /// Boxes of nearly equal weight, one for each rank, in any order: recursive coordinate bisection. `places`: those of
  /// this rank, `dimensions` numbers each; `weights`: of each. The same result on all ranks; empty where that is not
  /// possible. Collective.
  [[nodiscard]] virtual std::vector<part_box> partition(int dimensions, std::span<const double> places,
                                                        std::span<const float> weights) = 0;
};

}  // namespace quadrat::detail
