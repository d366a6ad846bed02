// SPDX-License-Identifier: BSD-3-Clause
#include "search/sweeps/lanes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "core/cpu_lanes.hpp"
#include "parallel/cpu_vector.hpp"
#include "search/levels/sizes.hpp"

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

/// In plain C++, for CPUs without a specialized variant. squared_cutoff(k) belongs to candidate k.
template <typename T, int D, typename SquaredCutoff>
unsigned test_lanes_against(const candidate_lanes<T, D>& candidates, std::size_t first, std::size_t last,
                            const vec<T, D>& from, const vec<T, D>& translation, std::uint64_t* words,
                            const SquaredCutoff& squared_cutoff) {
  unsigned count = 0;
  for (std::size_t word = 0; first + 64 * word < last; ++word) {
    const std::size_t begin = first + 64 * word;
    const std::size_t end = begin + 64 < last ? begin + 64 : last;
    std::uint64_t bits = 0;
    for (std::size_t k = begin; k < end; ++k) {
      vec<T, D> to{};
      for (int axis = 0; axis < D; ++axis) to[axis] = candidates.position[axis][k];
      const bool within = squared_norm((to - from) + translation) < squared_cutoff(k);
      bits |= static_cast<std::uint64_t>(within) << (k - begin);
    }
    words[word] = bits;
    count += static_cast<unsigned>(std::popcount(bits));
  }
  return count;
}

template <typename T, int D>
unsigned test_lanes_plain(const candidate_lanes<T, D>& candidates, std::size_t first, std::size_t last,
                          const vec<T, D>& from, const vec<T, D>& translation, T squared_reach, std::uint64_t* words) {
  return test_lanes_against(candidates, first, last, from, translation, words,
                            [&](std::size_t) { return squared_reach; });
}

template <bool Larger, typename T, int D>
unsigned test_radii_plain(const candidate_lanes<T, D>& candidates, std::size_t first, std::size_t last,
                          const vec<T, D>& from, const vec<T, D>& translation, const row_radius<T>& row,
                          std::uint64_t* words) {
  constexpr cutoff_rule rule = Larger ? cutoff_rule::larger_radius : cutoff_rule::sum_of_radii;
  return test_lanes_against(candidates, first, last, from, translation, words, [&](std::size_t k) {
    const T cutoff = cutoff_of_radii(rule, row.radius, candidates.radius[k], row.skin);
    return cutoff * cutoff;
  });
}

void pick_ids_plain(const particle_id* ids, std::size_t lanes, const std::uint64_t* words, particle_id* out) {
  for (std::size_t begin = 0; begin < lanes; begin += 64) {
    for (std::uint64_t word = words[begin / 64]; word != 0; word &= word - 1) {
      *out++ = ids[begin + static_cast<std::size_t>(std::countr_zero(word))];
    }
  }
}

unsigned keep_ids_plain(const particle_id* ids, std::size_t lanes, particle_id least, std::uint64_t* words) {
  unsigned count = 0;
  for (std::size_t begin = 0; begin < lanes; begin += 64) {
    std::uint64_t kept = 0;
    for (std::uint64_t word = words[begin / 64]; word != 0; word &= word - 1) {
      const int k = std::countr_zero(word);
      kept |= static_cast<std::uint64_t>(ids[begin + static_cast<std::size_t>(k)] >= least) << k;
    }
    words[begin / 64] = kept;
    count += static_cast<unsigned>(std::popcount(kept));
  }
  return count;
}

unsigned sift_ids_plain(particle_id* ids, unsigned count, particle_id least) {
  unsigned kept = 0;
  for (unsigned k = 0; k < count; ++k) {
    const particle_id id = ids[k];
    ids[kept] = id;
    kept += id >= least ? 1 : 0;
  }
  return kept;
}

#if QUADRAT_X86_LANES

static_assert(lanes_a_step == 8, "one byte of the words a step");

/// The bytes of the words; the last word is cleared.
[[nodiscard]] inline unsigned char* cleared_bytes(std::uint64_t* words, std::size_t lanes) {
  if (lanes > 0) words[(lanes - 1) / 64] = 0;
  return reinterpret_cast<unsigned char*>(words);
}

/// One cutoff, or the sum or the larger of two radii.
enum class cutoff_use { one, sum, larger };

