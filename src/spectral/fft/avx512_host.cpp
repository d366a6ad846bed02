// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/lines.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define QUADRAT_FFT_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#include "core/cpu_lanes.hpp"
#include "spectral/fft/passes.hpp"

namespace quadrat::detail {

namespace {

struct avx512_registers {
  static constexpr int bytes = 64;
  QUADRAT_FFT_INLINE static __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
  QUADRAT_FFT_INLINE static __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
};

}  // namespace

const fft_functions<float>* avx512_fft_functions(float) {
  static constexpr fft_functions<float> functions = make_fft_functions<float, avx512_registers>();
  return has_lanes(cpu_lanes::avx512) ? &functions : nullptr;
}
const fft_functions<double>* avx512_fft_functions(double) {
  static constexpr fft_functions<double> functions = make_fft_functions<double, avx512_registers>();
  return has_lanes(cpu_lanes::avx512) ? &functions : nullptr;
}

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

const fft_functions<float>* avx512_fft_functions(float) { return nullptr; }
const fft_functions<double>* avx512_fft_functions(double) { return nullptr; }

}  // namespace quadrat::detail

#endif
