// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "distributed/fft/transposed_transform.hpp"
#include "hydro/choice.hpp"
#include "hydro/wave_part.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/spread_plan.hpp"

/// The wave part of the mobility over ranks. The mesh and the window are those of one rank.
namespace quadrat::detail {

template <typename Context, typename T>
class waves_of_ranks {
 public:
  /// `spheres`: of all ranks. Collective.
  waves_of_ranks(const Context& context, communicator& ranks, const mobility_choice& choice, const vec<double, 3>& box,
                 double radius, std::size_t spheres);

  /// Sets which rank owns which spheres, and how far they may leave its block. Collective.
  void share(const grid<T, 3>& space, const decomposition<3>& shares, T reach);
  /// Sets the own spheres, which must be near the block. Collective. Throws on all ranks what distributed_spread_plan
  /// throws.
  void set_points(const points_view<T, 3>& points);
  /// As wave_part::compute, for own spheres. Forces and velocities are three arrays each. `scale` is the same on all
  /// ranks; with 0 the forces are not read. Collective.
  void compute(const T* forces, T scale, const wave_noise& noise, T* velocities);
  [[nodiscard]] std::size_t bytes() const;

 private:
  Context context_;
  communicator& ranks_;
  wave_law<T> law_;
  mesh_window<T> window_;
  vec<int, 3> mesh_;
  vec<double, 3> box_;
  std::optional<distributed_real_fft<Context, T>> fft_;
  std::optional<distributed_spread_plan<Context, T, 3>> spreading_;
  decomposition<3> shares_{};  ///< the decomposition for which the spreading plan was made
  T reach_ = T(0);
  std::size_t count_ = 0;
  array<T, Context> factors_;  ///< 1 / transform of the window, axis by axis
  array<T, Context> values_;   ///< of the mesh points
  array<moved_number<T>, Context> spectra_[3];
};

}  // namespace quadrat::detail
