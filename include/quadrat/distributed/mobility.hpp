// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/hydro/mobility.hpp"

namespace quadrat {

/// The mobility of spheres (ewald/mobility.hpp) that ranks share out, by the method `split`: the near part over own
/// spheres and ghosts, the wave part over distributed_spread_plan and distributed_real_fft. Random numbers are those of
/// the sphere, by its id, and of the mode. Parameters are those that one rank chooses for `split`, so that results are
/// its results within rounding. Determinism: at run_to_run the same bits in every run on the same number of ranks.
///
/// Move-only. All calls that are not const are collective, and synchronize. Arrays are of own spheres, in the memory of
/// the context's device.
template <typename Context, typename T>
class distributed_mobility {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// `space`: the cells of decompositions, not folded, of a box that is periodic along all axes. `count`: spheres of
  /// all ranks. The communicator must outlive this. Throws on all ranks what `mobility` throws for options, and
  /// argument_error for methods other than `split`, and an accuracy below 1e-11.
  distributed_mobility(const Context& context, communicator& ranks, const grid<T, 3>& space,
                       const mobility_options& options, std::size_t count);
  distributed_mobility(distributed_mobility&&) noexcept;
  distributed_mobility& operator=(distributed_mobility&&) noexcept;
  ~distributed_mobility();

  /// Own spheres, each in a cell of this rank's block, and their ids from 0 to count - 1. Chooses parameters by how
  /// crowded all spheres are, and ghosts; sends counts. `skin`: twice as far as a sphere may move along an axis until
  /// the next call. Throws on all ranks argument_error for other decompositions, skins and numbers of spheres,
  /// data_error for the first point that is not finite or not in its rank's block.
  void set(const decomposition<3>& shares, const points_view<T, 3>& points, const particle_id* ids, T skin);
  /// Where these spheres are now; any image of each will do. To be called after `set`, too. Throws on all ranks
  /// argument_error without `set`, for another number of points and where more memory is needed than there is;
  /// data_error for a point that has gone too far.
  void set_points(const points_view<T, 3>& points);

  /// As of `mobility`; throw argument_error without points.
  void multiply(const vec<T, 3>* forces, vec<T, 3>* velocities);
  void square_root(const mobility_noise& noise, vec<T, 3>* velocities);
  void velocities(const vec<T, 3>* forces, const mobility_noise& noise, vec<T, 3>* velocities);

  /// Of the last set. Throws argument_error before.
  [[nodiscard]] const mobility_report& report() const;
  [[nodiscard]] std::size_t own() const;
  [[nodiscard]] std::size_t ghosts() const;
  /// Bytes of the context's memory held on this rank.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
