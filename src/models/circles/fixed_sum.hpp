// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "models/circles/force.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"

/// The level `canonical` of the model: sums of integers, which are the same in any order, so neighbors need not be
/// sorted.
namespace quadrat::detail {

/// The sum over the neighbors of an agent. A term is cut to 2^-30 of the bound of terms in float, to 2^-60 in double
/// (two words); 2^31 terms of twice the bound fit.
template <typename T, int D>
struct circles_fixed_sum {
  static constexpr bool two_words = std::is_same_v<T, double>;

  std::int64_t whole[D]{};
  std::int64_t rest[two_words ? D : 1]{};
  std::uint32_t met = 0;  ///< agents within the reach, itself included
  bool fits = true;       ///< no term was beyond the bound, or not a number

  /// `term`: in units of 2^-30 of the bound.
  QUADRAT_HD void add(int axis, T term) {
    const bool fitting = std::fabs(term) <= T(0x1p31);
    fits = fits && fitting;
    const auto integer = static_cast<std::int64_t>(fitting ? term : T(0));
    whole[axis] += integer;
    if constexpr (two_words) {
      const T left = fitting ? term - static_cast<T>(integer) : T(0);
      rest[axis] += static_cast<std::int64_t>(left * T(0x1p30));
    }
  }

  [[nodiscard]] QUADRAT_HD T total(int axis) const {
    if constexpr (two_words) {
      return static_cast<T>(whole[axis]) + static_cast<T>(rest[axis]) * T(0x1p-30);
    } else {
      return static_cast<T>(whole[axis]);
    }
  }
};

/// Either law with such sums.
template <typename T, int D>
struct circles_fixed_law {
  using sum_type = circles_fixed_sum<T, D>;

  bool sine;
  circles_sine_law<T, D> sine_law;
  circles_original_law<T, D> original_law;
  T reach;
  T scale;  ///< 2^30 / the bound of terms, a power of two
  T unit;   ///< 1 / scale

  /// A member, because device code may read constants but not call the host functions that make them.
  static constexpr T no_number = std::numeric_limits<T>::quiet_NaN();

  QUADRAT_HD void meet(const vec<T, D>& r, T squared_distance, sum_type& sum) const {
    circles_sum<T, D> one;
    if (sine) {
      sine_law.meet(r, squared_distance, one);
    } else {
      original_law.meet(r, squared_distance, one);
    }
    if (one.met == 0) return;
    ++sum.met;
    for (int axis = 0; axis < D; ++axis) sum.add(axis, one.pull[axis] * scale);
  }

  [[nodiscard]] QUADRAT_HD vec<T, D> moved(const vec<T, D>& position, const sum_type& sum) const {
    circles_sum<T, D> rounded;
    rounded.met = sum.met;
    for (int axis = 0; axis < D; ++axis) rounded.pull[axis] = sum.total(axis) * unit;
    vec<T, D> result = sine ? sine_law.moved(position, rounded) : original_law.moved(position, rounded);
    // The sum of such terms would also be no number.
    if (!sum.fits) result[0] = no_number;
    return result;
  }
};

template <typename T, int D>
[[nodiscard]] circles_fixed_law<T, D> make_fixed_law(const circles_parameters& parameters, const box<T, D>& domain);

}  // namespace quadrat::detail
