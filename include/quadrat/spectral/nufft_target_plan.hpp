// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <string>
#include <string_view>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/spectral/nufft_plan.hpp"

namespace quadrat {

struct nufft_target_options {
  std::string method{};  ///< of spreading: see spread_options
  std::string fft{};     ///< of whole transforms: see nufft_options
  /// Bytes that the plan may hold; 0: all free memory.
  std::size_t most_bytes = 0;
};

/// Transforms of type 3, from points anywhere to frequencies anywhere, called targets:
///
///     results[k] = sum over points j of  values[j] exp(sign i s_k . x_j)
///
/// Neither is periodic. The cost is that of two meshes with about 4 X S / pi points along each axis, where X is half
/// the extent of the points and S half that of the targets. Move-only. Context: cpu_context or cuda_context; T: float
/// or double; D: 1, 2, 3. Accuracy and calls as for nufft_plan: no result is off by more than the tolerance times the
/// sum of the values' moduli, as far as T holds the products s_k . x_j: angles are computed in double precision from
/// the points and targets given. Determinism: as nufft_plan.
template <typename Context, typename T, int D>
class nufft_target_plan {
  static_assert(detail::instance<Context, T, D, 1>::exists);

 public:
  /// Throws argument_error for a tolerance that cannot be reached, naming one that can, and for invalid options.
  nufft_target_plan(const Context& context, double tolerance, const nufft_target_options& options = {});

  /// Copies points and targets. Waits. May allocate; keeps meshes and their data if extents have changed little. Throws
  /// data_error naming the first point or target that is not finite, and argument_error if the mesh would be too large,
  /// or more memory is needed than is free.
  void set_points(const points_view<T, D>& points, const points_view<T, D>& targets);

  /// Like set_points, for at most as many points and targets as its last call, and within its meshes. Does not wait.
  /// Allocates nothing. Can be captured, also together with transforms. `check` reports refused points and targets
  /// (with `cpu_context` this call itself throws): those that are not finite, or beyond the extents of the last
  /// set_points. Until it has passed, results may belong to other points. Throws argument_error for more points, and
  /// like spread_plan::set_points_async.
  void set_points_async(const points_view<T, D>& points, const points_view<T, D>& targets);

  /// Waits. Allocates nothing. Throws data_error as spread_plan::check.
  void check();

  /// Type 3; the usual sign is 1. Waits. Allocates nothing. Throws argument_error when no points are set, for fewer
  /// than one vector, and for a sign that is not -1, 0 or 1; data_error like `check`.
  void type_3(const std::complex<T>* values, std::complex<T>* results, const nufft_call& call = {}) {
    type_3_async(values, results, call), check();
  }
  /// The same. Does not wait. Allocates nothing. Can be captured. Throws argument_error as type_3.
  void type_3_async(const std::complex<T>* values, std::complex<T>* results, const nufft_call& call = {});

  /// The adjoint, to rounding, of type 3 with the same sign:
  ///
  ///     values[j] = sum over targets k of  results[k] exp(-sign i s_k . x_j)
  ///
  /// Its errors are bounded by the same tolerance times the sum of the results' moduli. Waits. Allocates nothing.
  /// Throws like type_3.
  void type_3_adjoint(const std::complex<T>* results, std::complex<T>* values, const nufft_call& call = {}) {
    type_3_adjoint_async(results, values, call), check();
  }
  /// The same. Does not wait. Allocates nothing. Can be captured. Throws argument_error as type_3.
  void type_3_adjoint_async(const std::complex<T>* results, std::complex<T>* values, const nufft_call& call = {});

  [[nodiscard]] std::size_t point_count() const;
  [[nodiscard]] std::size_t target_count() const;
  /// The bound of the error, relative to the sum of the values' moduli, as in nufft_plan.
  [[nodiscard]] double error_bound() const;
  /// The width of the window that spreads the points.
  [[nodiscard]] int width() const;
  /// The method that spreads the points, empty before the first set_points.
  [[nodiscard]] std::string_view method() const;
  /// Extents of the mesh onto which points are spread; zeros before the first set_points.
  [[nodiscard]] vec<int, D> mesh() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
