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
/// Points that would be refused, and those of several systems, are left to it.
template <typename Lanes>
struct tile_placing {
  using T = typename Lanes::value;
  static constexpr std::size_t batch = 64;
  static constexpr int refused = std::numeric_limits<int>::min();

  /// One axis of a batch.
  struct located {
    T x[batch];
    T place[batch];
    int first[batch];
  };

  /// floor(x), by rounding to a whole number: beyond 2^52 (2^23) every number is one.
  [[nodiscard]] QUADRAT_TILE_INLINE static T whole_below(T x) {
    constexpr T most = T(1) / std::numeric_limits<T>::epsilon();
    const T shift = std::copysign(most, x);
    const T nearest = (x + shift) - shift;
    const T below = nearest - (nearest > x ? T(1) : T(0));
    return std::fabs(x) < most ? below : x;
  }

  /// Sets `place` and `first`, which is `refused` where a point would be.
  template <bool Periodic>
  QUADRAT_TILE_TARGET __attribute__((flatten)) static void locate(const point_placement<T>& points, int a,
                                                                  located& at) {
    const mesh_axis<T> axis = points.axis[a];
    const T width = static_cast<T>(axis.width), extent = static_cast<T>(axis.extent);
    const T half = axis.width % 2 == 0 ? T(0) : T(0.5);
    const int points_before = axis.width / 2;
    const T before = static_cast<T>(points_before);
    // Accepted are x with from <= x < to, and a distance from the lower face of at most `farthest`.
    constexpr T large = std::numeric_limits<T>::max(), infinite = std::numeric_limits<T>::infinity();
    const bool inside = Periodic ? points.refuse_outside : points.refuse_beyond;
    const T from = inside ? axis.lower : -large;
    const T to = inside ? (Periodic ? axis.upper : std::nextafter(axis.upper, infinite)) : infinite;
    const T farthest = Periodic && !inside ? axis.farthest : large;
    const T least = Periodic || points.clip ? -width : T(0), most = Periodic || points.clip ? extent : extent - width;
    for (std::size_t k = 0; k < batch; ++k) {
      const T x = at.x[k];
      const T offset = x - axis.lower;
      const T virtual_lower = x - offset;
      const T offset_rest = (x - (offset + virtual_lower)) + (virtual_lower - axis.lower);
      const T u = offset * axis.scale;
      T rest = std::fma(offset, axis.scale, -u);
      rest = std::fma(offset, axis.scale_rest, rest);
      rest = std::fma(offset_rest, axis.scale, rest);
      const T shifted = u - half;
      const T virtual_half = u - shifted;
      rest += (u - (shifted + virtual_half)) + (virtual_half - half);
      T whole = whole_below(shifted);
      T place = (shifted - whole) + rest;
      const T turn = (place < T(0) ? T(1) : T(0)) - (place >= T(1) ? T(1) : T(0));
      place += turn;
      whole -= turn;
      whole += place >= T(1) ? T(1) : T(0);
      place = ((place >= T(0)) & (place < T(1))) ? place : T(0);
      const T first = whole - before + T(1);
      T index;
      if constexpr (Periodic) {
        const T turns = whole_below(first * axis.inverse_extent);
        index = std::fma(-turns, extent, first);
        index = ((index >= -extent) & (index < T(2) * extent)) ? index : T(0);
        index += (index < T(0) ? extent : T(0)) - (index >= extent ? extent : T(0));
      } else {
        index = first > -width ? first : -width;
        index = index < extent ? index : extent;
      }
      const bool accepted =
          (x >= from) & (x < to) & (std::fabs(offset) <= farthest) & (index >= least) & (index <= most);
      at.place[k] = place - T(0.5);
      at.first[k] = accepted ? static_cast<int>(index) : refused;
    }
  }

  /// Locates `count` points, consecutive from `first` or those that `chosen` names there. Returns false where one might
  /// be refused.
  QUADRAT_TILE_TARGET static bool locate_batch(const point_placement<T>& points, const std::uint32_t* chosen,
                                               std::size_t first, std::size_t count, located* at) {
    if (points.system != nullptr) return false;
    int least = 0;
    for (int a = 0; a < 3; ++a) {
      if (points.component[a] == nullptr) {
        std::memset(&at[a], 0, sizeof(located));
        continue;
      }
      for (std::size_t k = 0; k < batch; ++k) {
        const std::size_t i = first + (k < count ? k : 0);
        at[a].x[k] = points.component[a][(chosen == nullptr ? i : chosen[i]) * points.stride];
      }
      if (points.axis[a].periodic) {
        locate<true>(points, a, at[a]);
      } else {
        locate<false>(points, a, at[a]);
      }
      for (std::size_t k = 0; k < batch; ++k) least = at[a].first[k] < least ? at[a].first[k] : least;
    }
    return least != refused;
  }

