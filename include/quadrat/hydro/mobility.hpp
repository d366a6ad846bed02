// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"

/// The hydrodynamic mobility of equal spheres in a periodic box, by Rotne, Prager and Yamakawa: velocities from forces,
/// and Brownian velocities, whose covariance is the mobility.
namespace quadrat {

/// The parameters that determine accuracy and time. 0: auto.
struct mobility_parameters {
  double splitting = 0;  ///< inverse length xi in the factor (1 + k^2 / 4 xi^2) exp(-k^2 / 4 xi^2) of the wave part
  double cutoff = 0;     ///< of the near part, a length
  vec<int, 3> modes{};   ///< of the wave part along each axis, odd: from -(modes - 1) / 2 to (modes - 1) / 2
};

struct mobility_options {
  std::string method{};  ///< one of mobility_methods(); empty or "auto": the one expected to be fastest
  /// The root mean square error of velocities for random forces, relative to those of free spheres under the same
  /// forces; and of Brownian velocities, relative to themselves. Up to 0.1.
  double accuracy = 1e-3;
  double radius = 1;                 ///< hydrodynamic radius of each sphere
  double viscosity = 1;              ///< of the fluid
  mobility_parameters parameters{};  ///< nonzero ones are used, and then determine the accuracy
  /// The most iterations of the Lanczos method. Inaccurate Brownian velocities after these are an error.
  int most_iterations = 200;
  std::size_t most_bytes = 0;  ///< bytes that may be held; 0: all free memory
};

/// Selects the Brownian velocities: equal numbers give equal bits.
struct mobility_noise {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  double scale = 1;  ///< factor of the velocities: sqrt(2 kT / dt)
};

/// The chosen parameters and their expected errors.
struct mobility_report {
  std::string_view method{};  ///< "split", "krylov" or "direct"
  std::string_view reason{};
  mobility_parameters parameters{};
  double neighbors = 0;        ///< of a sphere within the cutoff, for the last points; expected before set_points
  double near_error = 0;       ///< predicted, relative as the accuracy: error of the cutoff
  double wave_error = 0;       ///< error of the omitted modes
  double transform_error = 0;  ///< of the non-uniform Fourier transforms
  double error = 0;            ///< of all together: at most the accuracy, unless parameters were given
  int iterations = 0;          ///< of Lanczos, of the last Brownian velocities
  double noise_error = 0;      ///< of these, estimated from the last iterations
};

/// All methods, in display order.
[[nodiscard]] std::span<const method_info> mobility_methods();

/// The mobility of equal spheres of radius a in a fluid of viscosity eta, in an orthorhombic box of volume V, periodic
/// along all axes:
///
///     M_ij = 1 / (eta V) sum over k != 0 of sinc(k a)^2 / k^2 (1 - k k / k^2) exp(i k . (x_i - x_j))
///
/// of Rotne and Prager 1969 and Yamakawa 1970, where the mean flow vanishes. Spheres may overlap and even coincide. M
/// is symmetric and positive; its divergence by the positions vanishes, so that Brownian dynamics needs no drift term.
/// Move-only. Context: cpu_context or cuda_context; T: float or double. Velocities and forces are by point, in the
/// memory of the context's device.
///
/// Sources: Fiore, Balboa Usabiaga, Donev and Swan 2017, arXiv 1611.09322 (`split`); Liu and Chow 2014 (`krylov`).
/// Determinism: the context's level, run_to_run at most. Brownian velocities depend on the numbers of `mobility_noise`,
/// not on what was computed before. For an example see docs/guides/brownian.md.
template <typename Context, typename T>
class mobility {
  static_assert(detail::instance<Context, T, 3>::exists);

 public:
  /// `box`: its extents. Throws argument_error for a box that is not positive and finite, for options that are
  /// impossible, and for an accuracy that cannot be reached in this precision, naming the least that can.
  mobility(const Context& context, const vec<T, 3>& box, const mobility_options& options = {});

  /// Chooses parameters for a number of spheres at random places. Waits. May allocate. Throws argument_error if no
  /// parameters serve.
  void prepare(std::size_t count);

  /// Sets the positions of the spheres: any image of each, up to 2^20 boxes away. Chooses parameters again if spheres
  /// are much more crowded than the parameters allow. Waits. May allocate. Throws argument_error without `prepare`, for
  /// another number of points, and if more memory is needed than is free; data_error naming the first point that is not
  /// finite or too far away; then no points are set.
  void set_points(const points_view<T, 3>& points);

  /// velocities = M forces. Waits. Allocates nothing. This and the following calls throw argument_error if no points
  /// are set. `velocities` may be `forces`.
  void multiply(const vec<T, 3>* forces, vec<T, 3>* velocities);
  /// The same. Does not wait. Allocates nothing. Can be captured in a CUDA graph, which serves until the next
  /// set_points.
  void multiply_async(const vec<T, 3>* forces, vec<T, 3>* velocities);

  /// velocities = scale B z, with B B^T = M and independent standard normal numbers z, by the Lanczos method. Waits,
  /// also for each few iterations: cannot be captured. May allocate.
  /// Throws data_error if the Lanczos method does not converge.
  void square_root(const mobility_noise& noise, vec<T, 3>* velocities);

  /// velocities = M forces + scale B z in one pass, which shares the wave part. Waits as square_root. May allocate.
  void velocities(const vec<T, 3>* forces, const mobility_noise& noise, vec<T, 3>* velocities);

  /// Waits. Allocates nothing. Throws what went wrong in them.
  void check();

  /// The report of the last prepare or set_points. Throws argument_error before the first.
  [[nodiscard]] const mobility_report& report() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const mobility_options& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
