// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "quadrat/core/macros.hpp"

/// Loads and stores of records of a multiple of 16 bytes, aligned to 16: on the device 16 bytes at once. Otherwise the
/// compiler may load members one by one, if some are used earlier.
namespace quadrat::detail {

template <typename Record>
inline constexpr bool is_wide_record =
    std::is_trivially_copyable_v<Record> && sizeof(Record) % 16 == 0 && alignof(Record) % 16 == 0;

/// `ReadOnly`: through the read-only cache.
template <bool ReadOnly, typename Record>
[[nodiscard]] QUADRAT_HD inline Record load_words(const Record* from) {
  static_assert(is_wide_record<Record>);
#if defined(__CUDA_ARCH__)
  uint4 words[sizeof(Record) / 16];
  QUADRAT_UNROLL
  for (std::size_t i = 0; i < sizeof(Record) / 16; ++i) {
    const uint4* word = reinterpret_cast<const uint4*>(from) + i;
    words[i] = ReadOnly ? __ldg(word) : *word;
  }
  Record record;
  memcpy(&record, words, sizeof(Record));
  return record;
#else
  return *from;
#endif
}

template <typename Record>
[[nodiscard]] QUADRAT_HD inline Record wide_load(const Record* from) {
  return load_words<false>(from);
}

/// The same for records that are not written during the kernel.
template <typename Record>
[[nodiscard]] QUADRAT_HD inline Record read_record(const Record* records, std::size_t i) {
  return load_words<true>(records + i);
}

template <typename Record>
QUADRAT_HD inline void wide_store(Record* to, const Record& record) {
  static_assert(is_wide_record<Record>);
#if defined(__CUDA_ARCH__)
  uint4 words[sizeof(Record) / 16];
  memcpy(words, &record, sizeof(Record));
  QUADRAT_UNROLL
  for (std::size_t i = 0; i < sizeof(Record) / 16; ++i) reinterpret_cast<uint4*>(to)[i] = words[i];
#else
  *to = record;
#endif
}

}  // namespace quadrat::detail
