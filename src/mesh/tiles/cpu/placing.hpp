// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "mesh/tiles/cpu/walk.hpp"

// Included once by the source of each instruction set, which defines by QUADRAT_TILE_TARGET how functions are compiled,
// and provides a lane type. Everything is in an anonymous namespace, so that the linker cannot merge versions. No
// lambdas: they would not be compiled for the instruction set.

#if !defined(QUADRAT_TILE_TARGET)
#define QUADRAT_TILE_TARGET
#define QUADRAT_TILE_INLINE inline
#else
#define QUADRAT_TILE_INLINE inline __attribute__((always_inline)) QUADRAT_TILE_TARGET
#endif
#if defined(__clang__)
#define QUADRAT_TILE_UNROLL _Pragma("unroll")
#define QUADRAT_TILE_UNROLL_ROWS _Pragma("unroll 4")
#else
#define QUADRAT_TILE_UNROLL _Pragma("GCC unroll 16")
#define QUADRAT_TILE_UNROLL_ROWS _Pragma("GCC unroll 4")
#endif

namespace quadrat::detail {

namespace {

/// The same bits as point_placement, for many points at a time: loops without branches, which compilers vectorize.
/// point_placement handles points to be refused, and points of several systems.
template <typename Lanes>
struct tile_placing {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using mask = typename Lanes::mask;
  static constexpr std::size_t batch = 64;
  static constexpr int refused = std::numeric_limits<int>::min();

  /// One axis of a batch.
  struct located {
    T x[batch];
    T place[batch];
    int first[batch];
  };

  QUADRAT_TILE_INLINE static vector one_if(mask holds) { return holds ? Lanes::fill(T(1)) : Lanes::zero(); }

  /// A coordinate x is accepted if from <= x < to, its distance from the lower face is at most `farthest`, and its
  /// first mesh point is from `least` to `most`.
  struct limits {
    T from, to, farthest, least, most;
  };
  template <bool Periodic>
  QUADRAT_TILE_INLINE static limits limits_of(const point_placement<T>& points, const mesh_axis<T>& axis) {
    constexpr T large = std::numeric_limits<T>::max(), infinite = std::numeric_limits<T>::infinity();
    const T width = static_cast<T>(axis.width), extent = static_cast<T>(axis.extent);
    const bool inside = !Periodic && !points.accept_outside, partly = Periodic || points.clip;
    return {.from = inside ? axis.lower : -large,
            .to = inside ? std::nextafter(axis.upper, infinite) : infinite,
            .farthest = Periodic ? axis.farthest : large,
            .least = partly ? -width : T(0),
            .most = partly ? extent : extent - width};
  }

  /// For points at distance `offset` from the lower face: the mesh point before each, shifted by half a mesh unit for
  /// odd widths. Sets `place` to the distance beyond it.
  QUADRAT_TILE_INLINE static vector mesh_point_before(const mesh_axis<T>& axis, vector x, vector offset,
                                                      vector& place) {
    const T half = axis.width % 2 == 0 ? T(0) : T(0.5);
    const vector scale = Lanes::fill(axis.scale), none = Lanes::zero(), one = Lanes::fill(T(1));
    const vector virtual_lower = x - offset;
    const vector offset_rest = (x - (offset + virtual_lower)) + (virtual_lower - axis.lower);
    const vector u = offset * scale;
    vector rest = Lanes::fused_exactly(offset, scale, -u);
    rest = Lanes::fused_exactly(offset, Lanes::fill(axis.scale_rest), rest);
    rest = Lanes::fused_exactly(offset_rest, scale, rest);
    const vector shifted = u - half;
    const vector virtual_half = u - shifted;
    rest += (u - (shifted + virtual_half)) + (virtual_half - half);
    vector whole = Lanes::floor(shifted);
    place = (shifted - whole) + rest;
    const vector turn = one_if(place < none) - one_if(place >= one);
    place += turn;
    whole -= turn;
    whole += one_if(place >= one);
    place = ((place >= none) & (place < one)) ? place : none;
    return whole;
  }

  /// A first mesh point, wrapped into the period, or at most a footprint outside.
  template <bool Periodic>
  QUADRAT_TILE_INLINE static vector wrapped(const mesh_axis<T>& axis, vector first) {
    const vector width = Lanes::fill(static_cast<T>(axis.width)), extent = Lanes::fill(static_cast<T>(axis.extent));
    const vector none = Lanes::zero();
    if constexpr (Periodic) {
      const vector turns = Lanes::floor(first * axis.inverse_extent);
      vector index = Lanes::fused_exactly(-turns, extent, first);
      index = ((index >= -extent) & (index < extent + extent)) ? index : none;
      return index + ((index < none ? extent : none) - (index >= extent ? extent : none));
    } else {
      const vector index = first > -width ? first : -width;
      return index < extent ? index : extent;
    }
  }

