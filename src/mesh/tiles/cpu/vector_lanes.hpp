// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "mesh/tiles/cpu/loops.hpp"
#include "parallel/cpu_vector.hpp"

// Included once by the source of each instruction set, like the header above.

namespace quadrat::detail {

namespace {

/// The lane type of every instruction set: vectors as large as a register. `Set` adds what the vector extension lacks:
/// `bytes`, the size of a register; fused(a, b, c) = a b + c, for vectors of that size and of eight values; for vectors
/// of that size the same rounded once, fused_exactly, and floor.
template <typename T, typename Set>
struct vector_lanes {
  using value = T;
  static constexpr int count = Set::bytes / static_cast<int>(sizeof(T));
  template <int Size>
  using sized = typename cpu_vector<T, Size>::type;
  using vector = sized<count>;
  using mask = decltype(vector{} < vector{});

  QUADRAT_TILE_INLINE static vector zero() { return vector{}; }
  QUADRAT_TILE_INLINE static vector fill(T x) { return fill_repeated<1>(&x); }
  QUADRAT_TILE_INLINE static vector load(const T* from) { return load_as<count>(from); }
  QUADRAT_TILE_INLINE static void store(T* to, vector x) { store_as<count>(to, x); }
  QUADRAT_TILE_INLINE static vector add(vector a, vector b) { return a + b; }
  QUADRAT_TILE_INLINE static vector multiply(vector a, vector b) { return a * b; }
  QUADRAT_TILE_INLINE static vector fused(vector a, vector b, vector c) { return Set::fused(a, b, c); }
  QUADRAT_TILE_INLINE static vector fused_where_not_zero(vector a, vector b, vector c) {
    return fused(a, reinterpret_cast<vector>(reinterpret_cast<mask>(b) & (a != zero())), c);
  }
  /// Like std::fma and std::floor.
  QUADRAT_TILE_INLINE static vector fused_exactly(vector a, vector b, vector c) { return Set::fused_exactly(a, b, c); }
  QUADRAT_TILE_INLINE static vector floor(vector x) { return Set::floor(x); }
  /// Whole numbers.
  QUADRAT_TILE_INLINE static void store_whole(int* to, vector x) {
    *reinterpret_cast<typename cpu_vector<int, count>::anywhere*>(to) =
        __builtin_convertvector(x, typename cpu_vector<int, count>::type);
  }
  /// values[0], ..., values[Components - 1], values[0], ...
  template <int Components>
  QUADRAT_TILE_INLINE static vector fill_repeated(const T* values) {
    return repeat<Components>(values, std::make_index_sequence<count>());
  }
  /// from[0], ..., each once for every component. Reads as many values as a vector has, whatever the components.
  template <int Components>
  QUADRAT_TILE_INLINE static vector load_repeated(const T* from) {
    if constexpr (Components == 1) return load(from);
    return each_twice(load(from), std::make_index_sequence<count>());
  }
  /// Sums the lanes of each component by halving.
  template <int Components>
  QUADRAT_TILE_INLINE static void sum(vector x, T* to) {
    fold<Components, count>(x, to);
  }

  /// Eight values, in as many registers as necessary.
  static constexpr int part_count = count < 8 ? count : 8;
  static constexpr int parts = 8 / part_count;
  using part = sized<part_count>;
  struct eight {
    part of[parts];
  };

  QUADRAT_TILE_INLINE static eight eight_fill(T x) {
    eight all;
    QUADRAT_TILE_UNROLL
    for (int k = 0; k < parts; ++k) all.of[k] = repeat<1>(&x, std::make_index_sequence<part_count>());
    return all;
  }
  QUADRAT_TILE_INLINE static eight eight_load(const T* from) {
    eight all;
    QUADRAT_TILE_UNROLL
    for (int k = 0; k < parts; ++k) all.of[k] = load_as<part_count>(from + k * part_count);
    return all;
  }
  QUADRAT_TILE_INLINE static void eight_store(T* to, const eight& x) {
    QUADRAT_TILE_UNROLL
    for (int k = 0; k < parts; ++k) store_as<part_count>(to + k * part_count, x.of[k]);
  }
  QUADRAT_TILE_INLINE static eight eight_fused(const eight& a, const eight& b, const eight& c) {
    eight all;
    QUADRAT_TILE_UNROLL
    for (int k = 0; k < parts; ++k) all.of[k] = Set::fused(a.of[k], b.of[k], c.of[k]);
    return all;
  }
  QUADRAT_TILE_INLINE static eight eight_reversed(const eight& x) {
    eight all;
    QUADRAT_TILE_UNROLL
    for (int k = 0; k < parts; ++k) all.of[k] = reversed(x.of[parts - 1 - k], std::make_index_sequence<part_count>());
    return all;
  }
  /// Each value once for every component.
  template <int Components>
  QUADRAT_TILE_INLINE static void put_repeated(T* to, const eight& x) {
    if constexpr (Components == 1) {
      eight_store(to, x);
    } else {
      QUADRAT_TILE_UNROLL
      for (int k = 0; k < parts; ++k, to += 2 * part_count) {
        store_as<part_count>(to, twice<0>(x.of[k], std::make_index_sequence<part_count>()));
        store_as<part_count>(to + part_count, twice<part_count / 2>(x.of[k], std::make_index_sequence<part_count>()));
      }
    }
  }

 private:
  template <int Size>
  QUADRAT_TILE_INLINE static sized<Size> load_as(const T* from) {
    return *reinterpret_cast<const typename cpu_vector<T, Size>::anywhere*>(from);
  }
  template <int Size>
  QUADRAT_TILE_INLINE static void store_as(T* to, sized<Size> x) {
    *reinterpret_cast<typename cpu_vector<T, Size>::anywhere*>(to) = x;
  }
  template <int Components, std::size_t... Lane>
  QUADRAT_TILE_INLINE static auto repeat(const T* values, std::index_sequence<Lane...>) {
    return sized<sizeof...(Lane)>{values[Lane % Components]...};
  }
  /// Lane `First` twice, the next one twice, ...: one permutation.
  template <std::size_t First, std::size_t... Lane>
  QUADRAT_TILE_INLINE static part twice(part x, std::index_sequence<Lane...>) {
    return part{x[First + Lane / 2]...};
  }
  template <std::size_t... Lane>
  QUADRAT_TILE_INLINE static vector each_twice(vector x, std::index_sequence<Lane...>) {
    return vector{x[Lane / 2]...};
  }
  template <std::size_t... Lane>
  QUADRAT_TILE_INLINE static part reversed(part x, std::index_sequence<Lane...>) {
    return part{x[part_count - 1 - Lane]...};
  }
  template <int Components, int Size>
  QUADRAT_TILE_INLINE static void fold(sized<Size> x, T* to) {
    if constexpr (Size <= Components) {
      for (int c = 0; c < Components; ++c) to[c] = x[c];
    } else if constexpr (Size == 2) {
      to[0] = x[0] + x[1];
    } else {
      sized<Size / 2> half[2];
      std::memcpy(half, &x, sizeof(x));
      fold<Components, Size / 2>(half[0] + half[1], to);
    }
  }
};

}  // namespace

}  // namespace quadrat::detail
