// SPDX-License-Identifier: BSD-3-Clause
#include "search/nearest/insert.hpp"

#include "parallel/cpu_vector.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define QUADRAT_INSERTS_LANES 1
#include <immintrin.h>
#endif
#endif
#ifndef QUADRAT_INSERTS_LANES
#define QUADRAT_INSERTS_LANES 0
#endif

namespace quadrat::detail {

namespace {

/// In plain C++, for CPUs without a variant of their own.
void insert_nearest_plain(const double* squared, const std::uint64_t* keys, std::size_t count, nearest_list& list,
                          std::size_t groups) {
  const std::size_t last = (groups + 1) * nearest_group - 1;
  const auto before = [&](std::size_t candidate, std::size_t place) {
    return squared[candidate] < list.squared[place] ||
           (squared[candidate] == list.squared[place] && keys[candidate] < list.key[place]);
  };
  for (std::size_t candidate = 0; candidate < count; ++candidate) {
    if (!before(candidate, last)) continue;
    std::size_t place = last;
    for (; before(candidate, place - 1); --place) {
      list.squared[place] = list.squared[place - 1];
      list.key[place] = list.key[place - 1];
    }
    list.squared[place] = squared[candidate];
    list.key[place] = keys[candidate];
  }
}

#if QUADRAT_INSERTS_LANES

/// Insertion by the instructions of a set.
template <typename Set>
struct insert_lanes;

/// Every x86-64 has it.
struct inserts_by_sse2 {
  static constexpr int lanes = 2;
  template <typename Vector>
  static Vector before(Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 1, 2);
  }
};
#define QUADRAT_INSERT_SET inserts_by_sse2
#define QUADRAT_INSERT_TARGET
#include "search/nearest/insert_lanes.hpp"

#define QUADRAT_INSERT_SET inserts_by_avx2
#define QUADRAT_INSERT_TARGET __attribute__((target("avx2")))
struct inserts_by_avx2 {
  static constexpr int lanes = 4;
  template <typename Vector>
  QUADRAT_INSERT_TARGET static Vector before(Vector a, Vector b) {
    return __builtin_shufflevector(a, b, 3, 4, 5, 6);
  }
};
#include "search/nearest/insert_lanes.hpp"

#define QUADRAT_INSERT_TARGET __attribute__((target("avx512f")))

/// The same with masks, which the compiler would turn into vectors and back. A place takes the one before it where that
/// place takes something, too.
template <std::size_t Vectors>
QUADRAT_INSERT_TARGET void insert_by_avx512_into(const double* squared, const std::uint64_t* keys, std::size_t count,
                                                 nearest_list& list) {
  __m512d s[Vectors];
  __m512i k[Vectors];
  for (std::size_t v = 0; v < Vectors; ++v) {
    s[v] = _mm512_load_pd(list.squared + nearest_group * (v + 1));
    k[v] = _mm512_load_si512(list.key + nearest_group * (v + 1));
  }
  for (std::size_t candidate = 0; candidate < count; ++candidate) {
    const __m512d d = _mm512_set1_pd(squared[candidate]);
    const __m512i c = _mm512_set1_epi64(static_cast<long long>(keys[candidate]));
    unsigned takes[Vectors + 1] = {};
    for (std::size_t v = 0; v < Vectors; ++v) {
      const __mmask8 equal = _mm512_cmp_pd_mask(d, s[v], _CMP_EQ_OQ);
      takes[v + 1] = _mm512_cmp_pd_mask(d, s[v], _CMP_LT_OQ) | _mm512_mask_cmplt_epu64_mask(equal, c, k[v]);
    }
    for (std::size_t v = Vectors; v-- > 0;) {
      const auto taken = static_cast<__mmask8>(takes[v + 1]);
      const auto moved = static_cast<__mmask8>(takes[v + 1] << 1 | takes[v] >> 7);
      const __m512i s_bits = _mm512_castpd_si512(s[v]);
      const __m512i s_last = v > 0 ? _mm512_castpd_si512(s[v - 1]) : s_bits;
      const __m512i k_last = v > 0 ? k[v - 1] : k[v];
      const __m512i s_taken = _mm512_mask_mov_epi64(s_bits, taken, _mm512_castpd_si512(d));
      const __m512i k_taken = _mm512_mask_mov_epi64(k[v], taken, c);
      const auto moves = static_cast<__mmask8>(moved & taken);
      s[v] = _mm512_castsi512_pd(_mm512_mask_alignr_epi64(s_taken, moves, s_bits, s_last, 7));
      k[v] = _mm512_mask_alignr_epi64(k_taken, moves, k[v], k_last, 7);
    }
  }
  for (std::size_t v = 0; v < Vectors; ++v) {
    _mm512_store_pd(list.squared + nearest_group * (v + 1), s[v]);
    _mm512_store_si512(list.key + nearest_group * (v + 1), k[v]);
  }
}

void insert_by_avx512(const double* squared, const std::uint64_t* keys, std::size_t count, nearest_list& list,
                      std::size_t groups) {
  if (groups == 1) return insert_by_avx512_into<1>(squared, keys, count, list);
  if (groups == 2) return insert_by_avx512_into<2>(squared, keys, count, list);
  if (groups == 4) return insert_by_avx512_into<4>(squared, keys, count, list);
  insert_by_avx512_into<8>(squared, keys, count, list);
}

#undef QUADRAT_INSERT_TARGET

#endif

}  // namespace

std::vector<insert_nearest_function> insert_nearest_functions() {
  std::vector<insert_nearest_function> functions;
#if QUADRAT_INSERTS_LANES
  if (__builtin_cpu_supports("avx512f")) functions.push_back(insert_by_avx512);
  if (__builtin_cpu_supports("avx2")) functions.push_back(insert_lanes<inserts_by_avx2>::run);
  functions.push_back(insert_lanes<inserts_by_sse2>::run);
#endif
  functions.push_back(insert_nearest_plain);
  return functions;
}

}  // namespace quadrat::detail
