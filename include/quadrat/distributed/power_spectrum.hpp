// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/spectral/power_spectrum.hpp"

namespace quadrat {

/// The power spectrum of the points of all ranks, in the bins and definitions of power_spectrum. Each rank spreads its
/// own points (distributed_spread_plan), all transform the mesh (distributed_real_fft), and each sums up the modes that
/// it holds. A rank holds its part of the mesh and, for each set, of the modes, interlaced twice, and the mesh around
/// its block.
///
/// All calls are collective. Determinism: the same bits in every run on the same number of ranks, on contexts at
/// run_to_run; on other numbers results differ by rounding. Numbers of modes are exact. Move-only. T: float or double;
/// D: 3.
template <typename Context, typename T, int D>
class distributed_power_spectrum {
  static_assert(detail::instance<Context, T, D>::exists && D == 3);

 public:
  /// `space`: the grid of the decomposition; its box is that of the points. Counts the modes of each bin. May allocate.
  /// The communicator must outlive this. Throws on all ranks what power_spectrum throws, but the mesh may have as many
  /// points as the ranks have memory for.
  distributed_power_spectrum(const Context& context, communicator& ranks, const grid<T, D>& space,
                             const vec<int, D>& mesh, const power_spectrum_options& options = {});

  /// The power of the points of all ranks; the same result on every rank. `points`: those of this rank, each in a cell
  /// of its block, or a periodic image of it. Points and weights (nullptr: all 1) are in the memory of the context.
  /// Waits. May allocate. Throws on all ranks what power_spectrum::measure throws, argument_error for a decomposition
  /// of another grid or other ranks, and data_error for a point in a cell of another rank.
  [[nodiscard]] power_spectrum_result measure(const decomposition<D>& shares, const points_view<T, D>& points,
                                              const T* weights = nullptr);
  /// The cross power of two sets, each over all ranks. Waits. May allocate. Throws as `measure`; errors about the
  /// second set begin with "others".
  [[nodiscard]] power_spectrum_result measure_cross(const decomposition<D>& shares, const points_view<T, D>& points,
                                                    const T* weights, const points_view<T, D>& others,
                                                    const T* other_weights);

  /// With the defaults that depend on the box filled in.
  [[nodiscard]] const power_spectrum_options& options() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
