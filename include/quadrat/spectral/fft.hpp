// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <string>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"

/// Fourier transforms of meshes on one device, for example between spreading and interpolation. Over ranks:
/// quadrat/distributed/fft.hpp.
namespace quadrat {

struct fft_options {
  std::string library{};  ///< one of fft_libraries(); empty or "auto": this project's own on CPUs, cuFFT on GPUs
};

/// The transform of a complex mesh, C-ordered [x][y][z]. Move-only. Context: cpu_context or cuda_context; T: float or
/// double; D: 1, 2, 3.
///
///     forward   mode[k] = sum over mesh points j of  mesh[j] exp(-2 pi i j k / n)
///     inverse   mesh[j] = sum over modes k of        mode[k] exp(2 pi i j k / n)
///
/// in place, where j k / n means the sum over axes, and mode k is at the place of mesh point k: modes above n / 2 are
/// the negative ones, as in numpy.fft.fftn. Sums have no factor: one call after the other multiplies by mesh_size().
///
/// The transforms allocate nothing. A call waits for its result; its twin with `_async` does not wait, and can be
/// captured in a CUDA graph. The same bits in every run, for any number of threads, except by the library "mkl".
/// Relative l2 errors are a few units of rounding.
template <typename Context, typename T, int D>
class fft {
  static_assert(detail::instance<Context, T, D, 1>::exists);

 public:
  /// May allocate: all memory. Throws argument_error for extents that are not products of 2, 3 and 5, more than 2^31 -
  /// 1 mesh points, and an unavailable library; backend_error without cuFFT on CUDA.
  fft(const Context& context, const vec<int, D>& mesh, const fft_options& options = {});

  /// Mesh points, and numbers of the array that the calls take.
  [[nodiscard]] std::size_t mesh_size() const;

  /// Wait. Allocate nothing. Throw argument_error for a null pointer.
  void forward(std::complex<T>* mesh) { forward_async(mesh), wait(); }
  void inverse(std::complex<T>* mesh) { inverse_async(mesh), wait(); }
  /// The same. Do not wait. Allocate nothing. Can be captured. Throw argument_error for a null pointer.
  void forward_async(std::complex<T>* mesh);
  void inverse_async(std::complex<T>* mesh);

  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void wait() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

/// The same for a mesh of real numbers, of whose modes half are kept, as by numpy.fft.rfftn: those from 0 to n / 2
/// along the last axis, [x][y][k_z]; the others are their complex conjugates at -k. In half of the time and the memory.
/// Determinism: as fft.
template <typename Context, typename T, int D>
class real_fft {
  static_assert(detail::instance<Context, T, D, 1>::exists);

 public:
  /// Like fft; the last extent must be even.
  real_fft(const Context& context, const vec<int, D>& mesh, const fft_options& options = {});

  /// Numbers of mesh points, of stored modes, and of stored modes along the last axis.
  [[nodiscard]] std::size_t mesh_size() const;
  [[nodiscard]] std::size_t mode_size() const;
  [[nodiscard]] std::size_t mode_row() const;

  /// Changes the mesh. Waits. Allocates nothing. Throws argument_error for null pointers.
  void forward(T* mesh, std::complex<T>* modes) { forward_async(mesh, modes), wait(); }
  /// Changes the modes. They must belong to a real mesh: for last index 0 or n / 2, the modes at k and -k are complex
  /// conjugates. Waits. Allocates nothing. Throws argument_error for null pointers.
  void inverse(std::complex<T>* modes, T* mesh) { inverse_async(modes, mesh), wait(); }
  /// The same. Do not wait. Allocate nothing. Can be captured. Throw argument_error for null pointers.
  void forward_async(T* mesh, std::complex<T>* modes);
  void inverse_async(std::complex<T>* modes, T* mesh);

  [[nodiscard]] std::size_t bytes() const;

 private:
  void wait() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
