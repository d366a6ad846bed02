// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"

namespace quadrat {

/// One array of particle data to copy into the order of cells. Both arrays are in the memory of the context's device
/// and must not overlap; `from` is indexed by particle, `to` by slot.
struct carried_array {
  const void* from;
  void* to;
  std::uint32_t record_bytes;  ///< size of one element: 4, 8, 12, 16, 24 or 32; memory aligned to 4, 8, 4, 16, 8, 16
};

/// A carried array of scalars, vec, or records such as {x, y, z, next}.
template <typename Record>
[[nodiscard]] carried_array carry(const Record* from, Record* to) {
  constexpr std::size_t size = sizeof(Record);
  static_assert(std::is_trivially_copyable_v<Record>, "carried data are copied as bytes");
  static_assert(size == 4 || size == 8 || size == 12 || size == 16 || size == 24 || size == 32,
                "a carried record has 4, 8, 12, 16, 24 or 32 bytes");
  return {from, to, static_cast<std::uint32_t>(size)};
}

namespace detail {

/// Several carried arrays, passed to kernels by value.
struct carried_arrays {
  static constexpr std::size_t most = 8;

  carried_array array[most];
  int count;

  [[nodiscard]] QUADRAT_HD bool empty() const { return count == 0; }

  /// Copies element `from` of each array to place `to`.
  QUADRAT_HD void move(std::size_t from, std::size_t to) const {
    int a = 0;
    for (; a + 1 < count && array[a].record_bytes == 16 && array[a + 1].record_bytes == 16; a += 2) {
      move_two(array[a], array[a + 1], from, to);
    }
    for (; a < count; ++a) move_one(array[a], from, to);
  }

 private:
  template <std::size_t Alignment, std::size_t Words>
  struct alignas(Alignment) words {
    std::uint32_t word[Words];
  };
  template <typename Record>
  QUADRAT_HD static void copy(const carried_array& a, std::size_t from, std::size_t to) {
    static_cast<Record*>(a.to)[to] = static_cast<const Record*>(a.from)[from];
  }
  /// For example for position and velocity: issues both loads before it waits for the first.
  QUADRAT_HD static void move_two(const carried_array& a, const carried_array& b, std::size_t from, std::size_t to) {
    const auto first = static_cast<const words<16, 4>*>(a.from)[from];
    const auto second = static_cast<const words<16, 4>*>(b.from)[from];
    static_cast<words<16, 4>*>(a.to)[to] = first;
    static_cast<words<16, 4>*>(b.to)[to] = second;
  }
  QUADRAT_HD static void move_one(const carried_array& a, std::size_t from, std::size_t to) {
    switch (a.record_bytes) {
      case 4:
        return copy<words<4, 1>>(a, from, to);
      case 8:
        return copy<words<8, 2>>(a, from, to);
      case 12:
        return copy<words<4, 3>>(a, from, to);
      case 16:
        return copy<words<16, 4>>(a, from, to);
      case 24:
        return copy<words<8, 6>>(a, from, to);
      default:
        return copy<words<16, 8>>(a, from, to);
    }
  }
};

/// Throws argument_error for too many arrays, a null pointer (unless there are no particles), and an impossible size or
/// alignment.
[[nodiscard]] carried_arrays checked_arrays(std::span<const carried_array> arrays, std::size_t count);

}  // namespace detail

}  // namespace quadrat
