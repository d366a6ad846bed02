// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/lines.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define QUADRAT_FFT_TARGET __attribute__((target("avx2,fma")))
#include "core/cpu_lanes.hpp"
#include "spectral/fft/passes.hpp"

namespace quadrat::detail {

namespace {

struct avx2_registers {
  static constexpr int bytes = 32;
  QUADRAT_FFT_INLINE static __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
  QUADRAT_FFT_INLINE static __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
};

}  // namespace

const fft_functions<float>* avx2_fft_functions(float) {
  static constexpr fft_functions<float> functions = make_fft_functions<float, avx2_registers>();
  return has_lanes(cpu_lanes::avx2) ? &functions : nullptr;
}
const fft_functions<double>* avx2_fft_functions(double) {
  static constexpr fft_functions<double> functions = make_fft_functions<double, avx2_registers>();
  return has_lanes(cpu_lanes::avx2) ? &functions : nullptr;
}

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

const fft_functions<float>* avx2_fft_functions(float) { return nullptr; }
const fft_functions<double>* avx2_fft_functions(double) { return nullptr; }

}  // namespace quadrat::detail

#endif
