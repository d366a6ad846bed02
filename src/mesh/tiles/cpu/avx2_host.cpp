// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cpu/walk.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define QUADRAT_TILE_TARGET __attribute__((target("avx2,fma")))
#include "mesh/tiles/cpu/loops.hpp"

namespace quadrat::detail {

namespace {

struct avx2_double {
  using value = double;
  using vector = __m256d;
  struct eight {
    __m256d low, high;
  };
  static constexpr int count = 4;

  QUADRAT_TILE_INLINE static vector zero() { return _mm256_setzero_pd(); }
  QUADRAT_TILE_INLINE static vector fill(double x) { return _mm256_set1_pd(x); }
  QUADRAT_TILE_INLINE static vector load(const double* from) { return _mm256_load_pd(from); }
  QUADRAT_TILE_INLINE static vector load_any(const double* from) { return _mm256_loadu_pd(from); }
  QUADRAT_TILE_INLINE static void store(double* to, vector x) { _mm256_store_pd(to, x); }
  QUADRAT_TILE_INLINE static void store_any(double* to, vector x) { _mm256_storeu_pd(to, x); }
  QUADRAT_TILE_INLINE static vector add(vector a, vector b) { return _mm256_add_pd(a, b); }
  QUADRAT_TILE_INLINE static vector multiply(vector a, vector b) { return _mm256_mul_pd(a, b); }
  QUADRAT_TILE_INLINE static vector fused(vector a, vector b, vector c) { return _mm256_fmadd_pd(a, b, c); }
  QUADRAT_TILE_INLINE static vector fused_where_not_zero(vector a, vector b, vector c) {
    return fused(a, _mm256_and_pd(b, _mm256_cmp_pd(a, zero(), _CMP_NEQ_UQ)), c);
  }
  template <int Components>
  QUADRAT_TILE_INLINE static vector fill_repeated(const double* values) {
    if constexpr (Components == 1) {
      return fill(values[0]);
    } else {
      return _mm256_broadcast_pd(reinterpret_cast<const __m128d*>(values));
    }
  }
  template <int Components>
  QUADRAT_TILE_INLINE static void sum(vector x, double* to) {
    const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    if constexpr (Components == 1) {
      to[0] = _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
    } else {
      _mm_storeu_pd(to, pair);
    }
  }

  QUADRAT_TILE_INLINE static eight eight_fill(double x) { return {fill(x), fill(x)}; }
  QUADRAT_TILE_INLINE static eight eight_load(const double* from) { return {load_any(from), load_any(from + 4)}; }
  QUADRAT_TILE_INLINE static void eight_store(double* to, const eight& x) {
    store_any(to, x.low);
    store_any(to + 4, x.high);
  }
  QUADRAT_TILE_INLINE static eight eight_fused(const eight& a, const eight& b, const eight& c) {
    return {fused(a.low, b.low, c.low), fused(a.high, b.high, c.high)};
  }
  template <int Components>
  QUADRAT_TILE_INLINE static void put_repeated(double* to, const eight& x) {
    if constexpr (Components == 1) {
      eight_store(to, x);
    } else {
      store_any(to, _mm256_permute4x64_pd(x.low, 0x50));
      store_any(to + 4, _mm256_permute4x64_pd(x.low, 0xfa));
      store_any(to + 8, _mm256_permute4x64_pd(x.high, 0x50));
      store_any(to + 12, _mm256_permute4x64_pd(x.high, 0xfa));
    }
  }
};

struct avx2_float {
  using value = float;
  using vector = __m256;
  using eight = __m256;
  static constexpr int count = 8;

  QUADRAT_TILE_INLINE static vector zero() { return _mm256_setzero_ps(); }
  QUADRAT_TILE_INLINE static vector fill(float x) { return _mm256_set1_ps(x); }
  QUADRAT_TILE_INLINE static vector load(const float* from) { return _mm256_load_ps(from); }
  QUADRAT_TILE_INLINE static vector load_any(const float* from) { return _mm256_loadu_ps(from); }
  QUADRAT_TILE_INLINE static void store(float* to, vector x) { _mm256_store_ps(to, x); }
  QUADRAT_TILE_INLINE static void store_any(float* to, vector x) { _mm256_storeu_ps(to, x); }
  QUADRAT_TILE_INLINE static vector add(vector a, vector b) { return _mm256_add_ps(a, b); }
  QUADRAT_TILE_INLINE static vector multiply(vector a, vector b) { return _mm256_mul_ps(a, b); }
  QUADRAT_TILE_INLINE static vector fused(vector a, vector b, vector c) { return _mm256_fmadd_ps(a, b, c); }
  QUADRAT_TILE_INLINE static vector fused_where_not_zero(vector a, vector b, vector c) {
    return fused(a, _mm256_and_ps(b, _mm256_cmp_ps(a, zero(), _CMP_NEQ_UQ)), c);
  }
  template <int Components>
  QUADRAT_TILE_INLINE static vector fill_repeated(const float* values) {
    if constexpr (Components == 1) {
      return fill(values[0]);
    } else {
      double pair;
      std::memcpy(&pair, values, sizeof(pair));
      return _mm256_castpd_ps(_mm256_set1_pd(pair));
    }
  }
  template <int Components>
  QUADRAT_TILE_INLINE static void sum(vector x, float* to) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    if constexpr (Components == 1) {
      to[0] = _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    } else {
      to[0] = _mm_cvtss_f32(two);
      to[1] = _mm_cvtss_f32(_mm_movehdup_ps(two));
    }
  }

  QUADRAT_TILE_INLINE static eight eight_fill(float x) { return fill(x); }
  QUADRAT_TILE_INLINE static eight eight_load(const float* from) { return load_any(from); }
  QUADRAT_TILE_INLINE static void eight_store(float* to, eight x) { store_any(to, x); }
  QUADRAT_TILE_INLINE static eight eight_fused(eight a, eight b, eight c) { return fused(a, b, c); }
  template <int Components>
  QUADRAT_TILE_INLINE static void put_repeated(float* to, eight x) {
    if constexpr (Components == 1) {
      store_any(to, x);
    } else {
      store_any(to, _mm256_permutevar8x32_ps(x, _mm256_set_epi32(3, 3, 2, 2, 1, 1, 0, 0)));
      store_any(to + 8, _mm256_permutevar8x32_ps(x, _mm256_set_epi32(7, 7, 6, 6, 5, 5, 4, 4)));
    }
  }
};

[[nodiscard]] bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

}  // namespace

const tile_functions<float>* avx2_tile_functions(float) {
  static const tile_functions<float> functions = make_tile_functions<avx2_float>();
  return has_avx2() ? &functions : nullptr;
}
const tile_functions<double>* avx2_tile_functions(double) {
  static const tile_functions<double> functions = make_tile_functions<avx2_double>();
  return has_avx2() ? &functions : nullptr;
}

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

const tile_functions<float>* avx2_tile_functions(float) { return nullptr; }
const tile_functions<double>* avx2_tile_functions(double) { return nullptr; }

}  // namespace quadrat::detail

#endif
