// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "spectral/transform.hpp"

/// The candidates of make_mode_transform, besides those of spectral/fft/fftw.hpp.
namespace quadrat::detail {

/// The vectorized loops of spectral/fft/lines.hpp.
template <typename T>
[[nodiscard]] std::unique_ptr<mode_transform<T>> make_own_transform(const cpu_context& context,
                                                                    const transform_shape& shape);

/// Whether cuFFT can be loaded.
[[nodiscard]] bool has_cufft();
template <typename T>
[[nodiscard]] std::unique_ptr<mode_transform<T>> make_cufft_transform(const cuda_context& context,
                                                                      const transform_shape& shape);
/// Skips lines without wanted modes, by the kernels of spectral/fft/cuda. For complex meshes in three dimensions of up
/// to 1024 points along each axis; null for others.
template <typename T>
[[nodiscard]] std::unique_ptr<mode_transform<T>> make_mode_lines(const cuda_context& context,
                                                                 const transform_shape& shape);
template <>
std::unique_ptr<mode_transform<float>> make_mode_lines(const cuda_context& context, const transform_shape& shape);
template <>
std::unique_ptr<mode_transform<double>> make_mode_lines(const cuda_context& context, const transform_shape& shape);

}  // namespace quadrat::detail
