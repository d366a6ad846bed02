// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>

#include "mesh/tiles/cpu/points.hpp"

// Included once by the source of each instruction set, like the header above.

namespace quadrat::detail {

namespace {

/// Weights of a few points of a tile of one or two dimensions, by pairs that mirror each other. Each axis of each point
/// has `room` values; those beyond the window are always zero. So a row aligned with a vector of the tile is read from
/// `front` minus the point's position in that vector.
template <typename Lanes, int Components>
struct row_weights {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using eight = typename Lanes::eight;
  using points_type = tile_points<Lanes, Components>;
  static constexpr int lanes = Lanes::count;
  static constexpr int spots = points_type::spots;
  static constexpr int front = 16, room = 48;
  static constexpr int batch = 8;
  static constexpr int size = 2 * batch * room;
  /// Polynomials evaluated at a time, as many as registers hold, because their sums are independent.
  static constexpr int together = lanes * sizeof(T) == 64 ? 8 : 4 / Lanes::parts;

  T* memory;

  [[nodiscard]] QUADRAT_TILE_INLINE const T* of(int item) const { return memory + item * room + front; }

  template <int Axes>
  QUADRAT_TILE_INLINE void compute(const tile_walk<T>& walk, std::size_t first, std::size_t last) const {
    T places[Axes * batch];
    for (int p = 0; p < batch; ++p) {
      const tile_point<T>& point = walk.points[std::min(first + static_cast<std::size_t>(p), last - 1)];
      for (int axis = 0; axis < Axes; ++axis) places[p * Axes + axis] = point.place[3 - Axes + axis];
    }
    for (int i = 0; i < Axes * batch; i += together) polynomials(*walk.mirrored, places + i, memory + i * room + front);
  }

  QUADRAT_TILE_INLINE static void polynomials(const mirrored_window<T>& window, const T* places, T* to) {
    eight even[together], odd[together], square[together];
    const int last = window.terms - 1;
    QUADRAT_TILE_UNROLL
    for (int i = 0; i < together; ++i) {
      square[i] = Lanes::eight_fill(places[i] * places[i]);
      even[i] = Lanes::eight_load(window.even[last]);
      odd[i] = Lanes::eight_load(window.odd[last]);
    }
    for (int d = last - 1; d >= 0; --d) {
      const eight even_term = Lanes::eight_load(window.even[d]), odd_term = Lanes::eight_load(window.odd[d]);
      QUADRAT_TILE_UNROLL
      for (int i = 0; i < together; ++i) {
        even[i] = Lanes::eight_fused(even[i], square[i], even_term);
        odd[i] = Lanes::eight_fused(odd[i], square[i], odd_term);
      }
    }
    QUADRAT_TILE_UNROLL
    for (int i = 0; i < together; ++i, to += room) {
      Lanes::eight_store(to + window.center, Lanes::eight_fused(odd[i], Lanes::eight_fill(places[i]), even[i]));
      Lanes::eight_store(to + window.mirror - 7,
                         Lanes::eight_reversed(Lanes::eight_fused(odd[i], Lanes::eight_fill(-places[i]), even[i])));
    }
  }
};

/// Some rows of a tile, as many as a footprint has, which reuse the same memory in turn: a window that slides along
/// axis 1. Rows are counted from the beginning of the tile.
template <typename Lanes, int Components>
struct tile_ring {
  using T = typename Lanes::value;

  const tile_walk<T>& walk;
  const tile_work<T>& work;
  int kept;
  int stride;
  int pieces;
  int limits[4];  ///< along axis 2: regions shared with the previous tile, the tile's alone, shared with the next

  QUADRAT_TILE_INLINE tile_ring(const tile_walk<T>& tile_walk, const tile_work<T>& tile_work)
      : walk(tile_walk),
        work(tile_work),
        kept(walk.shape->width[1]),
        stride(tile_row_stride(work.row, Components)),
        pieces(make_row_pieces(*walk.shape, work.begin[2], work.row, work.pieces)) {
    const int reach = std::min(walk.shape->width[2] - 1, work.row);
    limits[0] = 0;
    limits[1] = reach;
    limits[2] = std::max(reach, work.row - reach);
    limits[3] = work.row;
    std::memset(work.scratch, 0, static_cast<std::size_t>(size()) * sizeof(T));
  }

  [[nodiscard]] QUADRAT_TILE_INLINE int size() const { return kept * stride; }
  [[nodiscard]] QUADRAT_TILE_INLINE T* row(int y) const { return work.scratch + y % kept * stride; }