/// The test of candidates by the instructions of a set.
template <typename Set>
struct lanes_test;

/// Every x86-64 has it.
struct sse2 {
  static constexpr int bytes = 16;
  static unsigned below(__m128 x, __m128 limit) {
    return static_cast<unsigned>(_mm_movemask_ps(_mm_cmplt_ps(x, limit)));
  }
  static unsigned below(__m128d x, __m128d limit) {
    return static_cast<unsigned>(_mm_movemask_pd(_mm_cmplt_pd(x, limit)));
  }
};
#define QUADRAT_LANES_SET sse2
#define QUADRAT_LANES_TARGET
#include "search/sweeps/test_lanes.hpp"

#define QUADRAT_LANES_SET avx2
#define QUADRAT_LANES_TARGET __attribute__((target("avx2,popcnt")))
struct avx2 {
  static constexpr int bytes = 32;
  QUADRAT_LANES_TARGET static unsigned below(__m256 x, __m256 limit) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(x, limit, _CMP_LT_OQ)));
  }
  QUADRAT_LANES_TARGET static unsigned below(__m256d x, __m256d limit) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(x, limit, _CMP_LT_OQ)));
  }
};
#include "search/sweeps/test_lanes.hpp"

#define QUADRAT_LANES_SET avx512
#define QUADRAT_LANES_TARGET __attribute__((target("avx512f,popcnt")))
/// For double only: eight floats are a register of AVX2.
struct avx512 {
  static constexpr int bytes = 64;
  QUADRAT_LANES_TARGET static unsigned below(__m512d x, __m512d limit) {
    return _mm512_cmp_pd_mask(x, limit, _CMP_LT_OQ);
  }
};
#include "search/sweeps/test_lanes.hpp"

/// Compresses in a register: a compressing store takes a hundred cycles on some CPUs.
__attribute__((target("avx512f,popcnt"))) void pick_ids_avx512(const particle_id* ids, std::size_t lanes,
                                                               const std::uint64_t* words, particle_id* out) {
  for (std::size_t begin = 0; begin < lanes; begin += 16) {
    const auto mask = static_cast<__mmask16>(words[begin / 64] >> begin % 64 & 0xffff);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(ids + begin)));
    out += __builtin_popcount(mask);
  }
}

#define QUADRAT_PICK_TARGET __attribute__((target("avx512f,avx512vl,popcnt")))

/// Bit n of eight: whether step + n is in [first, last).
[[nodiscard]] inline unsigned bits_of_step(std::size_t first, std::size_t last, std::size_t step) {
  const auto up_to = [&](std::size_t end) {  // 8 bits at most
    return (1u << (end <= step ? 0 : std::min(end - step, lanes_a_step))) - 1;
  };
  return up_to(last) & ~up_to(first);
}

QUADRAT_PICK_TARGET inline void store_lanes(float* to, __m256 values, unsigned mask) {
  _mm256_storeu_ps(to, _mm256_maskz_compress_ps(static_cast<__mmask8>(mask), values));
}
QUADRAT_PICK_TARGET inline void store_lanes(double* to, __m512d values, unsigned mask) {
  _mm512_storeu_pd(to, _mm512_maskz_compress_pd(static_cast<__mmask8>(mask), values));
}
QUADRAT_PICK_TARGET inline void store_lanes(particle_id* to, const particle_id* from, unsigned mask) {
  const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_compress_epi32(static_cast<__mmask8>(mask), values));
}
QUADRAT_PICK_TARGET inline unsigned candidates_below(__m256 x, __m256 limit) {
  return _mm256_cmp_ps_mask(x, limit, _CMP_LT_OQ);
}
QUADRAT_PICK_TARGET inline unsigned candidates_below(__m512d x, __m512d limit) {
  return _mm512_cmp_pd_mask(x, limit, _CMP_LT_OQ);
}

