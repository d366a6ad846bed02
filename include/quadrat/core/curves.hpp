// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// Cell numberings: maps between the D indices of a cell and one number. Each is a small type with `id(cell)`,
/// `cell(id)` and `bound()`, one past the largest number; only row-major uses every number on every grid. Consecutive
/// numbers along Hilbert's and Peano's curves are neighboring cells where the grid fills the curve's cube. Source of
/// their use: uniform-grid-atomics, section 1 ("the hash id of the destination cell").

namespace quadrat {

/// x fastest: id = x + nx (y + ny z). A run of cells along x is a run of numbers.
template <int D>
struct row_major_numbering {
  static constexpr const char* name = "row_major";
  static constexpr bool rows_are_contiguous = true;
  vec<int, D> cells;

  [[nodiscard]] QUADRAT_HD cell_id id(const vec<int, D>& cell) const {
    auto number = static_cast<cell_id>(cell[D - 1]);
    for (int axis = D - 2; axis >= 0; --axis) {
      number = number * static_cast<cell_id>(cells[axis]) + static_cast<cell_id>(cell[axis]);
    }
    return number;
  }
  [[nodiscard]] QUADRAT_HD vec<int, D> cell(cell_id number) const {
    vec<int, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      result[axis] = static_cast<int>(number % static_cast<cell_id>(cells[axis]));
      number /= static_cast<cell_id>(cells[axis]);
    }
    return result;
  }
  [[nodiscard]] QUADRAT_HD std::uint64_t bound() const {
    std::uint64_t product = 1;
    for (int axis = 0; axis < D; ++axis) product *= static_cast<std::uint64_t>(cells[axis]);
    return product;
  }
};

/// The same with 64 bits, for grids of which only the occupied cells are stored.
template <int D>
struct wide_row_major_numbering {
  vec<int, D> cells;

  [[nodiscard]] QUADRAT_HD std::uint64_t id(const vec<int, D>& cell) const {
    auto number = static_cast<std::uint64_t>(cell[D - 1]);
    for (int axis = D - 2; axis >= 0; --axis) {
      number = number * static_cast<std::uint64_t>(cells[axis]) + static_cast<std::uint64_t>(cell[axis]);
    }
    return number;
  }
  [[nodiscard]] QUADRAT_HD vec<int, D> cell(std::uint64_t number) const {
    vec<int, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      result[axis] = static_cast<int>(number % static_cast<std::uint64_t>(cells[axis]));
      number /= static_cast<std::uint64_t>(cells[axis]);
    }
    return result;
  }
};

namespace detail {

QUADRAT_HD constexpr int bits_for(int count) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

QUADRAT_HD constexpr int ternary_digits_for(int count) {
  int digits = 0;
  for (std::int64_t power = 1; power < count; power *= 3) ++digits;
  return digits;
}

/// base^exponent, at most 2^62.
QUADRAT_HD constexpr std::uint64_t saturated_power(std::uint64_t base, int exponent) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  std::uint64_t power = 1;
  for (int i = 0; i < exponent; ++i) power = power > most / base ? most : power * base;
  return power;
}

template <int D>
QUADRAT_HD int largest(const vec<int, D>& cells) {
  int result = cells[0];
  for (int axis = 1; axis < D; ++axis) result = cells[axis] > result ? cells[axis] : result;
  return result;
}

}  // namespace detail

/// Z-order (Morton): the bits of the indices interleaved, x lowest; an axis with fewer cells gives fewer bits, so that
/// the numbers stay below the product of the powers of two around each axis.
template <int D>
struct morton_numbering {
  static constexpr const char* name = "morton";
  static constexpr bool rows_are_contiguous = false;
  vec<int, D> bits;
  int most_bits;

  morton_numbering() = default;
  explicit QUADRAT_HD morton_numbering(const vec<int, D>& cells) : bits{}, most_bits(0) {
    for (int axis = 0; axis < D; ++axis) {
      bits[axis] = detail::bits_for(cells[axis]);
      most_bits = bits[axis] > most_bits ? bits[axis] : most_bits;
    }
  }

  [[nodiscard]] QUADRAT_HD cell_id id(const vec<int, D>& cell) const {
    cell_id number = 0;
    int at = 0;
    for (int level = 0; level < most_bits; ++level) {
      for (int axis = 0; axis < D; ++axis) {
        if (level < bits[axis]) number |= ((static_cast<cell_id>(cell[axis]) >> level) & 1u) << at++;
      }
    }
    return number;
  }
  [[nodiscard]] QUADRAT_HD vec<int, D> cell(cell_id number) const {
    vec<int, D> result{};
    int at = 0;
    for (int level = 0; level < most_bits; ++level) {
      for (int axis = 0; axis < D; ++axis) {
        if (level < bits[axis]) result[axis] |= static_cast<int>((number >> at++) & 1u) << level;
      }
    }
    return result;
  }
  [[nodiscard]] QUADRAT_HD std::uint64_t bound() const {
    int sum = 0;
    for (int axis = 0; axis < D; ++axis) sum += bits[axis];
    return detail::saturated_power(2, sum);
  }
};

/// Hilbert's curve through the cube of side 2^bits around the grid (J. Skilling, "Programming the Hilbert curve",
/// 2004).
template <int D>
struct hilbert_numbering {
  static constexpr const char* name = "hilbert";
  static constexpr bool rows_are_contiguous = false;
  int bits;

