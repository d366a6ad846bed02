// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>

#include "quadrat/core/macros.hpp"

#if defined(__CUDACC__)
#include <vector_types.h>
#endif

namespace quadrat::detail {

/// Reads a record that is not written during the kernel: on the device with 16-byte loads through the read-only cache.
/// Otherwise the compiler may load components one by one.
template <typename Record>
[[nodiscard]] QUADRAT_HD inline Record read_record(const Record* records, std::size_t i) {
#if defined(__CUDA_ARCH__)
  constexpr std::size_t words = sizeof(Record) / sizeof(uint4);
  const auto* source = reinterpret_cast<const uint4*>(records + i);
  uint4 raw[words];
  for (std::size_t word = 0; word < words; ++word) raw[word] = __ldg(source + word);
  Record record;
  memcpy(&record, raw, sizeof(record));
  return record;
#else
  return records[i];
#endif
}

}  // namespace quadrat::detail
