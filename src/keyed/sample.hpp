// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "keyed/source.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Which elements are looked at: windows of 32 in a row, as a warp reads them; some windows spread over each of a few
/// blocks of 4096 in a row, and the blocks over the whole. Up to 4096 elements all are.
struct key_sample_layout {
  static constexpr std::size_t window = 32;
  static constexpr std::size_t block = 4096;
  static constexpr std::size_t most_blocks = 16;
  static constexpr std::size_t most_windows = 8;  ///< a block, where there is more than one block

  std::size_t count;    ///< elements that there are
  std::size_t blocks;   ///< that are looked at
  std::size_t windows;  ///< of each of them
  std::size_t taken;    ///< elements that are looked at

  explicit key_sample_layout(std::size_t elements)
      : count(elements),
        blocks(elements > block ? most_blocks : 1),
        windows(elements > block ? most_windows : (elements + window - 1) / window),
        taken(elements > block ? most_blocks * most_windows * window : elements) {}

  /// The element at place s of the sample, which goes block by block and window by window.
  [[nodiscard]] QUADRAT_HD std::size_t element(std::size_t s) const {
    if (blocks == 1) return s;
    const std::size_t in_window = s % window, w = s / window % windows, b = s / (window * windows);
    const std::size_t first = (count - block) / (blocks - 1) * b / window * window;
    return first + w * (block / windows) + in_window;
  }
};

/// What a sample shows. Keys that are out of range are left out everywhere.
struct key_sample {
  double seen = 0;          ///< elements in the sample
  double same = 0;          ///< share of neighbors that have the same key
  double descending = 0;    ///< share of neighbors of which the second has the smaller key
  double warp_keys = 1;     ///< keys that 32 elements in a row have, on average
  double warp_sectors = 1;  ///< sectors of 32 bytes in which their results of 4 bytes each stand
  double block_keys = 1;    ///< keys that 4096 elements in a row have, estimated
  double block_span = 1;    ///< keys from the least to the largest of 4096 in a row
  double span = 1;          ///< keys from the least to the largest
  double crowd = 0;         ///< share that the commonest key has of all elements, estimated
};

/// The sample's keys, in its order; no_key where one is out of range (which raises no fault). Synchronises.
template <typename Context>
[[nodiscard]] std::vector<std::uint32_t> read_key_sample(const Context& context, const key_source& source,
                                                         workspace<Context>& scratch);

/// What they show.
[[nodiscard]] key_sample summarize(const key_sample_layout& layout, std::span<const std::uint32_t> keys);

}  // namespace quadrat::detail
