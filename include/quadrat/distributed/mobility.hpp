// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/hydro/mobility.hpp"

namespace quadrat {

/// The mobility of spheres (hydro/mobility.hpp) that are distributed over ranks, by the method `split`. The near part
/// is over own spheres and ghosts, the wave part over distributed_spread_plan and distributed_real_fft. Random numbers
/// depend on the sphere's id and on the mode. Parameters are those that one rank chooses for `split`, so results equal
/// those of one rank to rounding. Determinism: at run_to_run the same bits in every run on the same number of ranks.
///
/// Move-only. All calls but const ones are collective, and wait. Arrays are of own spheres, in the memory of the
/// context's device.
template <typename Context, typename T>
class distributed_mobility {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// `space`: the cells that decompositions divide; not folded; its box is periodic along all axes. `count`: spheres of
  /// all ranks. The communicator must outlive this. Throws on all ranks what `mobility` throws for options, and
  /// argument_error for methods other than `split` and for an accuracy below 1e-11.
  distributed_mobility(const Context& context, communicator& ranks, const grid<T, 3>& space,
                       const mobility_options& options, std::size_t count);

  /// Sets the own spheres, each in a cell of this rank's block, and their ids, from 0 to count - 1. Chooses the ghosts,
  /// and the parameters by how crowded all spheres are; sends counts. `skin`: twice the distance that a sphere may move
  /// along an axis until the next call. Waits. May allocate. Throws on all ranks: argument_error for other
  /// decompositions, skins and numbers of spheres; data_error for the first point that is not finite or not in its
  /// rank's block.
  void set(const decomposition<3>& shares, const points_view<T, 3>& points, const particle_id* ids, T skin);
  /// Sets the present positions of these spheres, any periodic image of each. Must be called after `set`, too. Waits.
  /// May allocate. Throws on all ranks: argument_error without `set`, for another number of points, and if there is too
  /// little memory; data_error for a point that has moved too far.
  void set_points(const points_view<T, 3>& points);

  /// As in `mobility`. Waits. Allocates nothing after the first call. This and the following throw argument_error
  /// before set_points.
  void multiply(const vec<T, 3>* forces, vec<T, 3>* velocities) { multiply_async(forces, velocities), wait(); }
  /// The same. Does not wait where the messages of the communicator do not, but for the ranks to agree about arguments.
  /// Allocates nothing after the first call.
  void multiply_async(const vec<T, 3>* forces, vec<T, 3>* velocities);
  /// As in `mobility`. Wait.
  /// May allocate.
  void square_root(const mobility_noise& noise, vec<T, 3>* velocities);
  void velocities(const vec<T, 3>* forces, const mobility_noise& noise, vec<T, 3>* velocities);

  /// The report of the last `set`. Throws argument_error before the first.
  [[nodiscard]] const mobility_report& report() const;
  [[nodiscard]] std::size_t own() const;
  [[nodiscard]] std::size_t ghosts() const;
  /// Bytes of the context's memory held on this rank.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void wait() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
