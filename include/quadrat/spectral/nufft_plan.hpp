// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/mesh/window.hpp"
#include "quadrat/spectral/density.hpp"
#include "quadrat/tune/explanation.hpp"

/// Non-uniform Fourier transforms: between values at points anywhere and the modes of a periodic function, by spreading
/// onto a mesh finer than the modes, a fast Fourier transform, and division by the transform of the window.
namespace quadrat {

/// The order of modes along an axis of K.
enum class mode_order {
  centered,  ///< -K/2, ..., (K-1)/2, both divisions rounded down
  fft        ///< 0, 1, ..., then the negative ones, as in numpy.fft
};

/// The type of the values at points. Modes are complex.
enum class nufft_values {
  complex,
  real  ///< modes are stored as in numpy.fft.rfftn: only those from 0 to K/2 along the last axis
};

struct nufft_options {
  nufft_values values = nufft_values::complex;
  mode_order order = mode_order::centered;
  vec<double, 3> period{};  ///< of the points, by axis; 0: 2 pi
  vec<double, 3> origin{};  ///< by axis, rounded to T; positions are relative to it
  /// Mesh points per mode along each axis, above 1 and at most 4; 0: auto, the fastest from 1.25 to 2, with its window.
  double oversampling = 0;
  window_shape window = window_shape::prolate;
  /// Independent sets of points that are transformed together, each to or from separate modes: see set_points.
  int systems = 1;
  std::string method{};  ///< of spreading: see spread_options
  std::string fft{};     ///< one of fft_libraries(); empty or "auto": this project's own on CPUs, cuFFT on GPUs
  /// Bytes that the plan may hold; 0: all free memory. If the fastest oversampling needs more, and none is given, a
  /// smaller one is chosen.
  std::size_t most_bytes = 0;
};

/// The values of one call, and the sign of the exponent.
struct nufft_call {
  int vectors = 1;  ///< consecutive ones: values[vector][point], modes[vector][system][x][y][z]
  int sign = 0;     ///< 1 or -1; 0: 1 for type 1 and -1 for type 2, which makes them adjoints of each other
};

/// Transforms of type 1 and 2 for given numbers of modes along each axis and a tolerance. Set the points whenever they
/// move, and use the plan any number of times. Move-only. Context: cpu_context or cuda_context; T: float or double; D:
/// 1, 2, 3.
///
///     type 1   modes[k]  = sum over points j of  values[j] exp(sign i k . x_j)
///     type 2   values[j] = sum over modes k  of  modes[k] exp(sign i k . x_j)
///
/// where k . x_j means the sum over axes of k x_j 2 pi / period. Modes are C-ordered [x][y][z], those of several
/// systems [system][x][y][z]; a sum goes over the points of one system. Points may be in any period, up to 2^20 periods
/// away.
///
/// Accuracy: for any values, each mode of type 1 has an error of at most error_bound(), which is not above the
/// tolerance, times the sum of the values' moduli; each value of type 2, times that of the modes' moduli. The relative
/// l2 error for random values is at most the tolerance.
///
/// Real values: type 2 sums over the modes given and those at -k, which are their conjugates, so the result is real:
/// modes with an index from 1 to (K-1)/2 along the last axis count twice, those with 0 and, for an even K, K/2 once, by
/// the real part of their terms. For an even K mode K/2 is that of the positive frequency.
///
/// The transforms allocate nothing. A call waits for its result, and throws what `check` throws. Its twin with `_async`
/// does not wait, and can be captured in a CUDA graph. Determinism: the context's level. `canonical` is that of
/// spreading. For an example see docs/guides/nufft.md.
template <typename Context, typename T, int D>
class nufft_plan {
  static_assert(detail::instance<Context, T, D, 1>::exists);

 public:
  /// Throws argument_error for numbers of modes below 1 or too large for a mesh of 2^22 points per axis and 2^31 - 1 in
  /// all (of several systems 2^24 along the first axis), for invalid options, and for a tolerance that cannot be
  /// reached, naming the least that can.
  nufft_plan(const Context& context, const vec<int, D>& modes, double tolerance, const nufft_options& options = {});

  /// Copies the points. `system_of_point`: with several systems, the system of each point, from 0, in any order;
  /// systems may have no points. All systems share one mesh, so many small systems take about the time of one large
  /// one. Chooses the window and the mesh with the least expected time for this many points. Waits. May allocate: all
  /// memory. Throws data_error naming the first point that is not finite, too many periods away or of no system, and
  /// argument_error if more memory is needed than is free, or than the options allow.
  void set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr);

  /// Like set_points, for at most as many points as its last call, with the choices and the memory of that call. Does
  /// not wait. Allocates nothing. Can be captured, also together with transforms. `check` reports refused points (with
  /// `cpu_context` this call itself throws); until it has passed, results may belong to other points. Throws
  /// argument_error for more points, and if the method of spreading must wait (see spread_plan).
  void set_points_async(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr);

