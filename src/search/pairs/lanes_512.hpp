// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/search/listed_pairs.hpp"

/// Registers of AVX-512 for the selection of pairs, from lists and from tiles.

#if defined(__x86_64__) && defined(__GNUC__)
#define QUADRAT_HAS_PAIR_LANES 1
#include <immintrin.h>
#else
#define QUADRAT_HAS_PAIR_LANES 0
#endif

#if QUADRAT_HAS_PAIR_LANES

namespace quadrat::detail {

#define QUADRAT_SELECT_TARGET __attribute__((target("avx512f,avx512vl,popcnt")))

/// Registers of one precision. `load` reads whole points and turns them into components, the property as the last,
/// which takes a third of the time of gather instructions.
template <typename T>
struct pair_lanes_512;

// A false positive of GCC 12 (105593): the undefined operand of intrinsics without a mask.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"

template <>
struct pair_lanes_512<double> {
  static constexpr unsigned count = 8;
  using vector = __m512d;
  using mask = __mmask8;

  QUADRAT_SELECT_TARGET static vector filled(double x) { return _mm512_set1_pd(x); }
  QUADRAT_SELECT_TARGET static vector row(const double* from) { return _mm512_loadu_pd(from); }
  QUADRAT_SELECT_TARGET static vector two(const pair_point<double, 3>* points, const particle_id* j) {
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(points[j[0]].position.component)),
                              _mm256_load_pd(points[j[4]].position.component), 1);
  }
  QUADRAT_SELECT_TARGET static void load(const pair_point<double, 3>* points, const particle_id* j, vector (&to)[4]) {
    const vector a = two(points, j), b = two(points, j + 1), c = two(points, j + 2), d = two(points, j + 3);
    const vector low = _mm512_unpacklo_pd(a, b), low2 = _mm512_unpacklo_pd(c, d);  // x and z of points 0 1 4 5, 2 3 6 7
    const vector high = _mm512_unpackhi_pd(a, b), high2 = _mm512_unpackhi_pd(c, d);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    to[0] = _mm512_permutex2var_pd(low, first, low2);
    to[1] = _mm512_permutex2var_pd(high, first, high2);
    to[2] = _mm512_permutex2var_pd(low, second, low2);
    to[3] = _mm512_permutex2var_pd(high, second, high2);
  }
  QUADRAT_SELECT_TARGET static vector nearest(vector r, vector length, vector half) {
    const mask above = _mm512_cmp_pd_mask(r, half, _CMP_GE_OQ);
    const mask below = _mm512_cmp_pd_mask(r, _mm512_sub_pd(_mm512_setzero_pd(), half), _CMP_LT_OQ);
    return _mm512_mask_add_pd(_mm512_mask_sub_pd(r, above, r, length), below, r, length);
  }
  QUADRAT_SELECT_TARGET static mask less(vector a, vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  QUADRAT_SELECT_TARGET static void store(double* to, mask which, vector from) {
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd(which, from));
  }
  QUADRAT_SELECT_TARGET static void store_ids(particle_id* to, mask which, const particle_id* j) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_maskz_compress_epi32(which, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(j))));
  }
};

template <>
struct pair_lanes_512<float> {
  static constexpr unsigned count = 16;
  using vector = __m512;
  using mask = __mmask16;

  QUADRAT_SELECT_TARGET static vector filled(float x) { return _mm512_set1_ps(x); }
  QUADRAT_SELECT_TARGET static vector row(const float* from) { return _mm512_loadu_ps(from); }
  QUADRAT_SELECT_TARGET static vector four(const pair_point<float, 3>* points, const particle_id* j) {
    vector all = _mm512_castps128_ps512(_mm_load_ps(points[j[0]].position.component));
    all = _mm512_insertf32x4(all, _mm_load_ps(points[j[4]].position.component), 1);
    all = _mm512_insertf32x4(all, _mm_load_ps(points[j[8]].position.component), 2);
    return _mm512_insertf32x4(all, _mm_load_ps(points[j[12]].position.component), 3);
  }
  QUADRAT_SELECT_TARGET static void load(const pair_point<float, 3>* points, const particle_id* j, vector (&to)[4]) {
    const vector a = four(points, j), b = four(points, j + 1), c = four(points, j + 2), d = four(points, j + 3);
    const vector low = _mm512_unpacklo_ps(a, b), low2 = _mm512_unpacklo_ps(c, d);
    const vector high = _mm512_unpackhi_ps(a, b), high2 = _mm512_unpackhi_ps(c, d);
    to[0] = _mm512_shuffle_ps(low, low2, 0x44);
    to[1] = _mm512_shuffle_ps(low, low2, 0xee);
    to[2] = _mm512_shuffle_ps(high, high2, 0x44);
    to[3] = _mm512_shuffle_ps(high, high2, 0xee);
  }
  QUADRAT_SELECT_TARGET static vector nearest(vector r, vector length, vector half) {
    const mask above = _mm512_cmp_ps_mask(r, half, _CMP_GE_OQ);
    const mask below = _mm512_cmp_ps_mask(r, _mm512_sub_ps(_mm512_setzero_ps(), half), _CMP_LT_OQ);
    return _mm512_mask_add_ps(_mm512_mask_sub_ps(r, above, r, length), below, r, length);
  }
  QUADRAT_SELECT_TARGET static mask less(vector a, vector b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  QUADRAT_SELECT_TARGET static void store(float* to, mask which, vector from) {
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(which, from));
  }
  QUADRAT_SELECT_TARGET static void store_ids(particle_id* to, mask which, const particle_id* j) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(which, _mm512_loadu_si512(j)));
  }
};

#pragma GCC diagnostic pop

}  // namespace quadrat::detail

#endif
