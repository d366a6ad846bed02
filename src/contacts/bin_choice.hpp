// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "contacts/bodies/size_histogram.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::detail {

/// Bins of one size, and the reason for it.
template <typename T>
struct bin_choice {
  grid<T, 3> space;
  T edge;  ///< requested; bins are at least this long along each axis
  std::string reason;
};

/// Costs in units of one pair test.
struct touched_bin_weights {
  double insertion;  ///< of a body into a bin
  double bin;        ///< per bin
  double busy;       ///< bins that keep a GPU busy, if a thread processes a whole bin; else 0
};
inline constexpr touched_bin_weights tight_grid_weights{6, 1, 0};
/// The nine stages test a pair in every bin that both bodies touch, and visit empty bins.
inline constexpr touched_bin_weights nine_stages_weights_on_cpu{20, 8, 0};
/// Within 6 % of the fastest bins on an H200, for 1M spheres with equal radii and with radii 1:10.
inline constexpr touched_bin_weights nine_stages_weights_on_cuda{1, 1, 6e4};

/// Bins for bodies of these sizes, spread evenly over the domain, if a body is stored in every bin it touches (bins,
/// tight_grid): the edge h with the least expected work per body,
///   insertion * E[(1 + e/h)^3]  +  density / 2 * E[(h + e)^3]^2 / h^3 * (1 + busy * h^3 / volume)
///   +  bin * volume / (h^3 bodies),
/// where e is the length of a body. With fewer than `busy` bins a part of a GPU idles, and pairs cost more. A given bin
/// size is used unchanged. Throws argument_error if it needs more than 2^31 - 1 bins, and names a size that works.
template <typename T>
[[nodiscard]] bin_choice<T> choose_touched_bins(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size,
                                                const touched_bin_weights& weights);

/// The same for bodies stored in one bin each that search the bins around it (loose_grid): a single level.
template <typename T>
[[nodiscard]] bin_choice<T> choose_loose_bins(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size);

/// The box of the bins: around all centers, padded by about half a body. Along open axes it is cut to the given domain,
/// unless that would be empty.
template <typename T>
[[nodiscard]] box<T, 3> box_for_bins(const box<T, 3>* domain, vec<T, 3> lower, vec<T, 3> upper,
                                     const size_histogram<T>& sizes);

}  // namespace quadrat::detail
