// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>

#include "mesh/tiles/cpu/placing.hpp"

// Included once by the source of each instruction set, like the header above.

namespace quadrat::detail {

namespace {

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
  /// The most vectors that a loop takes at a time: as many as a row touches with a window up to 8 wide, or five. Longer
  /// rows are processed in parts.
  static constexpr int most = std::max(vectors_for(spots - 1, mesh_window<T>::most_fixed_width),
                                       std::min(5, vectors_for(spots - 1, mesh_window<T>::most_width)));
  static_assert(vectors_for(spots - 1, mesh_window<T>::most_width) * lanes <= row_room,
                "a row is longer than its memory");

  T* memory;
  std::size_t first;
  int count;
  int vectors;             ///< per row that their footprints touch
  int at[cpu_tile_batch];  ///< offset of a point's first vector in a plane
  std::uint32_t id[cpu_tile_batch];

  [[nodiscard]] QUADRAT_TILE_INLINE static int vectors_of(const tile_walk<T>& walk, const tile_point<T>& point) {
    const int spot = point.along(2) % spots;
    return vectors_for(spot, walk.window->width);
  }

  [[nodiscard]] QUADRAT_TILE_INLINE T* weights(int p, int axis) const {
    return memory + p * batch_weights + axis * axis_room;
  }
  [[nodiscard]] QUADRAT_TILE_INLINE T* slopes(int p, int axis) const { return weights(p, axis) + 2 * axis_room; }
  [[nodiscard]] QUADRAT_TILE_INLINE T* row(int p) const { return memory + p * batch_weights + 4 * axis_room; }
  [[nodiscard]] QUADRAT_TILE_INLINE T* slope_row(int p) const { return row(p) + row_room; }

  /// Prefetches the next values, because they are in random order.
  QUADRAT_TILE_INLINE void ask_for(const T* values, std::size_t size, const tile_walk<T>& walk,
                                   const tile_work<T>& work) const {
    std::size_t i = first + cpu_tile_batch;
    for (int p = 0; p < count && i < work.last; ++p, ++i) __builtin_prefetch(values + walk.points[i].id * size);
  }

  /// Takes points from `begin` on, as long as they have the same plane and number of vectors.
  QUADRAT_TILE_INLINE void take(const tile_walk<T>& walk, const tile_work<T>& work, std::size_t begin) {
    const tile_point<T>* points = walk.points;
    const int plane = points[begin].along(0);
    const int stride = tile_row_stride(work.row, Components);
    first = begin;
    vectors = vectors_of(walk, points[begin]);
    count = 0;
    const std::size_t end = work.last - begin < cpu_tile_batch ? work.last : begin + cpu_tile_batch;
    for (std::size_t i = begin; i < end; ++i) {
      if (points[i].along(0) != plane || vectors_of(walk, points[i]) != vectors) break;
      const int local = points[i].along(2) / spots * lanes;
      at[count] = points[i].along(1) * stride + local;
      id[count] = points[i].id;
      ++count;
    }
  }

  /// Eight weights, from `from` on, and their derivatives if `slopes` is given.
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
  QUADRAT_TILE_INLINE void put_axis(const tile_walk<T>& walk, const tile_point<T>& point, int p, int axis) const {
    for (int from = 0; from < walk.window->width; from += 8) {
      typename Lanes::eight slope;
      Lanes::eight_store(weights(p, axis) + from,
                         polynomial(*walk.window, point.place[axis], from, Slopes ? &slope : nullptr));
      if (Slopes) Lanes::eight_store(slopes(p, axis) + from, slope);
    }
  }

  template <bool Slopes>
  QUADRAT_TILE_INLINE void put_row(const tile_walk<T>& walk, const tile_point<T>& point, int p) const {
    for (int m = 0; m < vectors; ++m) {
      Lanes::store(row(p) + m * lanes, Lanes::zero());
      if (Slopes) Lanes::store(slope_row(p) + m * lanes, Lanes::zero());
    }
    const int spot = point.along(2) % spots;
    for (int from = 0; from < walk.window->width; from += 8) {
      typename Lanes::eight slope;
      const int to = (spot + from) * Components;
      Lanes::template put_repeated<Components>(
          row(p) + to, polynomial(*walk.window, point.place[2], from, Slopes ? &slope : nullptr));
      if (Slopes) Lanes::template put_repeated<Components>(slope_row(p) + to, slope);
    }
  }

  /// With Slopes also their derivatives. Along axes beyond the dimension the only weight is 1, and its derivative 0.
  template <bool Slopes>
  QUADRAT_TILE_INLINE void compute_weights(const tile_walk<T>& walk) const {
    for (int p = 0; p < count; ++p) {
      const tile_point<T>& point = walk.points[first + static_cast<std::size_t>(p)];
      for (int axis = walk.shape->first_axis; axis < 2; ++axis) put_axis<Slopes>(walk, point, p, axis);
      for (int axis = 0; axis < walk.shape->first_axis && axis < 2; ++axis) {
        weights(p, axis)[0] = T(1);
        if (Slopes) slopes(p, axis)[0] = T(0);
      }
      put_row<Slopes>(walk, point, p);
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
  int kept;
  int rows;  ///< of a footprint
  int stride;
  std::size_t size;  ///< values of a plane
  int pieces;

  /// With room for `kept` planes at a time, all zero.
  QUADRAT_TILE_INLINE tile_planes(const tile_walk<T>& tile_walk, const tile_work<T>& tile_work, int kept_planes)
      : walk(tile_walk),
        work(tile_work),
        planes(walk.shape->width[0]),
        kept(kept_planes),
        rows(walk.shape->width[1]),
        stride(tile_row_stride(work.row, Components)),
        size(static_cast<std::size_t>(work.rows) * static_cast<std::size_t>(stride)),
        pieces(make_row_pieces(*walk.shape, work.begin[2], work.row, work.pieces)) {
    std::memset(work.scratch, 0, static_cast<std::size_t>(kept) * size * sizeof(T));
  }

  /// Plane x of the tile.
  [[nodiscard]] QUADRAT_TILE_INLINE T* plane(int x) const {
    return work.scratch + static_cast<std::size_t>((x - work.begin[0]) % kept) * size;
  }
  [[nodiscard]] QUADRAT_TILE_INLINE T* batch_memory() const {
    return work.scratch + static_cast<std::size_t>(kept) * size;
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

  /// Reads plane `x`, with zeros outside the mesh.
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