  /// The rows of a footprint whose first row is y.
  QUADRAT_TILE_INLINE void find_rows(int y, T** rows) const {
    const int first = y % kept;
    for (int b = 0; b < kept; ++b) rows[b] = work.scratch + (first + b < kept ? first + b : first + b - kept) * stride;
  }

  /// Moves a row to the mesh: adds it or, if the mesh is not written yet, stores it. Then clears the row.
  template <bool Add>
  QUADRAT_TILE_INLINE static void move(T* row, T* mesh, int length) {
    int k = 0;
    for (; k + Lanes::count <= length; k += Lanes::count) {
      Lanes::store(mesh + k, Add ? Lanes::add(Lanes::load(mesh + k), Lanes::load(row + k)) : Lanes::load(row + k));
      Lanes::store(row + k, Lanes::zero());
    }
    for (; k < length; ++k) {
      mesh[k] = Add ? mesh[k] + row[k] : row[k];
      row[k] = T(0);
    }
  }

  /// `partly`: the row was moved before, or will be again.
  QUADRAT_TILE_TARGET void move_to_mesh(int y, bool partly) const {
    T* const from = row(y);
    const int j = walk.shape->home(work.begin[1] + y, 1);
    if (j < 0) {
      std::memset(from, 0, static_cast<std::size_t>(stride) * sizeof(T));
      return;
    }
    const int reach = walk.shape->width[1] - 1;
    const int along = y < reach ? 0 : y < work.rows - reach ? 1 : 2;
    T* const mesh = walk.mesh + walk.shape->node(0, j, 0) * Components;
    for (int piece = 0; piece < pieces; ++piece) {
      const row_piece& part = work.pieces[piece];
      for (int across = 0; across < 3; ++across) {
        const int begin = std::max(part.local, limits[across]);
        const int length = (std::min(part.local + part.length, limits[across + 1]) - begin) * Components;
        if (length <= 0) continue;
        T* const to = mesh + static_cast<std::size_t>(part.global + begin - part.local) * Components;
        if (partly || work.adds[along][across]) {
          move<true>(from + begin * Components, to, length);
        } else {
          move<false>(from + begin * Components, to, length);
        }
      }
    }
  }

  /// Reads row y, with zeros outside the mesh.
  QUADRAT_TILE_TARGET void read_from_mesh(int y) const {
    T* const to = row(y);
    const int j = walk.shape->home(work.begin[1] + y, 1);
    if (j < 0) {
      std::memset(to, 0, static_cast<std::size_t>(stride) * sizeof(T));
      return;
    }
    const T* const mesh = walk.mesh_values + walk.shape->node(0, j, 0) * Components;
    for (int piece = 0; piece < pieces; ++piece) {
      const row_piece& part = work.pieces[piece];
      std::memcpy(to + part.local * Components, mesh + static_cast<std::size_t>(part.global) * Components,
                  static_cast<std::size_t>(part.length * Components) * sizeof(T));
    }
  }

  /// Prefetches row y of the mesh.
  QUADRAT_TILE_INLINE void ask_for(const T* values, int y) const {
    const int j = y < work.rows ? walk.shape->home(work.begin[1] + y, 1) : -1;
    if (j < 0) return;
    const T* const mesh = values + walk.shape->node(0, j, 0) * Components;
    for (int piece = 0; piece < pieces; ++piece) {
      const T* const from = mesh + static_cast<std::size_t>(work.pieces[piece].global) * Components;
      const int length = work.pieces[piece].length * Components;
      for (int k = 0; k < length; k += static_cast<int>(64 / sizeof(T))) __builtin_prefetch(from + k);
    }
  }
};

/// The steps of both directions for the points of a tile, which are sorted by row.
template <typename Lanes, int Components>
struct row_walk {
  using T = typename Lanes::value;
  using points_type = tile_points<Lanes, Components>;
  using weights_type = row_weights<Lanes, Components>;

  const tile_walk<T>& walk;
  const tile_work<T>& work;
  weights_type weights;

  QUADRAT_TILE_INLINE row_walk(const tile_walk<T>& tile_walk, const tile_work<T>& tile_work, T* memory)
      : walk(tile_walk), work(tile_work), weights{memory} {
    std::memset(memory, 0, weights_type::size * sizeof(T));
  }

