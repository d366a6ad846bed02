// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/keys_in_range.hpp"

#include <array>

#include "core/cpu_lanes.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define QUADRAT_X86_KEYS 1
#include <immintrin.h>
#else
#define QUADRAT_X86_KEYS 0
#endif

namespace quadrat::detail {

namespace {

#if QUADRAT_X86_KEYS

#define QUADRAT_KEYS_AVX512 __attribute__((target("avx512f,popcnt")))
#define QUADRAT_KEYS_AVX2 __attribute__((target("avx2,popcnt")))

QUADRAT_KEYS_AVX512 inline __mmask16 range_mask_avx512(const std::uint32_t* keys, std::uint32_t first,
                                                       std::uint32_t last) {
  const __m512i offset = _mm512_sub_epi32(_mm512_loadu_si512(keys), _mm512_set1_epi32(static_cast<int>(first)));
  return _mm512_cmplt_epu32_mask(offset, _mm512_set1_epi32(static_cast<int>(last - first)));
}
QUADRAT_KEYS_AVX512 inline __mmask16 range_mask_avx512(const std::uint64_t* keys, std::uint64_t first,
                                                       std::uint64_t last) {
  const __m512i begin = _mm512_set1_epi64(static_cast<long long>(first));
  const __m512i span = _mm512_set1_epi64(static_cast<long long>(last - first));
  const __m512i low = _mm512_sub_epi64(_mm512_loadu_si512(keys), begin);
  const __m512i high = _mm512_sub_epi64(_mm512_loadu_si512(keys + 8), begin);
  return static_cast<__mmask16>(_mm512_cmplt_epu64_mask(low, span) | _mm512_cmplt_epu64_mask(high, span) << 8);
}

/// Compresses in a register: a compressing store takes a hundred cycles on some CPUs.
template <typename Key>
QUADRAT_KEYS_AVX512 std::size_t keys_in_range_avx512(const Key* keys, std::size_t count, Key first, Key last,
                                                     std::uint32_t* places) {
  __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  std::uint32_t* out = places;
  for (std::size_t j = 0; j < count; j += keys_a_step) {
    const __mmask16 mask = range_mask_avx512(keys + j, first, last);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(mask, lanes));
    out += __builtin_popcount(mask);
    lanes = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(keys_a_step)));
  }
  return static_cast<std::size_t>(out - places);
}

/// The set bits of each byte, in order.
struct bit_lists {
  alignas(32) std::array<std::array<std::uint32_t, 8>, 256> bits{};

  constexpr bit_lists() {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::size_t count = 0;
      for (std::uint32_t bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) != 0) bits[byte][count++] = bit;
      }
    }
  }
};
constexpr bit_lists lists_of_bits;

QUADRAT_KEYS_AVX2 inline unsigned range_mask_avx2(const std::uint32_t* keys, std::uint32_t first, std::uint32_t last) {
  const __m256i offset = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys)),
                                          _mm256_set1_epi32(static_cast<int>(first)));
  const __m256i most = _mm256_set1_epi32(static_cast<int>(last - first - 1));
  const __m256i inside = _mm256_cmpeq_epi32(_mm256_min_epu32(offset, most), offset);
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(inside)));
}
/// AVX2 cannot compare unsigned numbers, so both are shifted by half of their range.
QUADRAT_KEYS_AVX2 inline unsigned range_mask_avx2(const std::uint64_t* keys, std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  const std::uint64_t shifted = first + half;
  const __m256i begin = _mm256_set1_epi64x(static_cast<long long>(shifted));
  const std::uint64_t count = (last - first) ^ half;
  const __m256i span = _mm256_set1_epi64x(static_cast<long long>(count));
  unsigned mask = 0;
  for (std::size_t part = 0; part < 2; ++part) {
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys + 4 * part));
    const __m256i inside = _mm256_cmpgt_epi64(span, _mm256_sub_epi64(here, begin));
    mask |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(inside))) << 4 * part;
  }
  return mask;
}

template <typename Key>
QUADRAT_KEYS_AVX2 std::size_t keys_in_range_avx2(const Key* keys, std::size_t count, Key first, Key last,
                                                 std::uint32_t* places) {
  if (first == last) return 0;
  std::uint32_t* out = places;
  for (std::size_t j = 0; j < count; j += 8) {
    const unsigned mask = range_mask_avx2(keys + j, first, last);
    const __m256i bits = _mm256_load_si256(reinterpret_cast<const __m256i*>(lists_of_bits.bits[mask].data()));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_add_epi32(bits, _mm256_set1_epi32(static_cast<int>(j))));
    out += __builtin_popcount(mask);
  }
  return static_cast<std::size_t>(out - places);
}

#endif

}  // namespace

template <typename Key>
std::vector<keys_in_range_function<Key>> keys_in_range_functions() {
  std::vector<keys_in_range_function<Key>> functions;
#if QUADRAT_X86_KEYS
  if (has_lanes(cpu_lanes::avx512)) functions.push_back(keys_in_range_avx512<Key>);
  if (has_lanes(cpu_lanes::avx2)) functions.push_back(keys_in_range_avx2<Key>);
#endif
  functions.push_back(keys_in_range_plain<Key>);
  return functions;
}

template std::vector<keys_in_range_function<std::uint32_t>> keys_in_range_functions();
template std::vector<keys_in_range_function<std::uint64_t>> keys_in_range_functions();

}  // namespace quadrat::detail
