// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "ewald/short_range/cpu/pairs.hpp"
#include "parallel/cpu_vector.hpp"

// Included once by the source of each instruction set, which defines by QUADRAT_EWALD_TARGET how functions are
// compiled. Everything is in an anonymous namespace, so that the linker cannot merge versions.

#if !defined(QUADRAT_EWALD_TARGET)
#define QUADRAT_EWALD_TARGET
#define QUADRAT_EWALD_INLINE inline
#else
#define QUADRAT_EWALD_INLINE inline __attribute__((always_inline)) QUADRAT_EWALD_TARGET
#endif

/// Goes before loops over arrays that must stay in registers.
#if defined(__clang__)
#define QUADRAT_EWALD_UNROLL _Pragma("unroll")
#else
#define QUADRAT_EWALD_UNROLL _Pragma("GCC unroll 8")
#endif

namespace quadrat::detail {

namespace {

/// `Set` has `bytes`, the size of a register, fused(a, b, c) = a b + c, inverse_root(a), and pack(mask, vectors, to,
/// ...), which writes the chosen lanes one after the other.
template <typename T, typename Set, bool Virials>
struct pair_lanes {
  static constexpr std::size_t lanes = Set::bytes / sizeof(T);
  using vector = typename cpu_vector<T, static_cast<int>(lanes)>::type;
  using anywhere = typename cpu_vector<T, static_cast<int>(lanes)>::anywhere;
  using mask = decltype(vector{} < vector{});

  /// Pairs nearer than the cutoff: most candidates are farther, and the polynomials cost more than the distance test.
  struct near_pairs {
    static constexpr std::size_t most = 512;
    static constexpr std::size_t components = 5;  // the separation, its square, the charge
    alignas(64) T component[components][most + 2 * lanes];
    std::size_t count = 0;
  };

  vector potential{}, field[3]{}, virial[6]{};

  QUADRAT_EWALD_INLINE static vector fill(T x) { return vector{} + x; }
  QUADRAT_EWALD_INLINE static vector load(const T* from) { return *reinterpret_cast<const anywhere*>(from); }

  /// Finds the near ones among the first `valid` candidates from `slot` on.
  QUADRAT_EWALD_INLINE static void find(const pair_lanes_task<T>& task, std::uint32_t range, std::uint32_t slot,
                                        std::size_t valid, vector numbers, near_pairs& near,
                                        pair_lanes_result<T>& result) {
    const candidate_range<T>& here = task.ranges[range];
    vector parts[near_pairs::components];
    QUADRAT_EWALD_UNROLL
    for (int axis = 0; axis < 3; ++axis) parts[axis] = load(task.all.position[axis] + slot) - here.from[axis];
    // Rounded as squared_norm is.
    parts[3] = parts[0] * parts[0];
    parts[3] += parts[1] * parts[1];
    parts[3] += parts[2] * parts[2];
    parts[4] = load(task.all.charge + slot);
    mask inside = parts[3] < task.split->squared_cutoff;
    if (valid < lanes) inside &= numbers < static_cast<T>(valid);
    const mask close = inside & (parts[3] <= task.squared_close);
    if (Set::any(close)) {
      note_close(range, slot, close, result);
      inside &= ~close;
    }
    T* to[near_pairs::components];
    QUADRAT_EWALD_UNROLL
    for (std::size_t k = 0; k < near_pairs::components; ++k) to[k] = near.component[k] + near.count;
    near.count += Set::template pack<near_pairs::components>(inside, parts, to);
  }

