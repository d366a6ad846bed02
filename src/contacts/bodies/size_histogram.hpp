// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"

/// A histogram of body sizes.
namespace quadrat::detail {

/// Classes are quarters of an octave, from 2^-32 to 2^32; smaller and larger sizes count in the first and the last.
inline constexpr int size_classes = 256;

/// The class of a positive half extent: its exponent and the first two bits of its mantissa.
[[nodiscard]] QUADRAT_HD inline int size_class(float half_extent) {
  const auto bits = __builtin_bit_cast(std::uint32_t, half_extent);
  const int quarter = static_cast<int>(bits >> 21) - ((127 - 32) << 2);
  return quarter < 0 ? 0 : (quarter >= size_classes ? size_classes - 1 : quarter);
}
[[nodiscard]] QUADRAT_HD inline int size_class(double half_extent) {
  const auto bits = __builtin_bit_cast(std::uint64_t, half_extent);
  const int quarter = static_cast<int>(bits >> 50) - ((1023 - 32) << 2);
  return quarter < 0 ? 0 : (quarter >= size_classes ? size_classes - 1 : quarter);
}

/// The upper end of a class: the smallest size above it.
[[nodiscard]] constexpr double size_class_end(int size_class) {
  double octave = 1;
  for (int k = 0; k < 32; ++k) octave /= 2;
  for (int k = 0; k < (size_class + 1) / 4; ++k) octave *= 2;
  return octave * (1 + 0.25 * ((size_class + 1) % 4));
}

template <typename T>
struct size_histogram {
  std::array<std::uint64_t, size_classes> counts{};
  T largest = T(0);  ///< of all half extents
};

/// Positive numbers compare like their bits.
template <typename T>
[[nodiscard]] QUADRAT_HD std::uint64_t bits_of_size(T half_extent) {
  return __builtin_bit_cast(std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>, half_extent);
}
template <typename T>
[[nodiscard]] QUADRAT_HD T size_of_bits(std::uint64_t bits) {
  return __builtin_bit_cast(T, static_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(bits));
}

/// Bodies per call of count_sizes: a run of one class costs one atomic operation.
inline constexpr std::size_t count_sizes_share = 64;

/// Index: share of bodies. HalfExtent: number of a body -> its largest half extent, not positive for a faulty body.
template <typename T, typename HalfExtent>
struct count_sizes {
  HalfExtent half_extent;
  std::size_t count;
  std::uint64_t* counts;     ///< size_classes, zero at first
  std::uint64_t* most_bits;  ///< of the largest size, zero at first

  QUADRAT_HD void operator()(std::size_t share) const {
    // Strided, so that concurrent shares read adjacent bodies.
    const std::size_t shares = (count + count_sizes_share - 1) / count_sizes_share;
    T largest = T(0);
    std::uint64_t run = 0;
    int run_class = 0;
    for (std::size_t first = share; first < count; first += read_ahead * shares) {
      T sizes[read_ahead];
      for (std::size_t k = 0; k < read_ahead; ++k) {
        const std::size_t i = first + k * shares;
        sizes[k] = i < count ? half_extent(i) : T(0);
      }
      for (const T size : sizes) {
        if (!(size > T(0))) continue;
        const int own = size_class(size);
        if (own != run_class && run > 0) {
          atomic_add(counts + run_class, run);
          run = 0;
        }
        run_class = own;
        ++run;
        largest = size > largest ? size : largest;
      }
    }
    if (run > 0) atomic_add(counts + run_class, run);
    if (largest > T(0)) atomic_max(most_bits, bits_of_size(largest));
  }

 private:
  /// Bodies that are loaded together, to wait for memory only once.
  static constexpr std::size_t read_ahead = 8;
};

/// The result of count_sizes, on the host.
template <typename T>
[[nodiscard]] size_histogram<T> size_histogram_of(const std::uint64_t* counts, std::uint64_t most_bits) {
  size_histogram<T> result{};
  for (int k = 0; k < size_classes; ++k) result.counts[static_cast<std::size_t>(k)] = counts[k];
  result.largest = size_of_bits<T>(most_bits);
  return result;
}

}  // namespace quadrat::detail
