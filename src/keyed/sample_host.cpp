// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "keyed/sample.hpp"

namespace quadrat::detail {

namespace {

using key_span = std::span<const std::uint32_t>;

/// Counts by key, in a table made once for all pieces of a sample, because a choice may wait for it.
template <typename Count>
class key_table {
 public:
  /// For at most this many keys at a time.
  explicit key_table(std::size_t most) : places_(std::bit_ceil(2 * most + 2)), mask_(places_.size() - 1) {}

  void clear() { ++piece_; }
  /// The count of a key, and whether the key is new.
  [[nodiscard]] std::pair<Count&, bool> at(std::uint32_t key) {
    constexpr std::uint32_t golden = 0x9e3779b9;  // mixes neighboring keys
    std::size_t place = key * golden >> 8 & mask_;
    while (places_[place].piece == piece_ && places_[place].key != key) place = (place + 1) & mask_;
    slot& found = places_[place];
    const bool is_new = found.piece != piece_;
    if (is_new) found = {key, piece_, Count{}};
    return {found.count, is_new};
  }

 private:
  struct slot {
    std::uint32_t key = 0, piece = 0;
    Count count{};
  };
  std::vector<slot> places_;
  std::size_t mask_;
  std::uint32_t piece_ = 1;
};
struct nothing_more {};
using key_set = key_table<nothing_more>;

/// Number of distinct keys (shifted right by `shift`) in a piece of the sample; no_key does not count.
[[nodiscard]] double distinct_keys(key_span keys, int shift, key_set& met) {
  met.clear();
  double distinct = 0;
  for (const std::uint32_t key : keys) {
    if (key != no_key && met.at(key >> shift).second) ++distinct;
  }
  return distinct;
}

/// Estimates the distinct keys of `wanted` windows if one has `one` and `some` windows have `several`. Assumes that
/// each window draws `one` keys from the same pool, and fits the size of the pool.
[[nodiscard]] double extrapolate(double one, double several, double some, double wanted) {
  const auto met = [one](double lot, double windows) { return lot * -std::expm1(windows * std::log1p(-one / lot)); };
  if (some <= 1 || several >= some * one * 0.999) return one * wanted;
  double low = several, high = 1e12;
  if (met(low * (1 + 1e-9), some) >= several) return several;
  for (int step = 0; step < 100; ++step) {
    const double middle = std::sqrt(low * high);
    (met(middle, some) < several ? low : high) = middle;
  }
  return met(high, wanted);
}

/// Statistics summed over the windows.
struct window_sums {
  double elements = 0, neighbors = 0, same = 0, descending = 0, keys = 0, sectors = 0;

