// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/atomic/shared_bins.hpp"

#include <algorithm>

namespace quadrat::detail {

namespace {

/// Bytes of results in a block up to which it has tables of all keys; beyond, it hashes.
constexpr double direct_bytes = 100 << 10;
/// Blocks that have one, elements of a block at least, and picoseconds for each of their results.
constexpr double direct_blocks = 264, direct_elements = 4096, direct_result = 4;
/// Blocks that hash at one time, and microseconds that a thread takes for the next of a list: with lists of one length,
/// and what is added where they are not.
constexpr double hashed_at_once = 792, list_even = 0.05, list_uneven = 0.5;

/// How many times longer blocks take for tables of all keys where lanes of a warp meet in one copy.
[[nodiscard]] double direct_meetings(const key_request& request) {
  double copies = 32;
  while (copies > 1 && request.keys * request.row_bytes * copies > direct_bytes) copies /= 2;
  return std::max(1.0, 32 / request.sample.warp_keys / copies);
}

/// Picoseconds for lists that are longer than blocks have threads for.
[[nodiscard]] double list_time(const key_request& request) {
  const double rounds = std::max(1.0, request.elements / key_block_elements / hashed_at_once);
  const double length = key_block_elements / std::clamp(request.sample.block_keys, 1.0, key_block_elements);
  return 1e6 * rounds * (length - 1) * (list_even + list_uneven * (1 - request.sample.same));
}

}  // namespace

double shared_bins_method::cost(const key_request& request) {
  if (request.keys * request.row_bytes > direct_bytes) {
    return cuda_time({left_over::block_keys, 5, 3.2, 0.25}, request, list_time(request));
  }
  const double meetings = direct_meetings(request);
  const double tables = std::min(direct_blocks, request.elements / direct_elements);
  return cuda_time({left_over::nothing, 5, 2.0 * meetings, 0.25 * meetings}, request,
                   direct_result * tables * request.keys);
}

}  // namespace quadrat::detail
