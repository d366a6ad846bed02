// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "mesh/mesh_view.hpp"
#include "quadrat/core/array.hpp"
#include "spectral/transform.hpp"

/// Fourier transforms between some modes and some mesh points only: a box at the beginning of either, along each
/// axis.
namespace quadrat::detail {

/// Factors belong to the numbers from 0 on.
struct box_axis {
  int size = 1;  ///< of the whole transform: an even product of 2, 3 and 5, or 1
  std::vector<std::complex<double>> mode_factors{1.0};
  std::vector<std::complex<double>> box_factors{1.0};

  [[nodiscard]] int modes() const { return static_cast<int>(mode_factors.size()); }
  [[nodiscard]] int box() const { return static_cast<int>(box_factors.size()); }
};

/// Three axes, the last one fastest. Along each there are at least as many mesh points in the box as modes, and at most
/// as many as the whole transform has.
struct box_problem {
  box_axis axis[3];

  /// Mesh points of the whole transform.
  [[nodiscard]] std::size_t size() const {
    std::size_t size = 1;
    for (const box_axis& one : axis) size *= static_cast<std::size_t>(one.size);
    return size;
  }
};

/// box[n] = box factor(n) times the sum over modes k of mode factor(k) mode[k] exp(sign 2 pi i k n / size), for the
/// sign 1; for the sign -1 factors are conjugated. `to_modes` is the adjoint of `to_box` with the same sign, and
/// changes the box. Asynchronous; the calls allocate nothing. The same bits in every run. Views are as large as the
/// problem says.
template <typename Context, typename T>
class box_transform {
 public:
  virtual ~box_transform() = default;
  virtual void to_box(const mesh_view<const std::complex<T>>& modes, const mesh_view<std::complex<T>>& box,
                      int sign) = 0;
  virtual void to_modes(const mesh_view<std::complex<T>>& box, const mesh_view<std::complex<T>>& modes, int sign) = 0;
  /// Bytes of the context's memory held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Makes whole transforms by the library of that name (see require_fft_library). With an empty name or "auto", GPUs use
/// kernels that compute only the wanted numbers, if lines are short enough. Throws argument_error for a problem whose
/// boxes or modes do not fit.
template <typename Context, typename T>
[[nodiscard]] std::unique_ptr<box_transform<Context, T>> make_box_transform(const Context& context,
                                                                            const box_problem& problem,
                                                                            std::string_view library);

/// The approximate number of bytes it will hold.
template <typename T, typename Context>
[[nodiscard]] std::size_t box_transform_bytes(const Context& context, const box_problem& problem,
                                              std::string_view library);

}  // namespace quadrat::detail