  /// Sets `place` and `first`; `first` is `refused` for a point to be refused. Uses explicit vectors, because not every
  /// compiler vectorizes the loop.
  template <bool Periodic>
  QUADRAT_TILE_TARGET static void locate(const point_placement<T>& points, int a, located& at) {
    const mesh_axis<T> axis = points.axis[a];
    const int points_before = axis.width / 2;
    const T before = static_cast<T>(points_before) + axis.begin;
    const limits within = limits_of<Periodic>(points, axis);
    for (std::size_t k = 0; k < batch; k += Lanes::count) {
      const vector x = Lanes::load(at.x + k), offset = x - axis.lower;
      vector place;
      const vector first = mesh_point_before(axis, x, offset, place) - before + T(1);
      const vector index = wrapped<Periodic>(axis, first);
      const mask accepted = (x >= within.from) & (x < within.to) & (offset <= within.farthest) &
                            (-offset <= within.farthest) & (index >= within.least) & (index <= within.most);
      Lanes::store(at.place + k, place - T(0.5));
      Lanes::store_whole(at.first + k, accepted ? index : Lanes::fill(static_cast<T>(refused)));
    }
  }

  /// Sets `first` alone, much faster, if rounding cannot change it. Otherwise, and if the point might be refused, it is
  /// `refused`.
  template <bool Periodic>
  QUADRAT_TILE_TARGET __attribute__((flatten)) static void locate_surely(const point_placement<T>& points, int a,
                                                                         located& at) {
    const mesh_axis<T> axis = points.axis[a];
    constexpr T rounding = std::numeric_limits<T>::epsilon(), magic = T(1.5) / rounding;
    const T extent = static_cast<T>(axis.extent), farthest = extent + (axis.begin < T(0) ? -axis.begin : axis.begin);
    const T margin = T(16) * rounding * farthest;
    const T half = axis.width % 2 == 0 ? T(0) : T(0.5);
    const int before = axis.width / 2, reach = Periodic || points.clip ? 0 : axis.width;
    const T shift = static_cast<T>(1 - before) - axis.begin;
    const T least = Periodic || !points.clip ? T(0) : static_cast<T>(-axis.width);
    const T most = static_cast<T>(Periodic ? axis.extent - 1 : axis.extent - reach);
    const bool inside = !Periodic && !points.accept_outside;
    constexpr T large = std::numeric_limits<T>::max();
    const T from = inside ? axis.lower : -large, to = inside ? axis.upper : large;
    for (std::size_t k = 0; k < batch; ++k) {
      const T x = at.x[k];
      const T place = (x - axis.lower) * axis.scale - half;
      const T nearest = (place + magic) - magic;
      const T whole = nearest - (nearest > place ? T(1) : T(0));
      const T rest = place - whole;
      T first = whole + shift;
      if constexpr (Periodic) first += (first < T(0) ? extent : T(0)) - (first >= extent ? extent : T(0));
      const bool sure =
          (rest > margin) & (rest < T(1) - margin) & (first >= least) & (first <= most) & (x >= from) & (x < to);
      at.first[k] = sure ? static_cast<int>(first) : refused;
    }
  }

  /// Reads and locates the points [first, first + count); with Surely only where rounding cannot matter. Returns false
  /// if one fails.
  template <bool Surely>
  QUADRAT_TILE_TARGET static bool locate_batch(const point_placement<T>& points, std::size_t first, std::size_t count,
                                               located* at) {
    if (points.system != nullptr) return false;
    int least = 0;
    for (int a = 0; a < 3; ++a) {
      if (points.component[a] == nullptr) {
        std::memset(&at[a], 0, sizeof(located));
        continue;
      }
      for (std::size_t k = 0; k < batch; ++k) {
        at[a].x[k] = points.component[a][(first + (k < count ? k : 0)) * points.stride];
      }
      if (points.axis[a].periodic) {
        Surely ? locate_surely<true>(points, a, at[a]) : locate<true>(points, a, at[a]);
      } else {
        Surely ? locate_surely<false>(points, a, at[a]) : locate<false>(points, a, at[a]);
      }
      for (std::size_t k = 0; k < batch; ++k) least = at[a].first[k] < least ? at[a].first[k] : least;
    }
    return least != refused;
  }