  /// Waits. Allocates nothing. Throws data_error naming the first point that was refused by set_points_async, or by a
  /// replay of a graph that contains it, since set_points or a failed check; then the plan is unusable, and further
  /// checks throw the same, until points are set by a call.
  void check();

  /// Type 1. Waits. Allocates nothing. Throws argument_error when no points are set, for fewer than one vector, a sign
  /// that is not -1, 0 or 1, and for values of another type than the plan's; data_error like `check`.
  void type_1(const std::complex<T>* values, std::complex<T>* modes, const nufft_call& call = {}) {
    type_1_async(values, modes, call), check();
  }
  void type_1(const T* values, std::complex<T>* modes, const nufft_call& call = {}) {
    type_1_async(values, modes, call), check();
  }
  /// The same. Do not wait. Allocate nothing. Can be captured. Throw argument_error as type_1.
  void type_1_async(const std::complex<T>* values, std::complex<T>* modes, const nufft_call& call = {});
  void type_1_async(const T* values, std::complex<T>* modes, const nufft_call& call = {});

  /// Type 2. Waits. Allocates nothing. Throws like type_1.
  void type_2(const std::complex<T>* modes, std::complex<T>* values, const nufft_call& call = {}) {
    type_2_async(modes, values, call), check();
  }
  void type_2(const std::complex<T>* modes, T* values, const nufft_call& call = {}) {
    type_2_async(modes, values, call), check();
  }
  /// The same. Do not wait. Allocate nothing. Can be captured. Throw argument_error as type_1.
  void type_2_async(const std::complex<T>* modes, std::complex<T>* values, const nufft_call& call = {});
  void type_2_async(const std::complex<T>* modes, T* values, const nufft_call& call = {});

  /// Weights for the points by the function density_weights, with the mesh, window and periods of this plan: the
  /// fraction of a period's volume that each point represents. Waits. May allocate. Throws like that function, and
  /// argument_error for several systems.
  density_result density_weights(T* weights, const density_options& options = {});

  /// Only the first step of type 1, and the last step of type 2: mesh[vector][system][x][y][z], with the extents of
  /// `mesh()`. The caller transforms and weights the mesh. mesh[k] = sum over points j of values[j] w(u_j - k) with
  /// `window()`, where u_j is the position in mesh units, modulo the extents; values[j] = sum over mesh points k of
  /// mesh[k] w(u_j - k). The sign of the call is not used. Wait. Allocate nothing. Throw like type_1.
  void spread(const std::complex<T>* values, std::complex<T>* mesh, const nufft_call& call = {}) {
    spread_async(values, mesh, call), check();
  }
  void spread(const T* values, T* mesh, const nufft_call& call = {}) { spread_async(values, mesh, call), check(); }
  void interpolate(const std::complex<T>* mesh, std::complex<T>* values, const nufft_call& call = {}) {
    interpolate_async(mesh, values, call), check();
  }
  void interpolate(const T* mesh, T* values, const nufft_call& call = {}) {
    interpolate_async(mesh, values, call), check();
  }
  /// The same. Do not wait. Allocate nothing. Can be captured. Throw argument_error as type_1.
  void spread_async(const std::complex<T>* values, std::complex<T>* mesh, const nufft_call& call = {});
  void spread_async(const T* values, T* mesh, const nufft_call& call = {});
  void interpolate_async(const std::complex<T>* mesh, std::complex<T>* values, const nufft_call& call = {});
  void interpolate_async(const T* mesh, T* values, const nufft_call& call = {});

  [[nodiscard]] std::size_t point_count() const;
  /// Modes of a vector, as stored, of all systems.
  [[nodiscard]] std::size_t mode_count() const;
  /// The bound of the error, relative to the sum of moduli: aliases, computed from the window, and rounding, estimated.
  /// This and the following: of the last set_points, or expected for as many points as modes.
  [[nodiscard]] double error_bound() const;
  [[nodiscard]] int width() const;
  /// Mesh points per mode, before the mesh is rounded up to products of 2, 3 and 5.
  [[nodiscard]] double oversampling() const;
  /// window().transforms(modes, extent): the divisors of modes, along each axis.
  [[nodiscard]] const mesh_window<T>& window() const;
  /// The extents of the mesh, of each system.
  [[nodiscard]] vec<int, D> mesh() const;
  /// The method of spreading, empty before the first set_points.
  [[nodiscard]] std::string_view method() const;
  /// Why this oversampling and width: those that reach the tolerance, by the times that the device profile predicts for
  /// one transform. method() is chosen by itself. Does not wait. Allocates nothing.
  [[nodiscard]] quadrat::explanation explanation() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