  QUADRAT_EWALD_INLINE static void note_close(std::uint32_t range, std::uint32_t slot, mask close,
                                              pair_lanes_result<T>& result) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!close[lane]) continue;
      if (result.close_count < pair_lanes_task<T>::most_close) {
        result.close[result.close_count] = {range, slot + static_cast<std::uint32_t>(lane)};
      }
      ++result.close_count;
    }
  }

  /// Sums all near pairs, and empties the list.
  QUADRAT_EWALD_INLINE void sum_near(const pair_lanes_task<T>& task, near_pairs& near) {
    for (std::size_t k = near.count; k < near.count + 2 * lanes; ++k) {  // padding: charge 0 at a valid distance
      for (auto& component : near.component) component[k] = T(0);
      near.component[3][k] = task.split->squared_cutoff;
    }
    for (std::size_t first = 0; first < near.count; first += 2 * lanes) add_two(task, near, first);
    near.count = 0;
  }

  /// Two vectors at a time, which share the coefficients.
  QUADRAT_EWALD_INLINE void add_two(const pair_lanes_task<T>& task, const near_pairs& near, std::size_t first) {
    const split_polynomial<T>& split = *task.split;
    vector t[2], value[2], slope[2];
    QUADRAT_EWALD_UNROLL
    for (std::size_t k = 0; k < 2; ++k) {
      t[k] = Set::fused(load(near.component[3] + first + k * lanes), fill(split.scale), fill(T(-1)));
      value[k] = fill(split.value[split.terms - 1]);
      slope[k] = fill(split.slope[split.terms - 1]);
    }
    for (int d = split.terms - 2; d >= 0; --d) {
      const vector of_value = fill(split.value[d]), of_slope = fill(split.slope[d]);
      QUADRAT_EWALD_UNROLL
      for (std::size_t k = 0; k < 2; ++k) {
        value[k] = Set::fused(value[k], t[k], of_value);
        slope[k] = Set::fused(slope[k], t[k], of_slope);
      }
    }
    QUADRAT_EWALD_UNROLL
    for (std::size_t k = 0; k < 2; ++k) add(task.coulomb, near, first + k * lanes, value[k], slope[k]);
  }

  QUADRAT_EWALD_INLINE void add(bool coulomb, const near_pairs& near, std::size_t first, vector value, vector slope) {
    const vector square = load(near.component[3] + first), charge = load(near.component[4] + first);
    if (coulomb) {
      const vector inverse = Set::inverse_root(square);
      value = inverse - value;
      slope = T(-0.5) * inverse * inverse * inverse - slope;
    } else {
      const vector inverse = T(1) / square, cube = inverse * inverse * inverse;
      value = cube - value;
      slope = T(-3) * cube * inverse - slope;
    }
    potential = Set::fused(charge, value, potential);
    const vector weight = charge * slope;
    vector separation[3];
    QUADRAT_EWALD_UNROLL
    for (int axis = 0; axis < 3; ++axis) {
      separation[axis] = load(near.component[axis] + first);
      field[axis] = Set::fused(weight, separation[axis], field[axis]);
    }
    if constexpr (Virials) {
      int k = 0;
      QUADRAT_EWALD_UNROLL
      for (int a = 0; a < 3; ++a) {
        QUADRAT_EWALD_UNROLL
        for (int b = a; b < 3; ++b) virial[k++] -= weight * separation[a] * separation[b];
      }
    }
  }

  QUADRAT_EWALD_INLINE static T total(vector v) {
    T sum = T(0);
    for (std::size_t lane = 0; lane < lanes; ++lane) sum += v[lane];
    return sum;
  }

  QUADRAT_EWALD_TARGET static void sum(const pair_lanes_task<T>& task, pair_lanes_result<T>& result) {
    pair_lanes sums;
    near_pairs near;
    result.close_count = 0;
    vector numbers{};
    for (std::size_t lane = 0; lane < lanes; ++lane) numbers[lane] = static_cast<T>(lane);
    for (std::uint32_t range = 0; range < task.count; ++range) {
      const std::uint32_t last = task.ranges[range].last;
      for (std::uint32_t slot = task.ranges[range].first; slot < last; slot += lanes) {
        find(task, range, slot, last - slot, numbers, near, result);
        if (near.count > near_pairs::most - lanes) sums.sum_near(task, near);
      }
    }
    sums.sum_near(task, near);
    result.potential = total(sums.potential);
    for (int axis = 0; axis < 3; ++axis) result.field[axis] = 2 * total(sums.field[axis]);
    for (int k = 0; k < 6; ++k) result.virial[k] = Virials ? total(sums.virial[k]) : T(0);
  }
};

}  // namespace

}  // namespace quadrat::detail
