// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/spectral/nufft_plan.hpp"

namespace quadrat {

/// The normal operator of a transform A of type 2, with a weight for each point: A^H W A,
///
///     result[k] = sum over modes m of  modes[m] sum over points j of  weights[j] exp(sign i (m - k) . x_j)
///
/// as needed in each step of an iterative inversion (least squares). The inner sums depend on m - k only: they are
/// computed once for a set of points, by a transform of type 1. Applying the operator is then a convolution, by two
/// fast Fourier transforms of twice as many mesh points as modes along each axis, whatever the number of points
/// (Toeplitz embedding: Fessler et al. 2005). Move-only. Context: cpu_context or cuda_context; T: float or double; D:
/// 1, 2, 3.
///
/// Hermitian to rounding, whatever the tolerance. With weights that are not negative it is positive semidefinite up to
/// its error. Accuracy: for any modes and weights, each mode of the result has an error of at most error_bound(), which
/// is not above the tolerance, times the sum of the moduli of the weights, times that of the modes. Determinism: the
/// context's level, as for nufft_plan. For an example see docs/guides/nufft.md.
template <typename Context, typename T, int D>
class normal_operator {
  static_assert(detail::instance<Context, T, D, 1>::exists);

 public:
  /// The options are those of a plan for the same modes and points. Throws argument_error for numbers of modes K below
  /// 1, or for which a plan for 2 K - 1 modes is impossible, for invalid options or real values, and for a tolerance
  /// that cannot be reached, naming the least that can.
  normal_operator(const Context& context, const vec<int, D>& modes, double tolerance,
                  const nufft_options& options = {});

  /// Computes the inner sums; points and weights are not needed afterwards. `weights`: one for each point, of any sign,
  /// in the context's memory; nullptr: all 1. Waits. May allocate: the memory of the operator and, during the call,
  /// that of a plan for twice as many modes along each axis. Throws data_error naming the first point that is not
  /// finite or too many periods away, and argument_error if more memory is needed than is free, or than the options
  /// allow. After an exception the operator is unusable until the next call.
  void set_points(const points_view<T, D>& points, const T* weights = nullptr);

  /// Applies the operator to each vector of modes, stored as in nufft_plan; `result` may be `modes`. `call.sign` is
  /// that of the transform of type 2 (0: -1). Waits. Allocates nothing. Throws argument_error when no points are set,
  /// for fewer than one vector, and for a sign that is not -1, 0 or 1.
  void apply(const std::complex<T>* modes, std::complex<T>* result, const nufft_call& call = {});
  /// The same. Does not wait. Allocates nothing. Can be captured. Throws like apply.
  void apply_async(const std::complex<T>* modes, std::complex<T>* result, const nufft_call& call = {});

  /// Modes of a vector.
  [[nodiscard]] std::size_t mode_count() const;
  /// The bound for the last set_points, or expected for as many points as modes: see above.
  [[nodiscard]] double error_bound() const;
  /// The extents of the mesh of the fast Fourier transforms.
  [[nodiscard]] vec<int, D> mesh() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
