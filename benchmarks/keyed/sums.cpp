// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/sums.hpp"

#include <omp.h>

#include "harness/points.hpp"

namespace quadrat::bench {

std::vector<std::int8_t> key_values(std::size_t count, int components) {
  std::vector<std::int8_t> values(count * static_cast<std::size_t>(components));
  const auto last = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < last; ++i) {
    values[static_cast<std::size_t>(i)] =
        static_cast<std::int8_t>(static_cast<int>(random_word(62, static_cast<std::uint64_t>(i)) % 255) - 127);
  }
  return values;
}

/// Each thread reads all keys and sums for a range of them.
std::vector<std::int64_t> sums_by_key(const std::vector<std::uint32_t>& keys, const std::vector<std::int8_t>& values,
                                      std::uint32_t key_count, int components) {
  const auto parts = static_cast<std::size_t>(components);
  std::vector<std::int64_t> sums(std::size_t{key_count} * parts, 0);
#pragma omp parallel
  {
    const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
    const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
    const std::uint64_t first = key_count * thread / threads;
    const std::uint64_t last = key_count * (thread + 1) / threads;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] < first || keys[i] >= last) continue;
      for (std::size_t c = 0; c < parts; ++c) sums[keys[i] * parts + c] += values[i * parts + c];
    }
  }
  return sums;
}

}  // namespace quadrat::bench
