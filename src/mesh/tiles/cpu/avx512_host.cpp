// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cpu/walk.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define QUADRAT_TILE_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#include "core/cpu_lanes.hpp"
#include "mesh/tiles/cpu/vector_lanes.hpp"

namespace quadrat::detail {

namespace {

struct avx512 {
  static constexpr int bytes = 64;
  QUADRAT_TILE_INLINE static __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
  QUADRAT_TILE_INLINE static __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
  QUADRAT_TILE_INLINE static __m512 fused(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
  QUADRAT_TILE_INLINE static __m512d fused(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
  template <typename Vector>
  QUADRAT_TILE_INLINE static Vector fused_exactly(Vector a, Vector b, Vector c) {
    return fused(a, b, c);
  }
  QUADRAT_TILE_INLINE static __m512 floor(__m512 x) { return _mm512_floor_ps(x); }
  QUADRAT_TILE_INLINE static __m512d floor(__m512d x) { return _mm512_floor_pd(x); }
};

}  // namespace

const tile_functions<float>* avx512_tile_functions(float) {
  static const tile_functions<float> functions = make_tile_functions<vector_lanes<float, avx512>>();
  return has_lanes(cpu_lanes::avx512) ? &functions : nullptr;
}
const tile_functions<double>* avx512_tile_functions(double) {
  static const tile_functions<double> functions = make_tile_functions<vector_lanes<double, avx512>>();
  return has_lanes(cpu_lanes::avx512) ? &functions : nullptr;
}

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

const tile_functions<float>* avx512_tile_functions(float) { return nullptr; }
const tile_functions<double>* avx512_tile_functions(double) { return nullptr; }

}  // namespace quadrat::detail

#endif
