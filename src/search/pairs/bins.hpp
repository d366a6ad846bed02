// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/pair_counts.hpp"

namespace quadrat::detail {

/// Steps of sums in fixed point: terms are at most 2^40 of them.
inline constexpr int fixed_point_bits = 40;

/// A term of a sum in steps; `steps_per_unit` is a power of two. The same on CPUs and GPUs.
[[nodiscard]] QUADRAT_HD inline std::int64_t fixed_point(double value, double steps_per_unit) {
#if defined(__CUDA_ARCH__)
  return __double2ll_rn(value * steps_per_unit);
#else
  return std::llrint(value * steps_per_unit);
#endif
}

/// Squared distances with the same leading bits: where the search for their bin begins.
template <typename T>
struct alignas(2 * sizeof(T)) bin_start {
  std::uint32_t row;  ///< edges that none of them is below
  T edge;             ///< the next one, or the last
};

/// The bins of pairs. Rows are numbers of edges that are not above a squared distance: bin k is row k + 1, and the
/// first and the last row are no bins. A table over the leading bits of a squared distance, which increase with it,
/// says in which row its search begins.
template <typename T>
struct pair_bins {
  static constexpr std::uint32_t most_starts = 2048;

  const T* squared_edges;      ///< bins + 1
  const bin_start<T>* starts;  ///< `last_start` + 1
  const T* second_edges;       ///< second_bins + 1; nullptr: one bin
  std::uint32_t bins;
  std::uint32_t second_bins;
  std::int32_t first_key;
  std::int32_t last_start;
  std::uint32_t key_shift;
  bool single;  ///< no two edges have the same leading bits: the search has one
                ///< step
  T low, high;  ///< the first and last squared edge
  T second_rate;
  pair_coordinates coordinates;

  [[nodiscard]] QUADRAT_HD std::uint32_t size() const { return bins * second_bins; }

  /// The leading bits of a squared distance.
  [[nodiscard]] QUADRAT_HD static std::int32_t leading_bits(T squared) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) return __float_as_int(squared);
    return __double2hiint(squared);
#else
    if constexpr (sizeof(T) == 4) return std::bit_cast<std::int32_t>(squared);
    return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(static_cast<double>(squared)) >> 32);
#endif
  }
  /// Where the search for the row of any squared distance begins.
  [[nodiscard]] QUADRAT_HD const bin_start<T>& start_of(T squared) const {
    const std::int32_t bits = leading_bits(squared) >> key_shift;
#if defined(__CUDA_ARCH__)
    return starts[__viaddmin_s32_relu(bits, -first_key, last_start)];
#else
    const std::int32_t key = bits - first_key;
    return starts[key < 0 ? 0 : (key < last_start ? key : last_start)];
#endif
  }
  /// The bin along the first coordinate of a square from `low` to below `high`.
  [[nodiscard]] QUADRAT_HD std::uint32_t first_bin(T squared) const {
    const bin_start<T> start = start_of(squared);
    std::uint32_t row = start.row + (squared >= start.edge ? 1 : 0);
    while (!single && squared >= squared_edges[row]) ++row;
    return row - 1;
  }

  /// The square of the first coordinate.
  [[nodiscard]] QUADRAT_HD T squared(const vec<T, 3>& r) const {
    return coordinates == pair_coordinates::rp_pi ? r[0] * r[0] + r[1] * r[1] : squared_norm(r);
  }
  /// Adds the bin along the second coordinate; returns whether there is one. `along` is z of the separation.
  [[nodiscard]] QUADRAT_HD bool add_second(T squared, T along, std::uint32_t& bin) const {
    if (second_edges == nullptr) return true;
    T x = std::fabs(along);
    if (coordinates == pair_coordinates::s_mu) x = squared > T(0) ? x / std::sqrt(squared) : T(0);
    if (!(x >= second_edges[0] && x < second_edges[second_bins])) return false;
    auto second = static_cast<std::uint32_t>((x - second_edges[0]) * second_rate);
    if (second > second_bins - 1) second = second_bins - 1;
    while (x < second_edges[second]) --second;
    while (x >= second_edges[second + 1]) ++second;
    bin = bin * second_bins + second;
    return true;
  }
  /// The first coordinate: what means are taken of.
  [[nodiscard]] QUADRAT_HD T separation(T squared) const {
    const T root = std::sqrt(squared);
    if (coordinates != pair_coordinates::theta) return root;
    return T(2) * std::asin(root < T(2) ? root / T(2) : T(1)) * T(180 / std::numbers::pi);
  }
};

/// Whether sums are taken besides counts, and the steps of their terms.
struct pair_sums {
  bool weighted = false;
  bool means = false;
  std::uint32_t regions = 0;    ///< whose pairs are counted, too
  double weight_steps = 0;      ///< per unit of a product of weights
  double separation_steps = 0;  ///< per unit of the first coordinate

  [[nodiscard]] QUADRAT_HD bool any() const { return weighted || means || regions > 0; }
};

}  // namespace quadrat::detail