  QUADRAT_TILE_TARGET static void find_keys(const point_placement<T>& points, const tile_keys& tiles, std::size_t first,
                                            std::size_t last, std::uint32_t* keys) {
    located at[3];
    for (; first < last; first += batch, keys += batch) {
      const std::size_t count = last - first < batch ? last - first : batch;
      if (locate_batch(points, nullptr, first, count, at)) {
        for (std::size_t k = 0; k < count; ++k) keys[k] = tiles.key(at[0].first[k], at[1].first[k], at[2].first[k]);
        continue;
      }
      for (std::size_t k = 0; k < count; ++k) {
        const placed_point<T> point = points(first + k);
        keys[k] = tiles.key(point.first[0], point.first[1], point.first[2]);
      }
    }
  }

  /// Points in any order are fetched ahead: the first and the last of adjacent components, or all.
  QUADRAT_TILE_INLINE static void ask_for(const point_placement<T>& points, const std::uint32_t* chosen,
                                          std::size_t first, std::size_t last) {
    const bool adjacent = points.component[0] != nullptr && points.component[1] == points.component[0] + 1;
    for (std::size_t i = first; i < last; ++i) {
      for (int a = 0; a < 3; a += adjacent ? 2 : 1) {
        if (points.component[a] != nullptr) __builtin_prefetch(points.component[a] + chosen[i] * points.stride);
      }
    }
  }

  QUADRAT_TILE_TARGET static void place(const point_placement<T>& points, const std::uint32_t* chosen,
                                        std::size_t first, std::size_t last, placed_point<T>* placed) {
    located at[3];
    for (; first < last; first += batch, placed += batch) {
      const std::size_t count = last - first < batch ? last - first : batch;
      const std::size_t left = last - first - count;
      ask_for(points, chosen, first + count, first + count + (left < batch ? left : batch));
      const bool fine = locate_batch(points, chosen, first, count, at);
      for (std::size_t k = 0; k < count; ++k) {
        placed[k] = fine ? placed_point<T>{{at[0].place[k], at[1].place[k], at[2].place[k]},
                                           {at[0].first[k], at[1].first[k], at[2].first[k]}}
                         : points(chosen[first + k]);
      }
    }
  }
};

/// Points of one plane with the same number of vectors per row, and their weights. A point's memory: weights along axes
/// 0 and 1; their derivatives; along axis 2 a row, each weight repeated for every component, padded with zeros so that
/// the row begins where a vector of the tile begins; and a similar row of derivatives.
template <typename Lanes, int Components>
struct tile_points {
  using T = typename Lanes::value;
  static constexpr int lanes = Lanes::count;
  static constexpr int spots = lanes / Components;  ///< mesh points in a vector
  [[nodiscard]] static constexpr int vectors_for(int spot, int width) {
    return ((spot + width) * Components + lanes - 1) / lanes;
  }
  /// The most vectors that loops take at a time: those that a row touches with a window up to 8 wide. The rows of wider
  /// ones are taken in parts.
  static constexpr int most = vectors_for(spots - 1, mesh_window<T>::most_fixed_width);
  static_assert(vectors_for(spots - 1, mesh_window<T>::most_width) * lanes <= row_room,
                "a row is longer than its memory");

  T* memory;
  std::size_t first;
  int count;
  int vectors;             ///< per row that their footprints touch
  int at[cpu_tile_batch];  ///< offset of a point's first vector in a plane
  std::uint32_t id[cpu_tile_batch];

  [[nodiscard]] QUADRAT_TILE_INLINE static int vectors_of(const tile_walk<T>& walk, const tile_work<T>& work,
                                                          const placed_point<T>& point) {
    const int spot = (point.first[2] - work.begin[2]) % spots;
    return vectors_for(spot, walk.window->width);
  }

  [[nodiscard]] QUADRAT_TILE_INLINE T* weights(int p, int axis) const {
    return memory + p * batch_weights + axis * axis_room;
  }
  [[nodiscard]] QUADRAT_TILE_INLINE T* slopes(int p, int axis) const { return weights(p, axis) + 2 * axis_room; }
  [[nodiscard]] QUADRAT_TILE_INLINE T* row(int p) const { return memory + p * batch_weights + 4 * axis_room; }
  [[nodiscard]] QUADRAT_TILE_INLINE T* slope_row(int p) const { return row(p) + row_room; }