  hilbert_numbering() = default;
  explicit QUADRAT_HD hilbert_numbering(const vec<int, D>& cells) : bits(detail::bits_for(detail::largest(cells))) {}

  [[nodiscard]] QUADRAT_HD cell_id id(const vec<int, D>& cell) const {
    vec<cell_id, D> x = cast<cell_id>(cell);
    for (cell_id q = top_bit(); q > 1; q >>= 1) {
      for (int axis = 0; axis < D; ++axis) exchange(x, axis, q);
    }
    for (int axis = 1; axis < D; ++axis) x[axis] ^= x[axis - 1];
    cell_id flip = 0;
    for (cell_id q = top_bit(); q > 1; q >>= 1) {
      if (x[D - 1] & q) flip ^= q - 1;
    }
    cell_id number = 0;
    for (int level = bits - 1; level >= 0; --level) {
      for (int axis = 0; axis < D; ++axis) number = (number << 1) | (((x[axis] ^ flip) >> level) & 1u);
    }
    return number;
  }
  [[nodiscard]] QUADRAT_HD vec<int, D> cell(cell_id number) const {
    vec<cell_id, D> x{};
    int at = bits * D;
    for (int level = bits - 1; level >= 0; --level) {
      for (int axis = 0; axis < D; ++axis) x[axis] |= ((number >> --at) & 1u) << level;
    }
    const cell_id last = x[D - 1] >> 1;
    for (int axis = D - 1; axis > 0; --axis) x[axis] ^= x[axis - 1];
    x[0] ^= last;
    for (cell_id q = 2; q <= top_bit() && q != 0; q <<= 1) {
      for (int axis = D - 1; axis >= 0; --axis) exchange(x, axis, q);
    }
    return cast<int>(x);
  }
  [[nodiscard]] QUADRAT_HD std::uint64_t bound() const { return detail::saturated_power(2, bits * D); }

 private:
  [[nodiscard]] QUADRAT_HD cell_id top_bit() const { return bits == 0 ? 0u : cell_id{1} << (bits - 1); }
  /// Skilling's step: invert the low bits of x[0], or exchange them with those of x[axis].
  QUADRAT_HD static void exchange(vec<cell_id, D>& x, int axis, cell_id q) {
    const cell_id low = q - 1;
    if (x[axis] & q) {
      x[0] ^= low;
    } else {
      const cell_id t = (x[0] ^ x[axis]) & low;
      x[0] ^= t;
      x[axis] ^= t;
    }
  }
};

/// Peano's curve through the cube of side 3^digits around the grid: the ternary digits interleaved, x slowest, each
/// reflected (0 <-> 2) when the digits of the other axes before it have an odd sum.
template <int D>
struct peano_numbering {
  static constexpr const char* name = "peano";
  static constexpr bool rows_are_contiguous = false;
  int digits;

  peano_numbering() = default;
  explicit QUADRAT_HD peano_numbering(const vec<int, D>& cells)
      : digits(detail::ternary_digits_for(detail::largest(cells))) {}

  [[nodiscard]] QUADRAT_HD cell_id id(const vec<int, D>& cell) const {
    vec<int, D> odd{};
    cell_id number = 0;
    for (auto power = static_cast<int>(detail::saturated_power(3, digits) / 3); power > 0; power /= 3) {
      for (int axis = 0; axis < D; ++axis) {
        const int digit = (cell[axis] / power) % 3;
        const int written = reflected(digit, odd, axis);
        odd[axis] ^= digit & 1;
        number = number * 3 + static_cast<cell_id>(written);
      }
    }
    return number;
  }
  [[nodiscard]] QUADRAT_HD vec<int, D> cell(cell_id number) const {
    vec<int, D> odd{};
    vec<int, D> result{};
    cell_id place = static_cast<cell_id>(bound() / 3);
    for (int level = 0; level < digits; ++level) {
      for (int axis = 0; axis < D; ++axis) {
        const int written = static_cast<int>((number / place) % 3);
        result[axis] = result[axis] * 3 + reflected(written, odd, axis);
        odd[axis] ^= written & 1;
        place = place > 1 ? place / 3 : 1;
      }
    }
    return result;
  }
  [[nodiscard]] QUADRAT_HD std::uint64_t bound() const { return detail::saturated_power(3, digits * D); }

 private:
  /// A reflection keeps the parity of a digit, so the sums of the original and of the reflected digits have the same
  /// parity.
  [[nodiscard]] QUADRAT_HD static int reflected(int digit, const vec<int, D>& odd, int axis) {
    int others = 0;
    for (int other = 0; other < D; ++other) others ^= other == axis ? 0 : odd[other];
    return others ? 2 - digit : digit;
  }
};

/// A numbering of a grid of these cells. Throws argument_error when it would need more than 2^31 - 1 numbers.
template <template <int> class Numbering, int D>
[[nodiscard]] Numbering<D> make_numbering(const vec<int, D>& cells) {
  const Numbering<D> numbering{cells};
  require(numbering.bound() <= max_count, "the ", Numbering<D>::name, " numbering of this grid needs ",
          numbering.bound(), " cell numbers; at most ", max_count, " are possible");
  return numbering;
}

}  // namespace quadrat
