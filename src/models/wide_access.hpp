// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "quadrat/core/macros.hpp"

namespace quadrat::detail {

/// Reads a record of a multiple of 16 bytes, aligned to 16, with 16-byte loads on the device: otherwise the compiler
/// loads members one by one if some are used earlier.
template <typename Record>
[[nodiscard]] QUADRAT_HD inline Record wide_load(const Record* from) {
  static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % 16 == 0 && alignof(Record) % 16 == 0);
#if defined(__CUDA_ARCH__)
  uint4 words[sizeof(Record) / 16];
  QUADRAT_UNROLL
  for (std::size_t i = 0; i < sizeof(Record) / 16; ++i) words[i] = reinterpret_cast<const uint4*>(from)[i];
  Record record;
  memcpy(&record, words, sizeof(Record));
  return record;
#else
  return *from;
#endif
}

/// Likewise for stores.
template <typename Record>
QUADRAT_HD inline void wide_store(Record* to, const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % 16 == 0 && alignof(Record) % 16 == 0);
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
