// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/spectral/nufft_plan.hpp"

namespace quadrat {

/// Transforms of type 1 and 2 of complex values at the points of all ranks, in the definitions and with the accuracy of
/// nufft_plan: the errors are bounded by the sums of moduli over all ranks. Each rank spreads its own points
/// (distributed_spread_plan). All transform the mesh by one transposition in slabs, or two in pencils
/// (distributed_fft), and send the wanted modes to the ranks that hold them (mesh_halo). Type 2 does the same in
/// reverse.
///
/// Each rank holds a block of the modes, C-ordered [x - x0][y - y0][z], index i along an axis of K for mode i - K/2:
/// see mode_shares. It also holds its part of the mesh, and the mesh around the block of its points.
///
/// All calls are collective. Determinism: at run_to_run the same bits in every run on the same number of ranks; on
/// other numbers results differ by rounding. Move-only. T: float or double; D: 2 or 3. Source: A. H. Barnett, J.
/// Magland, L. af Klinteberg, SIAM J. Sci. Comput. 41 (2019), C479, for one rank.
template <typename Context, typename T, int D>
class distributed_nufft_plan {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// `space`: the grid of the decomposition of points. Its box is one period: it begins at options.origin, is
  /// options.period long (2 pi where that is 0), both rounded to T, and periodic along all axes. The communicator must
  /// outlive this. May allocate. Throws on all ranks what nufft_plan throws, but the mesh may have 2^31 - 1 points for
  /// each rank; argument_error for another box, and for real values, several systems, modes in the order `fft`, and a
  /// limit of bytes, which are for one rank.
  distributed_nufft_plan(const Context& context, communicator& ranks, const grid<T, D>& space, const vec<int, D>& modes,
                         double tolerance, const nufft_options& options = {});

  /// Sets the points, which are copied. `points`: those of this rank, in the memory of the context, each in a cell of
  /// its block, or a periodic image of it, whose position in the block is rounded to T. Chooses window and mesh for the
  /// number of points of all ranks. Waits. May allocate: all memory, but for the other sign of a transform. Throws on
  /// all ranks what nufft_plan::set_points throws, argument_error for a decomposition of another grid or other ranks,
  /// and data_error for a point in a cell of another rank. Transforms are not possible after an exception.
  void set_points(const decomposition<D>& shares, const points_view<T, D>& points);

  /// Type 1. `values`: call.vectors x own points; `modes`: call.vectors x mode_count(). Waits. Allocates nothing after
  /// the first call with each sign. Throws on all ranks what nufft_plan::type_1 throws.
  void type_1(const std::complex<T>* values, std::complex<T>* modes, const nufft_call& call = {}) {
    type_1_async(values, modes, call), wait();
  }
  /// Type 2, from the modes of all ranks to the values at own points. Waits. Allocates nothing after the first call
  /// with each sign. Throws as type_1.
  void type_2(const std::complex<T>* modes, std::complex<T>* values, const nufft_call& call = {}) {
    type_2_async(modes, values, call), wait();
  }
  /// The same. Do not wait where the messages of the communicator do not. Allocate nothing after the first call with
  /// each sign. Throw as type_1.
  void type_1_async(const std::complex<T>* values, std::complex<T>* modes, const nufft_call& call = {});
  void type_2_async(const std::complex<T>* modes, std::complex<T>* values, const nufft_call& call = {});

  /// Which rank holds which modes, whatever the points: its cells are the modes, cell i of an axis of K for mode
  /// i - K/2. Slabs, so that the modes of ranks, one after another, are the array of nufft_plan; pencils in three
  /// dimensions where there are more ranks than modes along the first axis. Some ranks may have none.
  [[nodiscard]] const decomposition<D>& mode_shares() const;
  /// The modes of this rank.
  [[nodiscard]] std::size_t mode_count() const;
  /// Own points of the last set_points; 0 if there are none, or it failed.
  [[nodiscard]] std::size_t point_count() const;
  /// As in nufft_plan; the mesh is that of all ranks. Of the last set_points, or expected for as many points as modes.
  [[nodiscard]] double error_bound() const;
  [[nodiscard]] int width() const;
  [[nodiscard]] double oversampling() const;
  [[nodiscard]] vec<int, D> mesh() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void wait() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