template <cutoff_rule Rule, typename T, int D>
QUADRAT_PICK_TARGET std::size_t pick_lanes_avx512(const slot_run<T>& slots, const reach_of_block<T, D>& block,
                                                  const vec<T, D>& translation, candidate_lanes<T, D>& lanes,
                                                  particle_id* ids, std::size_t to) {
  using vector = typename cpu_vector<T, lanes_a_step>::type;
  using anywhere = typename cpu_vector<T, lanes_a_step>::anywhere;
  const vector largest = vector{} + block.largest.radius;
  for (std::size_t k = 0; k < slots.count; k += lanes_a_step) {
    vector at[D], sum{};
    for (int axis = 0; axis < D; ++axis) {
      const T* from = slots.coordinates + static_cast<std::size_t>(axis) * slots.stride;
      at[axis] = *reinterpret_cast<const anywhere*>(from + k);
      // The least and the largest separation from the points of the block.
      const vector least = (at[axis] - block.upper[axis]) + translation[axis];
      const vector most = (at[axis] - block.lower[axis]) + translation[axis];
      vector gap = least > -most ? least : -most;
      gap = gap > vector{} ? gap : vector{};
      sum = axis == 0 ? gap * gap : sum + gap * gap;
    }
    const vector radius = *reinterpret_cast<const anywhere*>(slots.radii + k);
    vector cutoff = largest;
    if constexpr (Rule == cutoff_rule::sum_of_radii) cutoff = largest + radius;
    if constexpr (Rule == cutoff_rule::larger_radius) cutoff = largest < radius ? radius : largest;
    cutoff = cutoff + block.largest.skin;
    unsigned mask = candidates_below(sum, cutoff * cutoff);
    if (k < slots.own_last) mask |= bits_of_step(slots.own_first, slots.own_last, k);
    if (k + lanes_a_step > slots.count) mask &= bits_of_step(0, slots.count, k);
    for (int axis = 0; axis < D; ++axis) store_lanes(lanes.position[axis] + to, at[axis], mask);
    store_lanes(lanes.radius + to, radius, mask);
    store_lanes(ids + to, slots.ids + k, mask);
    to += static_cast<std::size_t>(__builtin_popcount(mask));
  }
  return to;
}

__attribute__((target("avx512f,popcnt"))) unsigned sift_ids_avx512(particle_id* ids, unsigned count,
                                                                   particle_id least) {
  const __m512i limit = _mm512_set1_epi32(static_cast<int>(least));
  unsigned kept = 0;
  for (unsigned k = 0; k < count; k += 16) {
    const auto here = static_cast<__mmask16>(count - k < 16 ? (1u << (count - k)) - 1 : 0xffffu);
    const __m512i id = _mm512_loadu_si512(ids + k);
    const __mmask16 large = _mm512_mask_cmpge_epu32_mask(here, id, limit);
    _mm512_storeu_si512(ids + kept, _mm512_maskz_compress_epi32(large, id));
    kept += static_cast<unsigned>(__builtin_popcount(large));
  }
  return kept;
}

__attribute__((target("avx2,popcnt"))) unsigned keep_ids_avx2(const particle_id* ids, std::size_t lanes,
                                                              particle_id least, std::uint64_t* words) {
  const __m256i limit = _mm256_set1_epi32(static_cast<int>(least));
  auto* bytes = reinterpret_cast<unsigned char*>(words);
  for (std::size_t k = 0; k < lanes; k += lanes_a_step) {
    const __m256i id = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ids + k));
    const __m256i large = _mm256_cmpeq_epi32(_mm256_max_epu32(id, limit), id);
    bytes[k / lanes_a_step] &= static_cast<unsigned char>(_mm256_movemask_ps(_mm256_castsi256_ps(large)));
  }
  unsigned count = 0;
  for (std::size_t word = 0; 64 * word < lanes; ++word) {
    count += static_cast<unsigned>(__builtin_popcountll(words[word]));
  }
  return count;
}

#endif

}  // namespace

void copy_streaming(void* to, const void* from, std::size_t bytes) {
#if QUADRAT_X86_LANES
  constexpr std::size_t line = 64;
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  const std::size_t head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(out) % line) % line);
  std::memcpy(out, in, head);
  std::size_t at = head;
  for (; at + line <= bytes; at += line) {
    for (std::size_t k = at; k < at + line; k += sizeof(__m128i)) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + k), _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + k)));
    }
  }
  std::memcpy(out + at, in + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}

void finish_streaming() {
#if QUADRAT_X86_LANES
  _mm_sfence();
#endif
}

