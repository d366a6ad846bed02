// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "contacts/bodies/size_histogram.hpp"
#include "contacts/levels/grids.hpp"
#include "quadrat/core/box.hpp"

namespace quadrat::detail {

/// Which levels there are, how large their cells, and why.
template <typename T>
struct level_plan {
  level_grids<T> grids;
  T finest_edge;       ///< of cells of the first level, along y and z; along x they are mostly half as long
  std::string reason;  ///< one line
};

/// Chooses levels for bodies of these sizes, spread evenly over the domain: of all ways to divide the classes of sizes
/// into at most most_levels ranges, the one with the least expected work, where work is the number of bodies tested, of
/// rows of cells looked up, and of cells kept (the weights are measured, see plan_host.cpp). With a bin size,
/// edges are that one times powers of two, and a body is on the first level whose cells are as long as it is (those
/// that are longer than all, on the last); levels without bodies are left out. Throws argument_error where the bin size
/// would need more than 2^31 - 1 cells, saying what would do.
template <typename T>
[[nodiscard]] level_plan<T> plan_levels(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size);

}  // namespace quadrat::detail
