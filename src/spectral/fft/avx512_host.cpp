// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/lines.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define QUADRAT_FFT_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#include "spectral/fft/passes.hpp"

namespace quadrat::detail {

namespace {

struct avx512_registers {
  static constexpr int bytes = 64;
  QUADRAT_FFT_INLINE static __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
  QUADRAT_FFT_INLINE static __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
};

[[nodiscard]] bool has_registers() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma");
}

}  // namespace

const fft_functions<float>* avx512_fft_functions(float) {
  static constexpr fft_functions<float> functions = make_fft_functions<float, avx512_registers>();
  return has_registers() ? &functions : nullptr;
}
const fft_functions<double>* avx512_fft_functions(double) {
  static constexpr fft_functions<double> functions = make_fft_functions<double, avx512_registers>();
  return has_registers() ? &functions : nullptr;
}

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

const fft_functions<float>* avx512_fft_functions(float) { return nullptr; }
const fft_functions<double>* avx512_fft_functions(double) { return nullptr; }

}  // namespace quadrat::detail

#endif