template <typename T, int D>
std::vector<test_lanes_function<T, D>> test_lanes_functions() {
  std::vector<test_lanes_function<T, D>> functions;
#if QUADRAT_X86_LANES
  if constexpr (std::is_same_v<T, double>) {
    if (has_lanes(cpu_lanes::avx512)) functions.push_back(lanes_test<avx512>::run<double, D>);
  }
  if (has_lanes(cpu_lanes::avx2)) functions.push_back(lanes_test<avx2>::run<T, D>);
  functions.push_back(lanes_test<sse2>::run<T, D>);
#endif
  functions.push_back(test_lanes_plain<T, D>);
  return functions;
}

namespace {

#if QUADRAT_X86_LANES
template <cutoff_use Use, typename T, int D>
void add_x86_radii_functions(std::vector<test_radii_function<T, D>>& functions) {
  if constexpr (std::is_same_v<T, double>) {
    if (has_lanes(cpu_lanes::avx512)) functions.push_back(lanes_test<avx512>::run_radii<Use, double, D>);
  }
  if (has_lanes(cpu_lanes::avx2)) functions.push_back(lanes_test<avx2>::run_radii<Use, T, D>);
  functions.push_back(lanes_test<sse2>::run_radii<Use, T, D>);
}
#endif

}  // namespace

template <typename T, int D>
std::vector<test_radii_function<T, D>> test_radii_functions(bool larger) {
  std::vector<test_radii_function<T, D>> functions;
#if QUADRAT_X86_LANES
  if (larger) {
    add_x86_radii_functions<cutoff_use::larger>(functions);
  } else {
    add_x86_radii_functions<cutoff_use::sum>(functions);
  }
#endif
  functions.push_back(larger ? test_radii_plain<true, T, D> : test_radii_plain<false, T, D>);
  return functions;
}

template <typename T, int D>
pick_lanes_function<T, D> pick_lanes(cutoff_rule rule) {
#if QUADRAT_X86_LANES
  if (!has_lanes(cpu_lanes::avx512)) return nullptr;
  switch (rule) {
    case cutoff_rule::sum_of_radii:
      return pick_lanes_avx512<cutoff_rule::sum_of_radii, T, D>;
    case cutoff_rule::larger_radius:
      return pick_lanes_avx512<cutoff_rule::larger_radius, T, D>;
    case cutoff_rule::own_radius:
      return pick_lanes_avx512<cutoff_rule::own_radius, T, D>;
    default:
      break;
  }
#endif
  static_cast<void>(rule);
  return nullptr;
}
template pick_lanes_function<float, 2> pick_lanes(cutoff_rule);
template pick_lanes_function<float, 3> pick_lanes(cutoff_rule);
template pick_lanes_function<double, 2> pick_lanes(cutoff_rule);
template pick_lanes_function<double, 3> pick_lanes(cutoff_rule);

std::vector<pick_ids_function> pick_ids_functions() {
  std::vector<pick_ids_function> functions;
#if QUADRAT_X86_LANES
  if (has_lanes(cpu_lanes::avx512)) functions.push_back(pick_ids_avx512);
#endif
  functions.push_back(pick_ids_plain);
  return functions;
}

std::vector<keep_ids_function> keep_ids_functions() {
  std::vector<keep_ids_function> functions;
#if QUADRAT_X86_LANES
  if (has_lanes(cpu_lanes::avx2)) functions.push_back(keep_ids_avx2);
#endif
  functions.push_back(keep_ids_plain);
  return functions;
}

std::vector<sift_ids_function> sift_ids_functions() {
  std::vector<sift_ids_function> functions;
#if QUADRAT_X86_LANES
  if (has_lanes(cpu_lanes::avx512)) functions.push_back(sift_ids_avx512);
#endif
  functions.push_back(sift_ids_plain);
  return functions;
}

template std::vector<test_radii_function<float, 2>> test_radii_functions(bool);
template std::vector<test_radii_function<float, 3>> test_radii_functions(bool);
template std::vector<test_radii_function<double, 2>> test_radii_functions(bool);
template std::vector<test_radii_function<double, 3>> test_radii_functions(bool);
template std::vector<test_lanes_function<float, 2>> test_lanes_functions();
template std::vector<test_lanes_function<float, 3>> test_lanes_functions();
template std::vector<test_lanes_function<double, 2>> test_lanes_functions();
template std::vector<test_lanes_function<double, 3>> test_lanes_functions();

}  // namespace quadrat::detail