  /// Prefetches the next values: they are in random order, so each would wait for memory otherwise.
  QUADRAT_TILE_INLINE void ask_for(const T* values, std::size_t size, const tile_walk<T>& walk) const {
    std::size_t i = first + cpu_tile_batch;
    for (int p = 0; p < count && i < walk.count; ++p, ++i) __builtin_prefetch(values + walk.order[i] * size);
  }

  /// Takes points from `begin` on, as long as they have the same plane and number of vectors.
  QUADRAT_TILE_INLINE void take(const tile_walk<T>& walk, const tile_work<T>& work, std::size_t begin) {
    const placed_point<T>* points = walk.points;
    const int plane = points[begin].first[0];
    const int stride = tile_row_stride(work.row, Components);
    first = begin;
    vectors = vectors_of(walk, work, points[begin]);
    count = 0;
    const std::size_t end = work.last - begin < cpu_tile_batch ? work.last : begin + cpu_tile_batch;
    for (std::size_t i = begin; i < end; ++i) {
      if (points[i].first[0] != plane || vectors_of(walk, work, points[i]) != vectors) break;
      const int local = (points[i].first[2] - work.begin[2]) / spots * lanes;
      at[count] = (points[i].first[1] - work.begin[1]) * stride + local;
      id[count] = walk.order[i];
      ++count;
    }
  }

  /// Eight weights, from `from` on, and their derivatives if there is a place for them.
  QUADRAT_TILE_INLINE static typename Lanes::eight polynomial(const mesh_window<T>& window, T s, int from,
                                                              typename Lanes::eight* slope) {
    typename Lanes::eight w = Lanes::eight_load(window.coefficient[window.terms - 1] + from);
    const typename Lanes::eight at_s = Lanes::eight_fill(s);
    if (slope != nullptr) *slope = Lanes::eight_fill(T(0));
    for (int d = window.terms - 2; d >= 0; --d) {
      if (slope != nullptr) *slope = Lanes::eight_fused(*slope, at_s, w);
      w = Lanes::eight_fused(w, at_s, Lanes::eight_load(window.coefficient[d] + from));
    }
    return w;
  }

  template <bool Slopes>
  QUADRAT_TILE_INLINE void put_axis(const tile_walk<T>& walk, const placed_point<T>& point, int p, int axis) const {
    for (int from = 0; from < walk.window->width; from += 8) {
      typename Lanes::eight slope;
      Lanes::eight_store(weights(p, axis) + from,
                         polynomial(*walk.window, point.place[axis], from, Slopes ? &slope : nullptr));
      if (Slopes) Lanes::eight_store(slopes(p, axis) + from, slope);
    }
  }

  template <bool Slopes>
  QUADRAT_TILE_INLINE void put_row(const tile_walk<T>& walk, const tile_work<T>& work, const placed_point<T>& point,
                                   int p) const {
    for (int m = 0; m < vectors; ++m) {
      Lanes::store(row(p) + m * lanes, Lanes::zero());
      if (Slopes) Lanes::store(slope_row(p) + m * lanes, Lanes::zero());
    }
    const int spot = (point.first[2] - work.begin[2]) % spots;
    for (int from = 0; from < walk.window->width; from += 8) {
      typename Lanes::eight slope;
      const int to = (spot + from) * Components;
      Lanes::template put_repeated<Components>(
          row(p) + to, polynomial(*walk.window, point.place[2], from, Slopes ? &slope : nullptr));
      if (Slopes) Lanes::template put_repeated<Components>(slope_row(p) + to, slope);
    }
  }

  /// With Slopes their derivatives, too. Along axes beyond the dimension the only weight is 1, and its derivative 0.
  template <bool Slopes>
  QUADRAT_TILE_INLINE void compute_weights(const tile_walk<T>& walk, const tile_work<T>& work) const {
    for (int p = 0; p < count; ++p) {
      const placed_point<T>& point = walk.points[first + static_cast<std::size_t>(p)];
      for (int axis = walk.shape->first_axis; axis < 2; ++axis) put_axis<Slopes>(walk, point, p, axis);
      for (int axis = 0; axis < walk.shape->first_axis && axis < 2; ++axis) {
        weights(p, axis)[0] = T(1);
        if (Slopes) slopes(p, axis)[0] = T(0);
      }
      put_row<Slopes>(walk, work, point, p);
    }
  }
};

/// The sliding buffer: the planes of a tile that footprints of the current plane reach, which reuse the same memory in
/// turn.
template <typename Lanes, int Components>
struct tile_planes {
  using T = typename Lanes::value;

