// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/short_range/cpu/pairs.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define QUADRAT_EWALD_TARGET __attribute__((target("avx512f,avx512vl,avx512dq")))
#include "core/cpu_lanes.hpp"
#include "ewald/short_range/cpu/lanes.hpp"

namespace quadrat::detail {

namespace {

struct avx512_registers {
  static constexpr int bytes = 64;
  QUADRAT_EWALD_INLINE static __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
  QUADRAT_EWALD_INLINE static __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
  /// An estimate of 14 bits, and a step of Newton's method.
  QUADRAT_EWALD_INLINE static __m512 inverse_root(__m512 a) {
    const __m512 x = _mm512_rsqrt14_ps(a);
    return x * (1.5f - 0.5f * a * x * x);
  }
  QUADRAT_EWALD_INLINE static __m512d inverse_root(__m512d a) {
    __m512d x = _mm512_rsqrt14_pd(a);
    x = x * (1.5 - 0.5 * a * x * x);
    return x * (1.5 - 0.5 * a * x * x);
  }
  template <typename Mask>
  QUADRAT_EWALD_INLINE static bool any(Mask mask) {
    const __m512i bits = reinterpret_cast<__m512i>(mask);
    return _mm512_test_epi64_mask(bits, bits) != 0;
  }
  template <std::size_t Count, typename Mask, typename Vector, typename T>
  QUADRAT_EWALD_INLINE static std::size_t pack(Mask mask, const Vector* from, T* const* to) {
    const __m512i all = reinterpret_cast<__m512i>(mask);
    // Packed in a register: a store of packed lanes is slow on some processors.
    if constexpr (sizeof(T) == 4) {
      const __mmask16 bits = _mm512_movepi32_mask(all);
      QUADRAT_EWALD_UNROLL
      for (std::size_t k = 0; k < Count; ++k) _mm512_storeu_ps(to[k], _mm512_maskz_compress_ps(bits, from[k]));
      return static_cast<std::size_t>(__builtin_popcount(bits));
    } else {
      const __mmask8 bits = _mm512_movepi64_mask(all);
      QUADRAT_EWALD_UNROLL
      for (std::size_t k = 0; k < Count; ++k) _mm512_storeu_pd(to[k], _mm512_maskz_compress_pd(bits, from[k]));
      return static_cast<std::size_t>(__builtin_popcount(bits));
    }
  }
};

}  // namespace

pair_lanes_function<float> avx512_pair_lanes(float, bool virials) {
  if (!has_lanes(cpu_lanes::avx512)) return nullptr;
  return virials ? pair_lanes<float, avx512_registers, true>::sum : pair_lanes<float, avx512_registers, false>::sum;
}
pair_lanes_function<double> avx512_pair_lanes(double, bool virials) {
  if (!has_lanes(cpu_lanes::avx512)) return nullptr;
  return virials ? pair_lanes<double, avx512_registers, true>::sum : pair_lanes<double, avx512_registers, false>::sum;
}

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

pair_lanes_function<float> avx512_pair_lanes(float, bool) { return nullptr; }
pair_lanes_function<double> avx512_pair_lanes(double, bool) { return nullptr; }

}  // namespace quadrat::detail

#endif
