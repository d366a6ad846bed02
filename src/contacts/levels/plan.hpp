// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "contacts/bodies/size_histogram.hpp"
#include "contacts/levels/grids.hpp"
#include "quadrat/core/box.hpp"

namespace quadrat::detail {

/// The levels, the sizes of their cells, and the reason.
template <typename T>
struct level_plan {
  level_grids<T> grids;
  T finest_edge;       ///< of cells of the first level, along y and z; along x usually half of that
  std::string reason;  ///< one line
};

/// Chooses levels for bodies of these sizes, spread evenly over the domain: the division of the size classes into at
/// most most_levels ranges with the least expected work. Work is a weighted sum of bodies tested, rows of cells read,
/// and cells stored (for the measured weights see plan_host.cpp). A given bin size times powers of two gives the edges.
/// A body is then on the first level whose cells are at least as long as the body (or on the last level), and empty
/// levels are omitted. Throws argument_error if the bin size needs more than 2^31 - 1 cells, and names a size that
/// works.
template <typename T>
[[nodiscard]] level_plan<T> plan_levels(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size);

}  // namespace quadrat::detail
