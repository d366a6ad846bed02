// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/short_range/cpu/pairs.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <array>
#include <cstdint>

#define QUADRAT_EWALD_TARGET __attribute__((target("avx2,fma")))
#include "core/cpu_lanes.hpp"
#include "ewald/short_range/cpu/lanes.hpp"

namespace quadrat::detail {

namespace {

/// For each mask of 8 lanes the numbers of its lanes, a byte each.
constexpr std::array<std::uint64_t, 256> chosen_of_eight = [] {
  std::array<std::uint64_t, 256> table{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    unsigned next = 0;
    for (unsigned lane = 0; lane < 8; ++lane) {
      if ((mask >> lane & 1) != 0) table[mask] |= std::uint64_t{lane} << 8 * next++;
    }
  }
  return table;
}();

struct avx2_registers {
  static constexpr int bytes = 32;
  QUADRAT_EWALD_INLINE static __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
  QUADRAT_EWALD_INLINE static __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
  /// An estimate of 12 bits, and a step of Newton's method.
  QUADRAT_EWALD_INLINE static __m256 inverse_root(__m256 a) {
    const __m256 x = _mm256_rsqrt_ps(a);
    return x * (1.5f - 0.5f * a * x * x);
  }
  QUADRAT_EWALD_INLINE static __m256d inverse_root(__m256d a) { return 1.0 / _mm256_sqrt_pd(a); }
  template <typename Mask>
  QUADRAT_EWALD_INLINE static bool any(Mask mask) {
    return _mm256_movemask_epi8(reinterpret_cast<__m256i>(mask)) != 0;
  }
  /// A double is two lanes of four bytes.
  template <std::size_t Count, typename Mask, typename Vector, typename T>
  QUADRAT_EWALD_INLINE static std::size_t pack(Mask mask, const Vector* from, T* const* to) {
    const auto bits = static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
    const __m128i chosen = _mm_cvtsi64_si128(static_cast<long long>(chosen_of_eight[bits]));
    const __m256i order = _mm256_cvtepu8_epi32(chosen);
    QUADRAT_EWALD_UNROLL
    for (std::size_t k = 0; k < Count; ++k) {
      const __m256 packed = _mm256_permutevar8x32_ps(reinterpret_cast<__m256>(from[k]), order);
      _mm256_storeu_ps(reinterpret_cast<float*>(to[k]), packed);
    }
    return static_cast<std::size_t>(__builtin_popcount(bits)) * sizeof(float) / sizeof(T);
  }
};

}  // namespace

pair_lanes_function<float> avx2_pair_lanes(float, bool virials) {
  if (!has_lanes(cpu_lanes::avx2)) return nullptr;
  return virials ? pair_lanes<float, avx2_registers, true>::sum : pair_lanes<float, avx2_registers, false>::sum;
}
pair_lanes_function<double> avx2_pair_lanes(double, bool virials) {
  if (!has_lanes(cpu_lanes::avx2)) return nullptr;
  return virials ? pair_lanes<double, avx2_registers, true>::sum : pair_lanes<double, avx2_registers, false>::sum;
}

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

pair_lanes_function<float> avx2_pair_lanes(float, bool) { return nullptr; }
pair_lanes_function<double> avx2_pair_lanes(double, bool) { return nullptr; }

}  // namespace quadrat::detail

#endif
