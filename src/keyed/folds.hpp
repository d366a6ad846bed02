// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "keyed/engine.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/atomic.hpp"

/// The operations, as types: how two values are joined, the identity, and how a value is joined atomically to memory.
namespace quadrat::detail {

template <typename T>
[[nodiscard]] QUADRAT_HD constexpr T greatest_value() {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return 0x7fffffff;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return 0x7fffffffffffffff;
  } else {
    return static_cast<T>(__builtin_inf());
  }
}
template <typename T>
[[nodiscard]] QUADRAT_HD constexpr T least_value() {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(-greatest_value<T>() - 1);
  } else {
    return -greatest_value<T>();
  }
}

struct sum_fold {
  template <typename T>
  [[nodiscard]] QUADRAT_HD static T identity() {
    return T{0};
  }
  /// Converts a value before it is joined.
  template <typename T>
  [[nodiscard]] QUADRAT_HD static T taken(T value) {
    return value;
  }
  /// Integers wrap around, as atomic operations do.
  template <typename T>
  [[nodiscard]] QUADRAT_HD static T join(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<bits>(a) + static_cast<bits>(b));
    } else {
      return a + b;
    }
  }
  /// Converts joined values to the result.
  template <typename T>
  [[nodiscard]] QUADRAT_HD static T settled(T value) {
    return value;
  }
  template <typename T>
  QUADRAT_HD static void join_atomic(T* target, T value) {
    if constexpr (std::is_integral_v<T>) {
      using bits = std::make_unsigned_t<T>;
      atomic_add(reinterpret_cast<bits*>(target), static_cast<bits>(value));
    } else {
      atomic_add(target, value);
    }
  }
};

/// Extremes. NaNs are ignored, because they are not less (greater) than the identity.
template <bool Minimum>
struct extreme_fold {
  template <typename T>
  [[nodiscard]] QUADRAT_HD static T identity() {
    return Minimum ? greatest_value<T>() : least_value<T>();
  }
  /// -0 becomes 0: they compare equal, so otherwise the sign would depend on the order of the elements.
  template <typename T>
  [[nodiscard]] QUADRAT_HD static T taken(T value) {
    return static_cast<T>(value + T{0});
  }
  template <typename T>
  [[nodiscard]] QUADRAT_HD static bool beats(T a, T b) {
    return Minimum ? a < b : b < a;
  }
  template <typename T>
  [[nodiscard]] QUADRAT_HD static T join(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a) return b;
    }
    return beats(b, a) ? b : a;
  }
  /// Converts joined values to the result. If all values are NaN, the key counts as empty.
  template <typename T>
  [[nodiscard]] QUADRAT_HD static T settled(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return value == value ? taken(value) : identity<T>();
    } else {
      return value;
    }
  }
  template <typename T>
  QUADRAT_HD static void join_atomic(T* target, T value) {
    if (!beats(value, identity<T>())) return;
    if constexpr (std::is_integral_v<T>) {
      join_bits(target, value);
    } else {
      // Floating-point numbers compare like their bits as integers: ascending if positive, descending if
      // negative.
      using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      using signed_bits = std::make_signed_t<bits>;
      value = taken(value);
      union {
        T number;
        bits word;
      } cast{value};
      if ((cast.word >> (8 * sizeof(T) - 1)) == 0) {
        join_bits(reinterpret_cast<signed_bits*>(target), static_cast<signed_bits>(cast.word));
      } else if constexpr (Minimum) {
        atomic_max(reinterpret_cast<bits*>(target), cast.word);
      } else {
        atomic_min(reinterpret_cast<bits*>(target), cast.word);
      }
    }
  }

 private:
  template <typename Integer>
  QUADRAT_HD static void join_bits(Integer* target, Integer value) {
    if constexpr (Minimum) {
      atomic_min(target, value);
    } else {
      atomic_max(target, value);
    }
  }
};
using minimum_fold = extreme_fold<true>;
using maximum_fold = extreme_fold<false>;

/// Calls f(Fold{}) for the operation.
template <typename F>
void with_fold(key_fold fold, F&& f) {
  switch (fold) {
    case key_fold::sum:
      return f(sum_fold{});
    case key_fold::minimum:
      return f(minimum_fold{});
    case key_fold::maximum:
      return f(maximum_fold{});
  }
}

}  // namespace quadrat::detail
