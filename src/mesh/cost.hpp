// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>

#include "mesh/engine.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// The plan that a method is chosen for, from which its record computes the expected cost.
struct spread_request {
  bool cuda;
  determinism level;
  double points;
  double nodes;
  double bytes;  ///< of the mesh
  double work;   ///< contributions, in units of those of a point of order 6 in three dimensions
  double uses;   ///< calls of spread per set of points
  int width;     ///< of the window, in mesh points

  /// Total milliseconds, from those of set_points and of one spread.
  [[nodiscard]] constexpr double total(double set_points, double spread) const { return set_points + uses * spread; }
  /// Milliseconds to fill the mesh with zeros, on a GPU.
  [[nodiscard]] constexpr double clear() const { return bytes / 3.3e9; }
};

template <typename T>
[[nodiscard]] spread_request request_of(bool cuda, determinism level, const spread_setup<T>& setup, std::size_t count) {
  const auto points = static_cast<double>(count), nodes = static_cast<double>(setup.shape.size());
  const double work = points * setup.shape.footprint_size() / 216;
  return {cuda, level, points, nodes, nodes * sizeof(T), work, setup.options.uses, setup.window.width};
}

}  // namespace quadrat::detail