  const tile_walk<T>& walk;
  const tile_work<T>& work;
  int planes;  ///< of a footprint
  int rows;    ///< of a footprint
  int stride;
  std::size_t size;  ///< values of a plane
  int pieces;

  QUADRAT_TILE_INLINE tile_planes(const tile_walk<T>& tile_walk, const tile_work<T>& tile_work)
      : walk(tile_walk),
        work(tile_work),
        planes(walk.shape->width[0]),
        rows(walk.shape->width[1]),
        stride(tile_row_stride(work.row, Components)),
        size(static_cast<std::size_t>(work.rows) * static_cast<std::size_t>(stride)),
        pieces(make_row_pieces(*walk.shape, work.begin[2], work.row, work.pieces)) {
    std::memset(work.scratch, 0, static_cast<std::size_t>(planes) * size * sizeof(T));
  }

  /// Plane x of the tile.
  [[nodiscard]] QUADRAT_TILE_INLINE T* plane(int x) const {
    return work.scratch + static_cast<std::size_t>((x - work.begin[0]) % planes) * size;
  }
  [[nodiscard]] QUADRAT_TILE_INLINE T* batch_memory() const {
    return work.scratch + static_cast<std::size_t>(planes) * size;
  }

  /// mesh += row; row = 0
  QUADRAT_TILE_INLINE static void add_row(T* row, T* mesh, int length) {
    int k = 0;
    for (; k + Lanes::count <= length; k += Lanes::count) {
      Lanes::store(mesh + k, Lanes::add(Lanes::load(mesh + k), Lanes::load(row + k)));
      Lanes::store(row + k, Lanes::zero());
    }
    for (; k < length; ++k) {
      mesh[k] += row[k];
      row[k] = T(0);
    }
  }

  /// Adds plane `x` to the mesh, and clears it.
  QUADRAT_TILE_TARGET void add_to_mesh(int x) const {
    T* from = plane(x);
    const int i = walk.shape->home(x, 0);
    if (i < 0) {
      std::memset(from, 0, size * sizeof(T));
      return;
    }
    for (int b = 0; b < work.rows; ++b) {
      T* row = from + b * stride;
      const int j = walk.shape->home(work.begin[1] + b, 1);
      if (j < 0) {
        std::memset(row, 0, static_cast<std::size_t>(stride) * sizeof(T));
        continue;
      }
      T* mesh = walk.mesh + walk.shape->node(i, j, 0) * Components;
      for (int piece = 0; piece < pieces; ++piece) {
        const row_piece& part = work.pieces[piece];
        add_row(row + part.local * Components, mesh + static_cast<std::size_t>(part.global) * Components,
                part.length * Components);
      }
    }
  }

  /// Prefetches plane `x` of the mesh, which will soon be read.
  QUADRAT_TILE_INLINE void ask_for(const T* values, int x) const {
    const int i = walk.shape->home(x, 0);
    for (int b = 0; i >= 0 && b < work.rows; ++b) {
      const int j = walk.shape->home(work.begin[1] + b, 1);
      if (j < 0) continue;
      const T* mesh = values + walk.shape->node(i, j, 0) * Components;
      for (int piece = 0; piece < pieces; ++piece) {
        const T* from = mesh + static_cast<std::size_t>(work.pieces[piece].global) * Components;
        const int length = work.pieces[piece].length * Components;
        for (int k = 0; k < length; k += static_cast<int>(64 / sizeof(T))) __builtin_prefetch(from + k);
      }
    }
  }

  /// Reads plane `x`; what is outside the mesh is zero.
  QUADRAT_TILE_TARGET void read_from_mesh(int x) const {
    T* to = plane(x);
    const int i = walk.shape->home(x, 0);
    if (i < 0) {
      std::memset(to, 0, size * sizeof(T));
      return;
    }
    for (int b = 0; b < work.rows; ++b) {
      T* row = to + b * stride;
      const int j = walk.shape->home(work.begin[1] + b, 1);
      if (j < 0) continue;  // zero since the start of the tile
      const T* mesh = walk.mesh_values + walk.shape->node(i, j, 0) * Components;
      for (int piece = 0; piece < pieces; ++piece) {
        const row_piece& part = work.pieces[piece];
        std::memcpy(row + part.local * Components, mesh + static_cast<std::size_t>(part.global) * Components,
                    static_cast<std::size_t>(part.length * Components) * sizeof(T));
      }
    }
  }
};

}  // namespace

}  // namespace quadrat::detail
