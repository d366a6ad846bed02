// SPDX-License-Identifier: BSD-3-Clause
#include "search/pairs/select.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define QUADRAT_SELECTS_PAIRS 1
#include <immintrin.h>
#else
#define QUADRAT_SELECTS_PAIRS 0
#endif

// The same bits as select_pairs of visit_list.hpp: one order of additions, no fused operations (-ffp-contract=off).

namespace quadrat::detail {

namespace {

#if QUADRAT_SELECTS_PAIRS

#define QUADRAT_SELECT_TARGET __attribute__((target("avx512f,avx512vl,popcnt")))

/// Registers of one precision. `load` reads whole points and turns them into components, which takes a third of the
/// time of gather instructions.
template <typename T>
struct pair_lanes_512;

template <>
struct pair_lanes_512<double> {
  static constexpr unsigned count = 8;
  using vector = __m512d;
  using mask = __mmask8;

  QUADRAT_SELECT_TARGET static vector filled(double x) { return _mm512_set1_pd(x); }
  QUADRAT_SELECT_TARGET static vector two(const pair_point<double, 3>* points, const particle_id* j) {
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(points[j[0]].position.component)),
                              _mm256_load_pd(points[j[4]].position.component), 1);
  }
  QUADRAT_SELECT_TARGET static void load(const pair_point<double, 3>* points, const particle_id* j, vector (&to)[3]) {
    const vector a = two(points, j), b = two(points, j + 1), c = two(points, j + 2), d = two(points, j + 3);
    const vector low = _mm512_unpacklo_pd(a, b), low2 = _mm512_unpacklo_pd(c, d);  // x and z of points 0 1 4 5, 2 3 6 7
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    to[0] = _mm512_permutex2var_pd(low, first, low2);
    to[1] = _mm512_permutex2var_pd(_mm512_unpackhi_pd(a, b), first, _mm512_unpackhi_pd(c, d));
    to[2] = _mm512_permutex2var_pd(low, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), low2);
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
  QUADRAT_SELECT_TARGET static vector four(const pair_point<float, 3>* points, const particle_id* j) {
    vector all = _mm512_castps128_ps512(_mm_load_ps(points[j[0]].position.component));
    all = _mm512_insertf32x4(all, _mm_load_ps(points[j[4]].position.component), 1);
    all = _mm512_insertf32x4(all, _mm_load_ps(points[j[8]].position.component), 2);
    return _mm512_insertf32x4(all, _mm_load_ps(points[j[12]].position.component), 3);
  }
  QUADRAT_SELECT_TARGET static void load(const pair_point<float, 3>* points, const particle_id* j, vector (&to)[3]) {
    const vector a = four(points, j), b = four(points, j + 1), c = four(points, j + 2), d = four(points, j + 3);
    const vector low = _mm512_unpacklo_ps(a, b), low2 = _mm512_unpacklo_ps(c, d);
    to[0] = _mm512_shuffle_ps(low, low2, 0x44);
    to[1] = _mm512_shuffle_ps(low, low2, 0xee);
    to[2] = _mm512_shuffle_ps(_mm512_unpackhi_ps(a, b), _mm512_unpackhi_ps(c, d), 0x44);
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

/// Compresses in a register: a compressing store takes a hundred cycles on some CPUs.
template <typename T>
QUADRAT_SELECT_TARGET std::size_t select_512(const pair_selection<T, 3>& what, std::size_t entries,
                                             selected_pairs<T, 3>& out) {
  using lanes = pair_lanes_512<T>;
  using vector = typename lanes::vector;
  static_assert(lanes::count <= selected_pairs<T, 3>::beyond);
  vector from[3], length[3], half[3];
  for (int axis = 0; axis < 3; ++axis) {
    from[axis] = lanes::filled(what.from[axis]);
    length[axis] = lanes::filled(what.length[axis]);
    half[axis] = lanes::filled(what.length[axis] / 2);
  }
  const vector limit = lanes::filled(what.squared_cutoff);
  std::size_t count = 0;
  for (std::size_t k = 0; k < entries; k += lanes::count) {
    alignas(64) particle_id j[lanes::count];
    const std::size_t left = entries - k;
    const unsigned valid = left < lanes::count ? (1u << left) - 1 : (1u << lanes::count) - 1;
    // Repeating the first of the last few keeps loads inside the arrays.
    for (unsigned lane = 0; lane < lanes::count; ++lane) j[lane] = what.neighbors[k + (lane < left ? lane : 0)];
    vector r[3];
    lanes::load(what.points, j, r);
    for (int axis = 0; axis < 3; ++axis) {
      r[axis] = r[axis] - from[axis];
      if (!what.direct) r[axis] = lanes::nearest(r[axis], length[axis], half[axis]);
    }
    const vector squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const auto which = static_cast<typename lanes::mask>(lanes::less(squared, limit) & valid);
    lanes::store_ids(out.j + count, which, j);
    for (int axis = 0; axis < 3; ++axis) lanes::store(out.separation[axis] + count, which, r[axis]);
    lanes::store(out.squared + count, which, squared);
    count += static_cast<std::size_t>(__builtin_popcount(which));
  }
  return count;
}

#endif

}  // namespace

template <typename T, int D>
select_pairs_function<T, D> fastest_selection() {
#if QUADRAT_SELECTS_PAIRS
  if constexpr (D == 3) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return select_512<T>;
  }
#endif
  return nullptr;
}

template select_pairs_function<float, 2> fastest_selection();
template select_pairs_function<float, 3> fastest_selection();
template select_pairs_function<double, 2> fastest_selection();
template select_pairs_function<double, 3> fastest_selection();

}  // namespace quadrat::detail
