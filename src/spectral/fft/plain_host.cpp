// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/passes.hpp"

namespace quadrat::detail {

namespace {

/// For processors without a specialized set: every x86-64 and ARM has registers of 16 bytes. Products are rounded: a
/// fused operation might be a function call.
struct any_registers {
  static constexpr int bytes = 16;
  template <typename Vector>
  QUADRAT_FFT_INLINE static Vector fused(Vector a, Vector b, Vector c) {
    return a * b + c;
  }
};

}  // namespace

const fft_functions<float>* plain_fft_functions(float) {
  static constexpr fft_functions<float> functions = make_fft_functions<float, any_registers>();
  return &functions;
}
const fft_functions<double>* plain_fft_functions(double) {
  static constexpr fft_functions<double> functions = make_fft_functions<double, any_registers>();
  return &functions;
}

}  // namespace quadrat::detail
