// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "quadrat/core/method.hpp"

namespace quadrat {

/// The libraries of fast Fourier transforms that nufft_options::fft can name, with the devices that each serves on this
/// machine: none if it was not found. FFTW and MKL are optional, and are looked for at run time.
[[nodiscard]] std::span<const method_info> fft_libraries();

}  // namespace quadrat