  /// Locates them one by one, and raises the faults of refused points.
  QUADRAT_TILE_TARGET static void locate_each(const point_placement<T>& points, std::size_t first, std::size_t count,
                                              located* at) {
    for (std::size_t k = 0; k < batch; ++k) {
      const placed_point<T> point = points(first + (k < count ? k : 0));
      for (int a = 0; a < 3; ++a) {
        at[a].place[k] = point.place[a];
        at[a].first[k] = point.first[a];
      }
    }
  }

  QUADRAT_TILE_INLINE static std::uint32_t tile_along(const tile_axis& axis, int first) {
    const int along = (first - axis.low) >> axis.shift;
    return static_cast<std::uint32_t>(along < axis.tiles - 1 ? along : axis.tiles - 1);
  }

  QUADRAT_TILE_TARGET static void find_tiles(const point_placement<T>& points, const mesh_tiles& tiles,
                                             std::size_t first, std::size_t last, std::uint32_t* found,
                                             std::uint32_t* counts) {
    located at[3];
    std::uint32_t tile[batch];
    const tile_axis x = tiles.axis[0], y = tiles.axis[1], z = tiles.axis[2];
    const auto ny = static_cast<std::uint32_t>(y.tiles), nz = static_cast<std::uint32_t>(z.tiles);
    for (; first < last; first += batch, found += batch) {
      const std::size_t count = last - first < batch ? last - first : batch;
      if (!locate_batch<true>(points, first, count, at) && !locate_batch<false>(points, first, count, at)) {
        locate_each(points, first, count, at);
      }
      for (std::size_t k = 0; k < batch; ++k) {
        tile[k] =
            (tile_along(x, at[0].first[k]) * ny + tile_along(y, at[1].first[k])) * nz + tile_along(z, at[2].first[k]);
      }
      for (std::size_t k = 0; k < count; ++k) {
        found[k] = tile[k];
        ++counts[tile[k]];
      }
    }
  }

  QUADRAT_TILE_TARGET static void store(const point_placement<T>& points, std::size_t first, std::size_t last,
                                        const std::uint32_t* found, std::uint32_t* next, tile_point<T>* stored) {
    constexpr T none = 0;
    constexpr std::size_t ahead = 4;  // prefetch this many cache lines ahead in each tile
    const T* from[3];
    std::size_t stride[3];
    for (int a = 0; a < 3; ++a) {
      from[a] = points.component[a] != nullptr ? points.component[a] : &none;
      stride[a] = points.component[a] != nullptr ? points.stride : 0;
    }
    for (std::size_t i = first; i < last; ++i, ++found) {
      const std::uint32_t system = points.system != nullptr ? points.system[i] : 0;
      tile_point<T>* const to = stored + next[*found]++;
      __builtin_prefetch(to + ahead, 1);
      *to = {{from[0][i * stride[0]], from[1][i * stride[1]], from[2][i * stride[2]]},
             static_cast<std::uint32_t>(i),
             system};
    }
  }

  QUADRAT_TILE_TARGET static void place(const point_placement<T>& how, const int* begin, tile_point<T>* points,
                                        std::size_t count) {
    located at[3];
    for (std::size_t first = 0; first < count; first += batch, points += batch) {
      point_placement<T> here = how;
      here.system = nullptr;
      here.stride = sizeof(tile_point<T>) / sizeof(T);
      for (int a = 0; a < 3; ++a) here.component[a] = how.component[a] != nullptr ? points[0].place + a : nullptr;
      const std::size_t some = count - first < batch ? count - first : batch;
      if (!locate_batch<false>(here, 0, some, at)) locate_each(here, 0, some, at);
      for (std::size_t k = 0; k < some; ++k) {
        std::uint32_t spot[3];
        for (int a = 0; a < 3; ++a) spot[a] = static_cast<std::uint32_t>(at[a].first[k] - begin[a]);
        if (how.system != nullptr && points[k].spot < how.systems) {
          spot[how.stacked_axis] += points[k].spot * static_cast<std::uint32_t>(how.system_spacing);
        }
        points[k] = {{at[0].place[k], at[1].place[k], at[2].place[k]},
                     points[k].id,
                     tile_point<T>::pack(spot[0], spot[1], spot[2])};
      }
    }
  }
};

}  // namespace

}  // namespace quadrat::detail
