// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/atomic/shared_bins.hpp"

#include <algorithm>

namespace quadrat::detail {

namespace {

/// Up to this many bytes of results a block has tables of all keys; above that, it hashes.
constexpr double direct_bytes = 100 << 10;
/// The most blocks with such tables, the least elements of a block, and picoseconds per result of a table.
constexpr double direct_blocks = 264, direct_elements = 4096, direct_result = 4;
/// Blocks that hash at one time, and microseconds that a thread takes per list element: for lists of equal length, and
/// the extra cost for unequal ones.
constexpr double hashed_at_once = 792, list_even = 0.05, list_uneven = 0.5;

/// Slowdown of tables of all keys where lanes of a warp collide in one copy.
[[nodiscard]] double direct_meetings(const key_request& request) {
  double copies = 32;
  while (copies > 1 && request.keys * request.row_bytes * copies > direct_bytes) copies /= 2;
  return std::max(1.0, 32 / request.sample.warp_keys / copies);
}

/// Picoseconds for walking lists beyond their first element.
[[nodiscard]] double list_time(const key_request& request) {
  const double rounds = std::max(1.0, request.elements / key_block_elements / hashed_at_once);
  const double length = key_block_elements / std::clamp(request.sample.block_keys, 1.0, key_block_elements);
  return 1e6 * rounds * (length - 1) * (list_even + list_uneven * (1 - request.sample.same));
}

}  // namespace

method_cost shared_bins_method::cost(const key_request& request) {
  if (request.keys * request.row_bytes > direct_bytes) {
    return cuda_cost({left_over::block_keys, 3.2, 0.25, 0, 0, "hashed"}, request, list_time(request));
  }
  const double meetings = direct_meetings(request);
  const double tables = std::min(direct_blocks, request.elements / direct_elements);
  return cuda_cost({left_over::nothing, 2.0 * meetings, 0.25 * meetings, 0, 0, "direct"}, request,
                   direct_result * tables * request.keys);
}

}  // namespace quadrat::detail
