// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "search/levels/layer_rows.hpp"
#include "search/pairs/bins.hpp"
#include "search/search.hpp"

/// The work of pair_counts: what the kernels of CPUs and GPUs read and write.
namespace quadrat::detail {

/// Points in the order of cells. Arrays are longer than `count` by `lanes_beyond`.
template <typename T>
struct placed_points {
  std::uint32_t count;
  const search_point<T, 3>* records;  ///< CUDA
  const T* component[3];              ///< CPU
  const T* weights;                   ///< nullptr: none
  const std::uint32_t* regions;       ///< nullptr: none

  static constexpr std::size_t lanes_beyond = 16;
};

/// What is added up for each bin: arrays of a word per bin, in this order.
enum pair_word { pairs_word, weights_low, weights_high, separations_low, separations_high, pair_words };
/// What follows for each region: arrays of a word per [region][bin], in this order.
enum region_word { region_pairs, region_weights_low, region_weights_high, region_words };

/// Pairs of sources and targets, which are in cells of one system.
template <typename T>
struct counted_pairs {
  search_system<T, 3> system;
  const std::uint32_t* cell_offsets;  ///< of targets
  placed_points<T> sources;
  placed_points<T> targets;
  bool own;  ///< the sets are one: each pair of different points is counted
             ///< once, and none of a point with itself
  pair_region<T> region;
  vec<int, 3> span;  ///< cells between points of a group
  pair_bins<T> bins;
  pair_sums sums;

  /// The place of a word among all, and the number of all.
  [[nodiscard]] QUADRAT_HD std::size_t place(region_word word, std::uint32_t of, std::uint32_t bin) const {
    return (pair_words + word * std::size_t{sums.regions} + of) * bins.size() + bin;
  }
  [[nodiscard]] QUADRAT_HD std::size_t words() const { return place(region_words, 0, 0); }
};

/// A sum of terms in fixed point is `high` * 2^part_bits + `low`; high is signed. Both fit for 2^43 terms.
inline constexpr int part_bits = 20;
[[nodiscard]] QUADRAT_HD inline std::uint64_t low_part(std::int64_t term) {
  return static_cast<std::uint64_t>(term) & ((std::uint64_t{1} << part_bits) - 1);
}
[[nodiscard]] QUADRAT_HD inline std::uint64_t high_part(std::int64_t term) {
  return static_cast<std::uint64_t>(term >> part_bits);
}
/// The sum in steps: the same, however the terms were grouped.
[[nodiscard]] inline double sum_of_parts(std::uint64_t low, std::uint64_t high) {
  const auto upper = static_cast<std::int64_t>(high + (low >> part_bits));
  return static_cast<double>(upper) * (1 << part_bits) + static_cast<double>(low_part(static_cast<std::int64_t>(low)));
}

/// Adds to `totals`, which has `words()` words. Does not wait. Allocates on the CPU only.
template <typename T>
void count_pairs(const cpu_context& context, const counted_pairs<T>& pairs, std::uint64_t* totals);
/// The word behind the totals must be 0, and is used.
template <typename T>
void count_pairs(const cuda_context& context, const counted_pairs<T>& pairs, std::uint64_t* totals);

}  // namespace quadrat::detail