  /// Prefetches the values of points some batches ahead, because they are in random order.
  QUADRAT_TILE_INLINE void ask_for(const T* values, std::size_t first) const {
    constexpr std::size_t ahead = 4 * weights_type::batch;
    if (first + ahead + weights_type::batch > work.last) return;
    for (std::size_t i = first + ahead; i < first + ahead + weights_type::batch; ++i) {
      __builtin_prefetch(values + std::size_t{walk.points[i].id} * Components);
    }
  }
  /// Calls to.go_to(row) where a row begins, and to.take(point, p) for each point, with its weights at p. `values`: of
  /// points, to be prefetched.
  template <int Axes, typename To>
  QUADRAT_TILE_INLINE void for_each_point(const T* values, To& to) const {
    int row = -1;
    for (std::size_t i = work.first; i < work.last; i += weights_type::batch) {
      ask_for(values, i);
      weights.template compute<Axes>(walk, i, work.last);
      const int count = static_cast<int>(std::min<std::size_t>(weights_type::batch, work.last - i));
      for (int p = 0; p < count; ++p) {
        const tile_point<T>& point = walk.points[i + static_cast<std::size_t>(p)];
        if (point.along(1) > row) to.go_to(row = point.along(1));
        to.take(point, p);
      }
    }
  }
  [[nodiscard]] QUADRAT_TILE_INLINE static int offset_of(const tile_point<T>& point) {
    return point.along(2) / weights_type::spots * Lanes::count;
  }
  [[nodiscard]] QUADRAT_TILE_INLINE static int spot_of(const tile_point<T>& point) {
    return point.along(2) % weights_type::spots;
  }
};

template <typename Lanes, int Components, int Axes>
struct row_spreading {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using walk_type = row_walk<Lanes, Components>;
  using points_type = tile_points<Lanes, Components>;
  using weights_type = row_weights<Lanes, Components>;

  template <int Vectors>
  QUADRAT_TILE_INLINE static void add(T* const* rows, int count, int at, const T* of_rows, const T* along,
                                      vector value) {
    vector part[Vectors];
    QUADRAT_TILE_UNROLL
    for (int m = 0; m < Vectors; ++m) {
      part[m] = Lanes::multiply(Lanes::template load_repeated<Components>(along + m * weights_type::spots), value);
    }
    for (int b = 0; b < (Axes == 1 ? 1 : count); ++b) {
      T* const to = rows[b] + at;
      const vector of_row = Lanes::fill(Axes == 1 ? T(1) : of_rows[b]);
      QUADRAT_TILE_UNROLL
      for (int m = 0; m < Vectors; ++m) {
        T* const here = to + m * Lanes::count;
        Lanes::store(here, Axes == 1 ? Lanes::add(part[m], Lanes::load(here))
                                     : Lanes::fused(part[m], of_row, Lanes::load(here)));
      }
    }
  }

  template <int Vectors>
  QUADRAT_TILE_INLINE static void add_some(int vectors, T* const* rows, int count, int at, const T* of_rows,
                                           const T* along, vector value) {
    if constexpr (Vectors < points_type::most) {
      if (vectors > Vectors) return add_some<Vectors + 1>(vectors, rows, count, at, of_rows, along, value);
    }
    add<Vectors>(rows, count, at, of_rows, along, value);
  }

  QUADRAT_TILE_INLINE static void add_point(const walk_type& points, const tile_point<T>& point, int p, T* const* rows,
                                            int count) {
    const T* const values = points.walk.values + std::size_t{point.id} * Components;
    const vector value = Lanes::template fill_repeated<Components>(values);
    const int vectors = points_type::vectors_of(points.walk, point), at = walk_type::offset_of(point);
    const T* const along = points.weights.of(p * Axes + Axes - 1) - walk_type::spot_of(point);
    for (int m = 0; m < vectors; m += points_type::most) {
      add_some<1>(vectors - m, rows, count, at + m * Lanes::count, points.weights.of(p * Axes),
                  along + m * weights_type::spots, value);
    }
  }

  QUADRAT_TILE_TARGET static void run(const tile_walk<T>& walk, const tile_work<T>& work) {
    const tile_ring<Lanes, Components> ring(walk, work);
    const walk_type points(walk, work, work.scratch + ring.size());
    row_spreading to{ring, points, 16 * work.row / walk.shape->width[2]};
    points.template for_each_point<Axes>(walk.values, to);
    to.move_until(work.stores ? work.rows : to.touched);
  }

  const tile_ring<Lanes, Components>& ring;
  const walk_type& points;
  int limit;  ///< most points of one row before the sums are added to the mesh: long sums lose precision
  T* rows[mesh_window<T>::most_width] = {};
  int y = 0, sums = 0;
  int touched = 0;  ///< rows before this one hold something
  int partly = 0;   ///< rows before this one are partly on the mesh

