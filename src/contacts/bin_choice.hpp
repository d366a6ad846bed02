// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "contacts/size_histogram.hpp"
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

/// Bins for bodies of these sizes that stand in all bins they touch (bins, tight_grid), spread evenly over the domain:
/// the edge h with the least expected work per body,
///   insertion * E[(1 + e/h)^3]  +  pair * density / 2 * E[(h + e)^3]^2 / h^3  +  bin * volume / (h^3 bodies),
/// where e is the length of a body, with the weights of `bins` (nine_stages) or of tight_grid. With a bin size, that;
/// throws argument_error where it needs more than 2^31 - 1 bins, saying what would do.
template <typename T>
[[nodiscard]] bin_choice<T> choose_touched_bins(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size,
                                                bool nine_stages);

/// The same for bodies that stand in one bin each and look around them (loose_grid), as levels of which there is one.
template <typename T>
[[nodiscard]] bin_choice<T> choose_loose_bins(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size);

/// Where the bins are: around all centers and about half a body more, inside of the domain along its open axes if it is
/// given and there is something in it.
template <typename T>
[[nodiscard]] box<T, 3> box_for_bins(const box<T, 3>* domain, vec<T, 3> lower, vec<T, 3> upper,
                                     const size_histogram<T>& sizes);

}  // namespace quadrat::detail