  void add(key_span window, key_set& met) {
    keys += distinct_keys(window, 0, met);
    elements += static_cast<double>(window.size() - static_cast<std::size_t>(std::ranges::count(window, no_key)));
    sectors += distinct_keys(window, 3, met);
    for (std::size_t i = 1; i < window.size(); ++i) {
      if (window[i - 1] == no_key || window[i] == no_key) continue;
      ++neighbors;
      same += window[i - 1] == window[i] ? 1 : 0;
      descending += window[i - 1] > window[i] ? 1 : 0;
    }
  }
};

/// The share of the most frequent key. With several blocks, each key's fullest block is ignored: if equal keys are
/// adjacent, one block says nothing about the whole.
[[nodiscard]] double commonest_share(key_span keys, std::size_t block_elements, bool several, double seen) {
  struct elements {
    std::size_t all = 0, here = 0, best = 0, block = 0;  ///< in all; in the last block; in the fullest block
  };
  key_table<elements> table(keys.size());
  std::size_t most = 0;
  for (std::size_t s = 0; s < keys.size(); ++s) {
    if (keys[s] == no_key) continue;
    elements& one = table.at(keys[s]).first;
    const std::size_t block = s / block_elements;
    if (one.block != block) one.here = 0, one.block = block;
    ++one.all;
    one.best = std::max(one.best, ++one.here);
    if (!several) most = std::max(most, one.all);
  }
  for (const std::uint32_t key : keys) {
    if (!several || key == no_key) continue;
    const elements& one = table.at(key).first;
    most = std::max(most, one.all - one.best);
  }
  const double of = several ? seen - static_cast<double>(block_elements) : seen;
  return std::min(1.0, static_cast<double>(most) / std::max(of, 1.0));
}

/// The smallest and the largest key.
struct key_extent {
  std::uint32_t least = no_key, greatest = 0;
  void add(key_span keys) {
    for (const std::uint32_t key : keys) {
      if (key == no_key) continue;
      least = std::min(least, key);
      greatest = std::max(greatest, key);
    }
  }
  [[nodiscard]] double span() const { return least == no_key ? 1 : static_cast<double>(greatest - least) + 1; }
};

/// Expected distinct values among `draws` draws from `values` values.
[[nodiscard]] double distinct_of_draws(double draws, double values) {
  return values <= 1 ? 1 : values * -std::expm1(draws * std::log1p(-1 / values));
}

}  // namespace

key_sample even_keys(double elements, double keys) {
  constexpr double window = key_sample_layout::window, keys_of_sector = 8;
  const double block = std::min(static_cast<double>(key_sample_layout::block), std::max(elements, 1.0));
  key_sample result;
  result.same = 1 / std::max(keys, 1.0);
  result.descending = 0.5 * (1 - result.same);
  result.warp_keys = distinct_of_draws(window, keys);
  result.warp_sectors = distinct_of_draws(window, std::ceil(keys / keys_of_sector));
  result.block_keys = distinct_of_draws(block, keys);
  result.block_span = std::max(1.0, keys * (block - 1) / (block + 1));
  result.span = std::max(1.0, keys * (elements - 1) / (elements + 1));
  result.commonest = result.same;
  result.assumed = true;
  return result;
}

std::array<supposed_sample, 3> supposed_keys(double elements, double keys) {
  constexpr double window = key_sample_layout::window, block = key_sample_layout::block, keys_of_sector = 8;
  const double all = std::max(elements, 1.0), lot = std::max(keys, 1.0);
  const double distinct = distinct_of_draws(all, lot);
  const auto distinct_of = [&](double some) {  // among sorted elements: one, and one more at each new key
    return 1 + (std::min(some, all) - 1) * (distinct - 1) / std::max(all - 1, 1.0);
  };
  key_sample sorted = even_keys(elements, keys);
  sorted.same = std::max(0.0, 1 - distinct / all);
  sorted.descending = 0;
  sorted.warp_keys = distinct_of(window);
  sorted.warp_sectors = std::min(sorted.warp_keys, std::max(1.0, window / all * lot / keys_of_sector));
  sorted.block_keys = distinct_of(block);
  sorted.block_span = std::clamp(block / all * lot, 1.0, lot);
  key_sample single = even_keys(elements, 1);
  return {{{1, even_keys(elements, keys)}, {1, sorted}, {0.1, single}}};
}

key_sample summarize(const key_sample_layout& layout, key_span keys) {
  key_sample result;
  key_set met(keys.size());
  window_sums sums;
  key_extent all;
  const std::size_t in_block = layout.blocks > 1 ? layout.windows * layout.window : keys.size();
  double block_keys = 0, block_spans = 0;
  for (std::size_t first = 0; first < keys.size(); first += in_block) {
    const key_span block = keys.subspan(first, in_block);
    for (std::size_t w = 0; w < block.size(); w += layout.window) {
      sums.add(block.subspan(w, std::min(layout.window, block.size() - w)), met);
    }
    block_keys += distinct_keys(block, 0, met);
    key_extent here;
    here.add(block);
    all.add(block);
    block_spans += here.span();
  }
  if (sums.elements == 0) return result;
  const double blocks = static_cast<double>(layout.blocks), windows = static_cast<double>(layout.windows);
  const double window = static_cast<double>(layout.window);
  result.seen = sums.elements;
  result.same = sums.neighbors > 0 ? sums.same / sums.neighbors : 0;
  result.descending = sums.neighbors > 0 ? sums.descending / sums.neighbors : 0;
  result.warp_keys = window * sums.keys / sums.elements;
  result.warp_sectors = window * sums.sectors / sums.elements;
  result.block_keys = block_keys / blocks;
  if (layout.blocks > 1) {
    const double most = static_cast<double>(layout.block) / window;
    result.block_keys = extrapolate(sums.keys / (blocks * windows), result.block_keys, windows, most);
  }
  result.block_span = block_spans / blocks;
  result.span = all.span();
  result.commonest = commonest_share(keys, in_block, layout.blocks > 1, sums.elements);
  return result;
}

}  // namespace quadrat::detail