  QUADRAT_TILE_INLINE void move_until(int end) {
    for (; y < end; ++y) ring.move_to_mesh(y, y < partly);
  }
  QUADRAT_TILE_INLINE void go_to(int next) {
    const int end = points.work.stores ? next : std::min(next, touched);
    for (; y < end; ++y) {
      ring.move_to_mesh(y, y < partly);
      ring.ask_for(points.walk.mesh, y + 2);
    }
    y = next;
    sums = 0;
    ring.find_rows(y, rows);
  }
  QUADRAT_TILE_INLINE void take(const tile_point<T>& point, int p) {
    touched = y + ring.kept;
    add_point(points, point, p, rows, ring.kept);
    if (++sums < limit) return;
    for (int b = 0; b < ring.kept; ++b) ring.move_to_mesh(y + b, y + b < partly);
    partly = touched;
    sums = 0;
  }
};

template <typename Lanes, int Components, int Axes>
struct row_interpolation {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using walk_type = row_walk<Lanes, Components>;
  using points_type = tile_points<Lanes, Components>;
  using weights_type = row_weights<Lanes, Components>;

  /// Weights of zero exclude values outside the footprint, even if they are not finite.
  template <int Vectors>
  QUADRAT_TILE_INLINE static vector sum(T* const* rows, int count, int at, const T* of_rows, const T* along) {
    vector part[Vectors];
    QUADRAT_TILE_UNROLL
    for (int m = 0; m < Vectors; ++m)
      part[m] = Axes == 1 ? Lanes::load(rows[0] + at + m * Lanes::count) : Lanes::zero();
    for (int b = 0; b < (Axes == 1 ? 0 : count); ++b) {
      const T* const from = rows[b] + at;
      const vector of_row = Lanes::fill(of_rows[b]);
      QUADRAT_TILE_UNROLL
      for (int m = 0; m < Vectors; ++m) part[m] = Lanes::fused(Lanes::load(from + m * Lanes::count), of_row, part[m]);
    }
    vector all = Lanes::zero();
    QUADRAT_TILE_UNROLL
    for (int m = 0; m < Vectors; ++m) {
      all = Lanes::fused_where_not_zero(Lanes::template load_repeated<Components>(along + m * weights_type::spots),
                                        part[m], all);
    }
    return all;
  }

  template <int Vectors>
  QUADRAT_TILE_INLINE static vector sum_some(int vectors, T* const* rows, int count, int at, const T* of_rows,
                                             const T* along) {
    if constexpr (Vectors < points_type::most) {
      if (vectors > Vectors) return sum_some<Vectors + 1>(vectors, rows, count, at, of_rows, along);
    }
    return sum<Vectors>(rows, count, at, of_rows, along);
  }

  QUADRAT_TILE_INLINE static void put_point(const walk_type& points, const tile_point<T>& point, int p, T* const* rows,
                                            int count) {
    const int vectors = points_type::vectors_of(points.walk, point), at = walk_type::offset_of(point);
    const T* const along = points.weights.of(p * Axes + Axes - 1) - walk_type::spot_of(point);
    vector all = Lanes::zero();
    for (int m = 0; m < vectors; m += points_type::most) {
      const vector some = sum_some<1>(vectors - m, rows, count, at + m * Lanes::count, points.weights.of(p * Axes),
                                      along + m * weights_type::spots);
      all = m == 0 ? some : Lanes::add(all, some);
    }
    T total[Components];
    Lanes::template sum<Components>(all, total);
    T* const result = points.walk.results + std::size_t{point.id} * Components;
    for (int c = 0; c < Components; ++c) result[c] = points.walk.accumulate ? result[c] + total[c] : total[c];
  }

  QUADRAT_TILE_TARGET static void run(const tile_walk<T>& walk, const tile_work<T>& work) {
    const tile_ring<Lanes, Components> ring(walk, work);
    const walk_type points(walk, work, work.scratch + ring.size());
    row_interpolation from{ring, points};
    points.template for_each_point<Axes>(walk.results, from);
  }

  const tile_ring<Lanes, Components>& ring;
  const walk_type& points;
  T* rows[mesh_window<T>::most_width] = {};
  int read = 0;  ///< rows before this one have been read

  QUADRAT_TILE_INLINE void go_to(int y) {
    for (read = std::max(read, y); read < y + ring.kept; ++read) {
      ring.read_from_mesh(read);
      ring.ask_for(points.walk.mesh_values, read + 2);
    }
    ring.find_rows(y, rows);
  }
  QUADRAT_TILE_INLINE void take(const tile_point<T>& point, int p) const {
    put_point(points, point, p, rows, ring.kept);
  }
};

}  // namespace

}  // namespace quadrat::detail
