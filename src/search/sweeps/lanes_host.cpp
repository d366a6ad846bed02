// SPDX-License-Identifier: BSD-3-Clause
#include "search/sweeps/lanes.hpp"

#include <bit>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#define QUADRAT_X86_LANES 1
#include <immintrin.h>
#else
#define QUADRAT_X86_LANES 0
#endif

// Every variant adds and multiplies in the same order with the same rounding: no fused operations, neither by hand nor
// by the compiler (-ffp-contract=off).

namespace quadrat::detail {

namespace {

/// In plain C++, for CPUs without a variant of their own.
template <typename T, int D>
unsigned test_lanes_plain(const candidate_lanes<T, D>& candidates, std::size_t first, std::size_t last,
                          const vec<T, D>& from, const vec<T, D>& translation, T squared_reach, std::uint64_t* words) {
  unsigned count = 0;
  for (std::size_t word = 0; first + 64 * word < last; ++word) {
    const std::size_t begin = first + 64 * word;
    const std::size_t end = begin + 64 < last ? begin + 64 : last;
    std::uint64_t bits = 0;
    for (std::size_t k = begin; k < end; ++k) {
      vec<T, D> to{};
      for (int axis = 0; axis < D; ++axis) to[axis] = candidates.position[axis][k];
      const bool within = squared_norm((to - from) + translation) < squared_reach;
      bits |= static_cast<std::uint64_t>(within) << (k - begin);
    }
    words[word] = bits;
    count += static_cast<unsigned>(std::popcount(bits));
  }
  return count;
}

void pick_ids_plain(const particle_id* ids, std::size_t lanes, const std::uint64_t* words, particle_id* out) {
  for (std::size_t begin = 0; begin < lanes; begin += 64) {
    for (std::uint64_t word = words[begin / 64]; word != 0; word &= word - 1) {
      *out++ = ids[begin + static_cast<std::size_t>(std::countr_zero(word))];
    }
  }
}

#if QUADRAT_X86_LANES

static_assert(lanes_a_step == 8, "one byte of the words a step");

/// The bytes of the words; the last word is cleared.
[[nodiscard]] inline unsigned char* cleared_bytes(std::uint64_t* words, std::size_t lanes) {
  if (lanes > 0) words[(lanes - 1) / 64] = 0;
  return reinterpret_cast<unsigned char*>(words);
}

/// Every x86-64 has SSE2.
template <int D>
unsigned test_lanes_sse2(const candidate_lanes<double, D>& candidates, std::size_t first, std::size_t last,
                         const vec<double, D>& from, const vec<double, D>& translation, double squared_reach,
                         std::uint64_t* words) {
  unsigned char* bytes = cleared_bytes(words, last - first);
  const __m128d limit = _mm_set1_pd(squared_reach);
  unsigned count = 0;
  for (std::size_t k = first; k < last; k += 8) {
    int mask = 0;
    for (int part = 0; part < 4; ++part) {
      __m128d sum = _mm_setzero_pd();
      for (int axis = 0; axis < D; ++axis) {
        const __m128d to = _mm_load_pd(candidates.position[axis] + k + 2 * part);
        const __m128d r = _mm_add_pd(_mm_sub_pd(to, _mm_set1_pd(from[axis])), _mm_set1_pd(translation[axis]));
        sum = axis == 0 ? _mm_mul_pd(r, r) : _mm_add_pd(sum, _mm_mul_pd(r, r));
      }
      mask |= _mm_movemask_pd(_mm_cmplt_pd(sum, limit)) << 2 * part;
    }
    *bytes++ = static_cast<unsigned char>(mask);
    count += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(mask)));
  }
  return count;
}

template <int D>
unsigned test_lanes_sse2(const candidate_lanes<float, D>& candidates, std::size_t first, std::size_t last,
                         const vec<float, D>& from, const vec<float, D>& translation, float squared_reach,
                         std::uint64_t* words) {
  unsigned char* bytes = cleared_bytes(words, last - first);
  const __m128 limit = _mm_set1_ps(squared_reach);
  unsigned count = 0;
  for (std::size_t k = first; k < last; k += 8) {
    int mask = 0;
    for (int part = 0; part < 2; ++part) {
      __m128 sum = _mm_setzero_ps();
      for (int axis = 0; axis < D; ++axis) {
        const __m128 to = _mm_load_ps(candidates.position[axis] + k + 4 * part);
        const __m128 r = _mm_add_ps(_mm_sub_ps(to, _mm_set1_ps(from[axis])), _mm_set1_ps(translation[axis]));
        sum = axis == 0 ? _mm_mul_ps(r, r) : _mm_add_ps(sum, _mm_mul_ps(r, r));
      }
      mask |= _mm_movemask_ps(_mm_cmplt_ps(sum, limit)) << 4 * part;
    }
    *bytes++ = static_cast<unsigned char>(mask);
    count += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(mask)));
  }
  return count;
}

