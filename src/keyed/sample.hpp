// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "keyed/source.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// The sampled elements: windows of 32 consecutive elements, as a warp reads them. Windows are spread over each of a
/// few blocks of 4096, and the blocks over all elements. Up to 4096 elements, all are sampled.
struct key_sample_layout {
  static constexpr std::size_t window = 32;
  static constexpr std::size_t block = 4096;
  static constexpr std::size_t most_blocks = 16;
  static constexpr std::size_t most_windows = 8;  ///< per block, if there is more than one block

  std::size_t count;    ///< elements in all
  std::size_t blocks;   ///< sampled blocks
  std::size_t windows;  ///< per block
  std::size_t taken;    ///< sampled elements

  explicit key_sample_layout(std::size_t elements)
      : count(elements),
        blocks(elements > block ? most_blocks : 1),
        windows(elements > block ? most_windows : (elements + window - 1) / window),
        taken(elements > block ? most_blocks * most_windows * window : elements) {}

  /// For a choice among more than 4096 elements, the sample is smaller: a quarter on GPUs, an eighth on CPUs, where the
  /// statistics take longest.
  [[nodiscard]] static key_sample_layout of(bool cuda, std::size_t elements) {
    key_sample_layout layout(elements);
    if (elements > block) {
      layout.blocks = cuda ? most_blocks : most_blocks / 2;
      layout.windows = most_windows / 4;
      layout.taken = layout.blocks * layout.windows * window;
    }
    return layout;
  }

  /// The element at place s of the sample, which goes block by block and window by window.
  [[nodiscard]] QUADRAT_HD std::size_t element(std::size_t s) const {
    if (blocks == 1) return s;
    const std::size_t in_window = s % window, w = s / window % windows, b = s / (window * windows);
    const std::size_t first = (count - block) / (blocks - 1) * b / window * window;
    return first + w * (block / windows) + in_window;
  }
};

/// Index: place in the sample. Writes its key, or no_key if that is out of range.
struct take_key_sample {
  key_source source;
  key_sample_layout layout;
  std::uint32_t* keys;

  QUADRAT_HD void operator()(std::size_t s) const {
    const std::uint32_t key = source.raw(layout.element(s));
    keys[s] = key < source.key_count ? key : no_key;
  }
};

/// Statistics of a sample. Keys that are out of range are ignored.
struct key_sample {
  double seen = 0;          ///< elements in the sample
  double same = 0;          ///< share of adjacent pairs with the same key
  double descending = 0;    ///< share of adjacent pairs with descending keys
  double warp_keys = 1;     ///< distinct keys of 32 consecutive elements, on average
  double warp_sectors = 1;  ///< sectors of 32 bytes that their 4-byte results occupy
  double block_keys = 1;    ///< distinct keys of 4096 consecutive elements, estimated
  double block_span = 1;    ///< range of keys of 4096 consecutive elements
  double span = 1;          ///< range of keys
  double commonest = 0;     ///< share of the most frequent key, estimated
  bool assumed = false;     ///< not sampled: these are even_keys
};

/// The assumption if keys were not sampled: equally frequent keys in random order.
[[nodiscard]] key_sample even_keys(double elements, double keys);

/// A kind of keys and its relative probability.
struct supposed_sample {
  double weight;
  key_sample sample;
};
/// The kinds of keys assumed if none were sampled: even ones, in random order or sorted, or a single one.
[[nodiscard]] std::array<supposed_sample, 3> supposed_keys(double elements, double keys);

/// The time of a sample in milliseconds: on a CPU, in a GPU's stream, or when the host waits for a GPU.
[[nodiscard]] inline double sample_ms(bool cuda, bool waits, const key_sample_layout& layout) {
  constexpr double in_stream = 0.005, waited_for = 0.03;
  if (cuda) return waits ? waited_for : in_stream;
  return 0.002 + 1.5e-5 * static_cast<double>(layout.taken);
}

/// The sample's keys, in its order; no_key for a key out of range (which raises no fault). Synchronizes.
template <typename Context>
[[nodiscard]] std::vector<std::uint32_t> read_key_sample(const Context& context, const key_source& source,
                                                         const key_sample_layout& layout, workspace<Context>& scratch);

/// The statistics of these keys.
[[nodiscard]] key_sample summarize(const key_sample_layout& layout, std::span<const std::uint32_t> keys);

}  // namespace quadrat::detail
