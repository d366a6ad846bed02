// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/folding.hpp"
#include "quadrat/core/grid.hpp"

namespace quadrat::detail {

/// The grid of a cell list: the given one, or folded for the points of each build.
template <typename T, int D>
class foldable_grid {
 public:
  /// `reach` 0: never folded.
  foldable_grid(const grid<T, D>& given, T reach, bool cubic = false)
      : given_(given), current_(given), reach_(reach), cubic_(cubic) {
    if (reach_ > T(0)) current_ = folded(given_, {0, reach_, cubic_});
  }

  /// The grid of the last build.
  [[nodiscard]] const grid<T, D>& current() const { return current_; }
  /// Whether a build with that many points may need a different grid.
  [[nodiscard]] bool changes(std::size_t points) const { return reach_ > T(0) && points != points_; }
  /// The grid for a build with that many points.
  [[nodiscard]] grid<T, D> fitted(std::size_t points) const {
    return changes(points) ? folded(given_, {points, reach_, cubic_}) : current_;
  }
  /// Makes fitted(points) the current grid.
  void take(const grid<T, D>& fitted, std::size_t points) {
    current_ = fitted;
    points_ = points;
  }

 private:
  grid<T, D> given_;
  grid<T, D> current_;
  T reach_;
  bool cubic_;
  std::size_t points_ = 0;
};

}  // namespace quadrat::detail
