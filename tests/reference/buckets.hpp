// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quadrat::reference {

/// The elements of each bucket, in increasing order.
inline std::vector<std::vector<std::uint32_t>> buckets(const std::vector<std::uint32_t>& keys,
                                                       std::size_t bucket_count) {
  std::vector<std::vector<std::uint32_t>> result(bucket_count);
  for (std::size_t i = 0; i < keys.size(); ++i) result[keys[i]].push_back(static_cast<std::uint32_t>(i));
  return result;
}

}  // namespace quadrat::reference
