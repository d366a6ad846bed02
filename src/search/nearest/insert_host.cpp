// SPDX-License-Identifier: BSD-3-Clause
#include "search/nearest/insert.hpp"

#include "core/cpu_lanes.hpp"
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

/// In plain C++, for CPUs without a specialized variant.
void insert_nearest_plain(const nearest_list::candidates& candidates, std::size_t count, nearest_list& list,
                          std::size_t groups) {
  const std::size_t last = (groups + 1) * nearest_group - 1;
  const auto before = [&](std::size_t k, std::size_t place) {
    return candidates.squared[k] < list.squared[place] ||
           (candidates.squared[k] == list.squared[place] && candidates.key[k] < list.key[place]);
  };
  for (std::size_t k = 0; k < count; ++k) {
    if (!before(k, last)) continue;
    std::size_t place = last;
    for (; before(k, place - 1); --place) {
      list.squared[place] = list.squared[place - 1];
      list.key[place] = list.key[place - 1];
    }
    list.squared[place] = candidates.squared[k];
    list.key[place] = candidates.key[k];
  }
}

void insert_nearest_plain(const packed_nearest_list::candidates& candidates, std::size_t count,
                          packed_nearest_list& list, std::size_t groups) {
  const std::size_t last = (groups + 1) * nearest_group - 1;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint64_t word = candidates.word[k];
    if (!(word < list.word[last])) continue;
    std::size_t place = last;
    for (; word < list.word[place - 1]; --place) list.word[place] = list.word[place - 1];
    list.word[place] = word;
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

/// The same with mask registers; the compiler would convert masks to vectors and back. A place takes the value before
/// it if that place also changes.
template <std::size_t Vectors>
QUADRAT_INSERT_TARGET void insert_by_avx512_into(const nearest_list::candidates& candidates, std::size_t count,
                                                 nearest_list& list) {
  __m512d s[Vectors];
  __m512i k[Vectors];
  for (std::size_t v = 0; v < Vectors; ++v) {
    s[v] = _mm512_load_pd(list.squared + nearest_group * (v + 1));
    k[v] = _mm512_load_si512(list.key + nearest_group * (v + 1));
  }
  for (std::size_t candidate = 0; candidate < count; ++candidate) {
    const __m512d d = _mm512_set1_pd(candidates.squared[candidate]);
    const __m512i c = _mm512_set1_epi64(static_cast<long long>(candidates.key[candidate]));
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

template <std::size_t Vectors>
QUADRAT_INSERT_TARGET void insert_by_avx512_into(const packed_nearest_list::candidates& candidates, std::size_t count,
                                                 packed_nearest_list& list) {
  __m512i w[Vectors];
  for (std::size_t v = 0; v < Vectors; ++v) w[v] = _mm512_load_si512(list.word + nearest_group * (v + 1));
  for (std::size_t candidate = 0; candidate < count; ++candidate) {
    const __m512i c = _mm512_set1_epi64(static_cast<long long>(candidates.word[candidate]));
    for (std::size_t v = Vectors; v-- > 0;) {
      const __m512i before = _mm512_alignr_epi64(w[v], v > 0 ? w[v - 1] : _mm512_setzero_si512(), 7);
      w[v] = _mm512_min_epu64(w[v], _mm512_max_epu64(before, c));
    }
  }
  for (std::size_t v = 0; v < Vectors; ++v) _mm512_store_si512(list.word + nearest_group * (v + 1), w[v]);
}

template <typename List>
void insert_by_avx512(const typename List::candidates& candidates, std::size_t count, List& list, std::size_t groups) {
  if (groups == 1) return insert_by_avx512_into<1>(candidates, count, list);
  if (groups == 2) return insert_by_avx512_into<2>(candidates, count, list);
  if (groups == 4) return insert_by_avx512_into<4>(candidates, count, list);
  insert_by_avx512_into<8>(candidates, count, list);
}

#undef QUADRAT_INSERT_TARGET

#endif

}  // namespace

template <typename List>
std::vector<insert_nearest_function<List>> insert_nearest_functions() {
  std::vector<insert_nearest_function<List>> functions;
#if QUADRAT_INSERTS_LANES
  if (has_lanes(cpu_lanes::avx512)) functions.push_back(insert_by_avx512<List>);
  if (has_lanes(cpu_lanes::avx2)) functions.push_back(insert_lanes<inserts_by_avx2>::run<List>);
  functions.push_back(insert_lanes<inserts_by_sse2>::run<List>);
#endif
  functions.push_back(insert_nearest_plain);
  return functions;
}

template std::vector<insert_nearest_function<nearest_list>> insert_nearest_functions<nearest_list>();
template std::vector<insert_nearest_function<packed_nearest_list>> insert_nearest_functions<packed_nearest_list>();

}  // namespace quadrat::detail