template <int D>
__attribute__((target("avx2,popcnt"))) unsigned test_lanes_avx2(const candidate_lanes<double, D>& candidates,
                                                                std::size_t first, std::size_t last,
                                                                const vec<double, D>& from,
                                                                const vec<double, D>& translation, double squared_reach,
                                                                std::uint64_t* words) {
  unsigned char* bytes = cleared_bytes(words, last - first);
  const __m256d limit = _mm256_set1_pd(squared_reach);
  unsigned count = 0;
  for (std::size_t k = first; k < last; k += 8) {
    int mask = 0;
    for (int part = 0; part < 2; ++part) {
      __m256d sum = _mm256_setzero_pd();
      for (int axis = 0; axis < D; ++axis) {
        const __m256d to = _mm256_loadu_pd(candidates.position[axis] + k + 4 * part);
        const __m256d r =
            _mm256_add_pd(_mm256_sub_pd(to, _mm256_set1_pd(from[axis])), _mm256_set1_pd(translation[axis]));
        sum = axis == 0 ? _mm256_mul_pd(r, r) : _mm256_add_pd(sum, _mm256_mul_pd(r, r));
      }
      mask |= _mm256_movemask_pd(_mm256_cmp_pd(sum, limit, _CMP_LT_OQ)) << 4 * part;
    }
    *bytes++ = static_cast<unsigned char>(mask);
    count += static_cast<unsigned>(__builtin_popcount(static_cast<unsigned>(mask)));
  }
  return count;
}

template <int D>
__attribute__((target("avx2,popcnt"))) unsigned test_lanes_avx2(const candidate_lanes<float, D>& candidates,
                                                                std::size_t first, std::size_t last,
                                                                const vec<float, D>& from,
                                                                const vec<float, D>& translation, float squared_reach,
                                                                std::uint64_t* words) {
  unsigned char* bytes = cleared_bytes(words, last - first);
  const __m256 limit = _mm256_set1_ps(squared_reach);
  unsigned count = 0;
  for (std::size_t k = first; k < last; k += 8) {
    __m256 sum = _mm256_setzero_ps();
    for (int axis = 0; axis < D; ++axis) {
      const __m256 to = _mm256_loadu_ps(candidates.position[axis] + k);
      const __m256 r = _mm256_add_ps(_mm256_sub_ps(to, _mm256_set1_ps(from[axis])), _mm256_set1_ps(translation[axis]));
      sum = axis == 0 ? _mm256_mul_ps(r, r) : _mm256_add_ps(sum, _mm256_mul_ps(r, r));
    }
    const int mask = _mm256_movemask_ps(_mm256_cmp_ps(sum, limit, _CMP_LT_OQ));
    *bytes++ = static_cast<unsigned char>(mask);
    count += static_cast<unsigned>(__builtin_popcount(static_cast<unsigned>(mask)));
  }
  return count;
}

template <int D>
__attribute__((target("avx512f,popcnt"))) unsigned test_lanes_avx512(const candidate_lanes<double, D>& candidates,
                                                                     std::size_t first, std::size_t last,
                                                                     const vec<double, D>& from,
                                                                     const vec<double, D>& translation,
                                                                     double squared_reach, std::uint64_t* words) {
  unsigned char* bytes = cleared_bytes(words, last - first);
  const __m512d limit = _mm512_set1_pd(squared_reach);
  unsigned count = 0;
  for (std::size_t k = first; k < last; k += 8) {
    __m512d sum = _mm512_setzero_pd();
    for (int axis = 0; axis < D; ++axis) {
      const __m512d to = _mm512_loadu_pd(candidates.position[axis] + k);
      const __m512d r = _mm512_add_pd(_mm512_sub_pd(to, _mm512_set1_pd(from[axis])), _mm512_set1_pd(translation[axis]));
      sum = axis == 0 ? _mm512_mul_pd(r, r) : _mm512_add_pd(sum, _mm512_mul_pd(r, r));
    }
    const __mmask8 mask = _mm512_cmp_pd_mask(sum, limit, _CMP_LT_OQ);
    *bytes++ = static_cast<unsigned char>(mask);
    count += static_cast<unsigned>(__builtin_popcount(mask));
  }
  return count;
}

/// Compresses in a register: a compressing store takes a hundred cycles on some CPUs.
__attribute__((target("avx512f,popcnt"))) void pick_ids_avx512(const particle_id* ids, std::size_t lanes,
                                                               const std::uint64_t* words, particle_id* out) {
  for (std::size_t begin = 0; begin < lanes; begin += 16) {
    const auto mask = static_cast<__mmask16>(words[begin / 64] >> begin % 64 & 0xffff);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(ids + begin)));
    out += __builtin_popcount(mask);
  }
}

#endif

}  // namespace

template <typename T, int D>
std::vector<test_lanes_function<T, D>> test_lanes_functions() {
  std::vector<test_lanes_function<T, D>> functions;
#if QUADRAT_X86_LANES
  if constexpr (std::is_same_v<T, double>) {
    if (__builtin_cpu_supports("avx512f")) functions.push_back(test_lanes_avx512<D>);
  }
  if (__builtin_cpu_supports("avx2")) functions.push_back(test_lanes_avx2<D>);
  functions.push_back(test_lanes_sse2<D>);
#endif
  functions.push_back(test_lanes_plain<T, D>);
  return functions;
}

std::vector<pick_ids_function> pick_ids_functions() {
  std::vector<pick_ids_function> functions;
#if QUADRAT_X86_LANES
  if (__builtin_cpu_supports("avx512f")) functions.push_back(pick_ids_avx512);
#endif
  functions.push_back(pick_ids_plain);
  return functions;
}

template std::vector<test_lanes_function<float, 2>> test_lanes_functions();
template std::vector<test_lanes_function<float, 3>> test_lanes_functions();
template std::vector<test_lanes_function<double, 2>> test_lanes_functions();
template std::vector<test_lanes_function<double, 3>> test_lanes_functions();

}  // namespace quadrat::detail
