// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/shift_map.hpp"
#include "search/kernels.hpp"

namespace quadrat::detail {

/// Rows of keys: [offsets[i], offsets[i + 1]) if within the capacity, or counts[i] keys from i * width on.
struct key_rows {
  const std::uint64_t* offsets;  ///< nullptr: a matrix
  const std::uint32_t* counts;
  std::uint64_t width;
  std::uint64_t capacity;
  std::size_t rows;
  std::uint64_t* keys;

  [[nodiscard]] QUADRAT_HD std::uint64_t begin(std::size_t row) const {
    return offsets != nullptr ? offsets[row] : row * width;
  }
  [[nodiscard]] QUADRAT_HD std::uint64_t length(std::size_t row) const {
    if (offsets == nullptr) return counts[row] < width ? counts[row] : width;
    return offsets[row + 1] <= capacity ? offsets[row + 1] - offsets[row] : 0;
  }
};

/// Rows in ascending order of keys.
struct key_order {
  [[nodiscard]] QUADRAT_HD const key_order& of_row(std::size_t) const { return *this; }
  [[nodiscard]] QUADRAT_HD bool operator()(std::uint64_t a, std::uint64_t b) const { return a < b; }
};

/// Rows in the order of ring, j, and S in the caller's boxes.
template <int D>
struct given_order {
  const shift_map<D>* maps;            ///< by system
  const std::uint32_t* system_of_row;  ///< nullptr: one system
  std::uint32_t system_count;

  struct in_row {
    const shift_map<D>& map;

    [[nodiscard]] QUADRAT_HD bool operator()(std::uint64_t a, std::uint64_t b) const {
      constexpr int bits = D * bits_of_shift;
      if (a >> bits != b >> bits) return a < b;
      vec<int, D> s{}, t{};
      static_cast<void>(entry_of_key<D>(a, s));
      static_cast<void>(entry_of_key<D>(b, t));
      return first_component(map.to_given(s - t)) < 0;
    }
  };
  /// Invalid system numbers have been reported; they must not be used as an index.
  [[nodiscard]] QUADRAT_HD in_row of_row(std::size_t row) const {
    const std::uint32_t system = system_of_row != nullptr ? system_of_row[row] : 0;
    return {maps[system < system_count ? system : 0]};
  }
};

/// Sorts each row by `key_order` or `given_order`. Nothing is allocated. CUDA: asynchronous; rows of any length,
/// fastest where they have at most 128.
template <typename Order>
void sort_rows(const cpu_context& context, const key_rows& rows, const Order& order);
#if QUADRAT_HAS_CUDA
template <typename Order>
void sort_rows(const cuda_context& context, const key_rows& rows, const Order& order);
#else
template <typename Order>
void sort_rows(const cuda_context& context, const key_rows&, const Order&) {
  context.activate();
}
#endif

}  // namespace quadrat::detail
