// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string_view>

#include "quadrat/core/context.hpp"
#include "spectral/fft/lines.hpp"

/// Fourier transforms between a mesh and the modes of lowest frequency along each axis: one interface for both
/// backends.
namespace quadrat::detail {

/// Three axes, the last one fastest. With fewer dimensions, the first axes have one point. Extents are products of 2, 3
/// and 5; the last one of real meshes is even.
struct transform_shape {
  int extent[3];
  mode_band band[3];  ///< the wanted or given modes; along the last axis of real meshes, low only
  bool real;
  int count = 1;          ///< meshes that are transformed in one call
  std::size_t apart = 0;  ///< mesh points from the beginning of one to that of the next; for one mesh 0

  [[nodiscard]] std::size_t rows() const {
    return static_cast<std::size_t>(extent[0]) * static_cast<std::size_t>(extent[1]);
  }
};

/// A mesh of complex numbers is transformed in place: mode (a, b, c) is then at the mesh point of these indices, each
/// taken modulo the extent. A real mesh has its modes in `spectrum`, C-ordered, spectrum_row() along the last axis, of
/// which those from 0 to band[2].low - 1 are used; the others follow by complex conjugation.
///
/// Several meshes lie `apart`; only `clear` changes the memory between them. Their spectra are
/// contiguous.
///
/// Sums have no factor. Modes outside the bands get unspecified values in `to_modes`, and count as zero in `to_mesh`.
/// The same bits in every run, for any number of threads. Asynchronous; the calls allocate nothing.
template <typename T>
class mode_transform {
 public:
  virtual ~mode_transform() = default;

  /// Complex numbers of all spectra; of complex meshes 0.
  [[nodiscard]] virtual std::size_t spectrum_size() const = 0;
  [[nodiscard]] virtual std::size_t spectrum_row() const = 0;
  /// sum over mesh points j of mesh[j] exp(sign 2 pi i j k / n); of a real mesh only with the sign -1. Changes the
  /// mesh.
  virtual void to_modes(T* mesh, std::complex<T>* spectrum, int sign) = 0;
  /// Call it before the modes are written for `to_mesh`.
  virtual void clear(T* mesh, std::complex<T>* spectrum) = 0;
  /// sum over modes k of mode[k] exp(sign 2 pi i j k / n); of a real mesh only with the sign 1, over the modes and
  /// their conjugates at -k. Changes the spectrum.
  virtual void to_mesh(std::complex<T>* spectrum, T* mesh, int sign) = 0;
  /// The same, but may save a copy: the result may be in memory of the transform until the next call. Returns its
  /// place.
  virtual T* to_modes_anywhere(T* mesh, std::complex<T>* spectrum, int sign) {
    to_modes(mesh, spectrum, sign);
    return spectrum_size() > 0 ? reinterpret_cast<T*>(spectrum) : mesh;
  }
  virtual T* to_mesh_anywhere(std::complex<T>* spectrum, T* mesh, int sign) {
    to_mesh(spectrum, mesh, sign);
    return mesh;
  }
  /// Bytes of the context's memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Throws argument_error for a library of fft_libraries() that is not available for that precision or at the context's
/// level of determinism, and names those that are. Empty and "auto" are valid.
template <typename T>
void require_fft_library(std::string_view name, const cpu_context& context);
template <typename T>
void require_fft_library(std::string_view name, const cuda_context& context);

/// Throws argument_error unless extents are products of 2, 3 and 5, and the last one of a real mesh is even.
void require_fft_extents(const int* extent, int dimension, bool real);

/// Makes a transform by the named library: see require_fft_library.
template <typename T>
[[nodiscard]] std::unique_ptr<mode_transform<T>> make_mode_transform(const cpu_context& context,
                                                                     const transform_shape& shape,
                                                                     std::string_view library = {});
/// cuFFT, loaded at run time. Throws backend_error if it is not installed.
template <typename T>
[[nodiscard]] std::unique_ptr<mode_transform<T>> make_mode_transform(const cuda_context& context,
                                                                     const transform_shape& shape,
                                                                     std::string_view library = {});

}  // namespace quadrat::detail
