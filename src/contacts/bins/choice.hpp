// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "contacts/bodies/size_histogram.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// Bins of one size, and why.
template <typename T>
struct bin_choice {
  grid<T, 3> space;
  T edge;  ///< that was aimed at; along each axis bins have that edge or more
  std::string reason;
};

/// What work costs in units of one pair tested.
struct touched_bin_weights {
  double insertion;  ///< of a body in a bin
  double bin;        ///< of a bin
  double busy;       ///< bins that it takes to keep a GPU busy, where a thread works through a whole one; else 0
};
inline constexpr touched_bin_weights tight_grid_weights{6, 1, 0};
/// The nine stages find out in each bin that two bodies share whether their contact is there, and look at empty bins.
inline constexpr touched_bin_weights nine_stages_weights_on_cpu{20, 8, 0};
/// Within 6 % of the fastest bins on an H200, of 1M spheres, radii equal and 1:10.
inline constexpr touched_bin_weights nine_stages_weights_on_cuda{1, 1, 6e4};

/// Bins for bodies of these sizes that stand in all bins they touch (bins, tight_grid), spread evenly over the domain:
/// the edge h with the least expected work per body,
///   insertion * E[(1 + e/h)^3]  +  density / 2 * E[(h + e)^3]^2 / h^3 * (1 + busy * h^3 / volume)
///   +  bin * volume / (h^3 bodies),
/// where e is the length of a body. Fewer bins than `busy` keep a part of a GPU waiting: pairs then cost more. With a
/// bin size, that; throws argument_error where it needs more than 2^31 - 1 bins, saying what would do.
template <typename T>
[[nodiscard]] bin_choice<T> choose_touched_bins(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size,
                                                const touched_bin_weights& weights);

/// The same for bodies that stand in one bin each and look around them (loose_grid), as levels of which there is one.
template <typename T>
[[nodiscard]] bin_choice<T> choose_loose_bins(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size);

/// Where the bins are: around all centers and about half a body more, inside of the domain along its open axes if it is
/// given and there is something in it.
template <typename T>
[[nodiscard]] box<T, 3> box_for_bins(const box<T, 3>* domain, vec<T, 3> lower, vec<T, 3> upper,
                                     const size_histogram<T>& sizes);

}  // namespace quadrat::detail
