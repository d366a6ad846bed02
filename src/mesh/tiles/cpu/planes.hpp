// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cpu/points.hpp"

// Included once by the source of each instruction set, like the header above.

namespace quadrat::detail {

namespace {

/// The points of a tile that reach a plane of the mesh, with their contributions. Footprints too large for the
/// level-one cache are processed plane by plane of the mesh: one plane stays in the cache, and the weights of all
/// points that reach it are read in the order of memory. A point's memory: weights along axes 0 and 1, a row along axis
/// 2 as in tile_points, and a row of sums.
template <typename Lanes, int Components>
struct plane_points {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using points_type = tile_points<Lanes, Components>;
  static constexpr int lanes = Lanes::count;
  static constexpr int most = points_type::most;

  const tile_walk<T>& walk;
  const tile_work<T>& work;
  T* memory;
  std::size_t step;                ///< every step-th point is taken
  std::size_t last;                ///< of these, from 0
  std::size_t begin = 0, end = 0;  ///< those that reach the current plane
  std::size_t origin = 0;          ///< the first of a pass, in the tile

  /// The number of passes over the tile's points, so that all points that reach a plane fit.
  [[nodiscard]] QUADRAT_TILE_TARGET static std::size_t passes(const tile_walk<T>& walk, const tile_work<T>& work) {
    const int planes = walk.shape->width[0];
    std::size_t fullest = 0;
    for (std::size_t i = work.first, back = work.first; i < work.last; ++i) {
      while (walk.points[back].along(0) + planes <= walk.points[i].along(0)) ++back;
      fullest = i + 1 - back > fullest ? i + 1 - back : fullest;
    }
    return (fullest + plane_room - 1) / plane_room;
  }

  QUADRAT_TILE_INLINE plane_points(const tile_walk<T>& tile_walk, const tile_work<T>& tile_work, T* room)
      : walk(tile_walk), work(tile_work), memory(room), step(passes(tile_walk, tile_work)), last(0) {}

  /// The points of pass number `pass`.
  QUADRAT_TILE_INLINE void start(std::size_t pass) {
    origin = work.first + pass;
    begin = end = 0;
    last = (work.last - origin + step - 1) / step;
  }
  [[nodiscard]] QUADRAT_TILE_INLINE const tile_point<T>& point(std::size_t i) const {
    return walk.points[origin + i * step];
  }
  [[nodiscard]] QUADRAT_TILE_INLINE T* slot(std::size_t i) const { return memory + i % plane_room * plane_weights; }
  [[nodiscard]] QUADRAT_TILE_INLINE static const T* weights(const T* slot, int axis) { return slot + axis * axis_room; }
  [[nodiscard]] QUADRAT_TILE_INLINE static T* row(T* slot) { return slot + 2 * axis_room; }
  [[nodiscard]] QUADRAT_TILE_INLINE static T* sums(T* slot) { return slot + 2 * axis_room + row_room; }
  [[nodiscard]] QUADRAT_TILE_INLINE int plane_of(std::size_t i) const { return work.begin[0] + point(i).along(0); }
  [[nodiscard]] QUADRAT_TILE_INLINE static int vectors_of(const tile_walk<T>& walk, const tile_point<T>& point) {
    return points_type::vectors_of(walk, point);
  }
  /// The offset of a point's rows in a plane.
  [[nodiscard]] QUADRAT_TILE_INLINE static int offset_of(const tile_point<T>& point, int stride) {
    return point.along(1) * stride + point.along(2) / points_type::spots * lanes;
  }

  /// Prefetches the value of point i, if there is one: values are in random order.
  QUADRAT_TILE_INLINE void ask_for(const T* values, std::size_t i) const {
    if (i < last) __builtin_prefetch(values + std::size_t{point(i).id} * Components);
  }

  QUADRAT_TILE_INLINE void put_weights(std::size_t i) const {
    const tile_point<T>& it = point(i);
    T* const to = slot(i);
    for (int axis = 0; axis < 2; ++axis) {
      for (int from = 0; from < walk.window->width; from += 8) {
        Lanes::eight_store(to + axis * axis_room + from,
                           points_type::polynomial(*walk.window, it.place[axis], from, nullptr));
      }
    }
    for (int m = 0; m < vectors_of(walk, it); ++m) {
      Lanes::store(row(to) + m * lanes, Lanes::zero());
      Lanes::store(sums(to) + m * lanes, Lanes::zero());
    }
    const int spot = it.along(2) % points_type::spots;
    for (int from = 0; from < walk.window->width; from += 8) {
      Lanes::template put_repeated<Components>(row(to) + (spot + from) * Components,
                                               points_type::polynomial(*walk.window, it.place[2], from, nullptr));
    }
  }

  /// The row of a point times its value.
  QUADRAT_TILE_INLINE void multiply_row(std::size_t i) const {
    const vector value = Lanes::template fill_repeated<Components>(walk.values + std::size_t{point(i).id} * Components);
    T* const to = row(slot(i));
    for (int m = 0; m < vectors_of(walk, point(i)); ++m) {
      Lanes::store(to + m * lanes, Lanes::multiply(Lanes::load(to + m * lanes), value));
    }
  }
};

template <typename Lanes, int Components>
struct plane_spreading {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using points_type = plane_points<Lanes, Components>;

  template <int Vectors>
  QUADRAT_TILE_INLINE static void add(T* to, int stride, int rows, const T* row, T weight, const T* of_rows) {
    vector part[Vectors];
    QUADRAT_TILE_UNROLL
    for (int m = 0; m < Vectors; ++m) {
      part[m] = Lanes::multiply(Lanes::load(row + m * Lanes::count), Lanes::fill(weight));
    }
    for (int b = 0; b < rows; ++b, to += stride) {
      const vector of_row = Lanes::fill(of_rows[b]);
      QUADRAT_TILE_UNROLL
      for (int m = 0; m < Vectors; ++m) {
        T* here = to + m * Lanes::count;
        Lanes::store(here, Lanes::fused(part[m], of_row, Lanes::load(here)));
      }
    }
  }

  template <int Vectors>
  QUADRAT_TILE_INLINE static void add_some(int vectors, T* to, int stride, int rows, const T* row, T weight,
                                           const T* of_rows) {
    if constexpr (Vectors < points_type::most) {
      if (vectors > Vectors) return add_some<Vectors + 1>(vectors, to, stride, rows, row, weight, of_rows);
    }
    add<Vectors>(to, stride, rows, row, weight, of_rows);
  }

  QUADRAT_TILE_INLINE static void add_point(const tile_planes<Lanes, Components>& planes, const points_type& points,
                                            std::size_t i, int x) {
    const tile_point<T>& point = points.point(i);
    T* const slot = points.slot(i);
    const T weight = points_type::weights(slot, 0)[x - points.plane_of(i)];
    T* const to = planes.work.scratch + points_type::offset_of(point, planes.stride);
    const int vectors = points_type::vectors_of(planes.walk, point);
    for (int m = 0; m < vectors; m += points_type::most) {
      add_some<1>(vectors - m, to + m * Lanes::count, planes.stride, planes.rows,
                  points_type::row(slot) + m * Lanes::count, weight, points_type::weights(slot, 1));
    }
  }

  QUADRAT_TILE_TARGET static void run(const tile_walk<T>& walk, const tile_work<T>& work) {
    const tile_planes<Lanes, Components> planes(walk, work, 1);
    points_type points(walk, work, work.scratch + planes.size);
    for (std::size_t pass = 0; pass < points.step; ++pass) {
      points.start(pass);
      for (int x = points.plane_of(0);; ++x) {
        while (points.begin < points.end && points.plane_of(points.begin) + planes.planes <= x) ++points.begin;
        if (points.begin == points.end) {
          if (points.end == points.last) break;
          x = points.plane_of(points.end);
        }
        planes.ask_for(walk.mesh, x);
        for (; points.end < points.last && points.plane_of(points.end) == x; ++points.end) {
          points.ask_for(walk.values, points.end + 16);
          points.put_weights(points.end);
          points.multiply_row(points.end);
        }
        for (std::size_t i = points.begin; i < points.end; ++i) add_point(planes, points, i, x);
        planes.add_to_mesh(x);
      }
    }
  }
};

template <typename Lanes, int Components>
struct plane_interpolation {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using points_type = plane_points<Lanes, Components>;

  template <int Vectors>
  QUADRAT_TILE_INLINE static void sum(const T* from, int stride, int rows, T* sums, T weight, const T* of_rows) {
    vector part[Vectors];
    QUADRAT_TILE_UNROLL
    for (int m = 0; m < Vectors; ++m) part[m] = Lanes::zero();
    for (int b = 0; b < rows; ++b, from += stride) {
      const vector of_row = Lanes::fill(of_rows[b]);
      QUADRAT_TILE_UNROLL
      for (int m = 0; m < Vectors; ++m) part[m] = Lanes::fused(Lanes::load(from + m * Lanes::count), of_row, part[m]);
    }
    QUADRAT_TILE_UNROLL
    for (int m = 0; m < Vectors; ++m) {
      T* const here = sums + m * Lanes::count;
      Lanes::store(here, Lanes::fused(part[m], Lanes::fill(weight), Lanes::load(here)));
    }
  }

  template <int Vectors>
  QUADRAT_TILE_INLINE static void sum_some(int vectors, const T* from, int stride, int rows, T* sums, T weight,
                                           const T* of_rows) {
    if constexpr (Vectors < points_type::most) {
      if (vectors > Vectors) return sum_some<Vectors + 1>(vectors, from, stride, rows, sums, weight, of_rows);
    }
    sum<Vectors>(from, stride, rows, sums, weight, of_rows);
  }

  /// The value of a point, from its sums. Weights of zero exclude values outside the footprint, even if they are not
  /// finite.
  QUADRAT_TILE_INLINE static void put(const points_type& points, std::size_t i) {
    const tile_walk<T>& walk = points.walk;
    T* const slot = points.slot(i);
    vector all = Lanes::zero();
    for (int m = 0; m < points_type::vectors_of(walk, points.point(i)); ++m) {
      all = Lanes::fused_where_not_zero(Lanes::load(points_type::row(slot) + m * Lanes::count),
                                        Lanes::load(points_type::sums(slot) + m * Lanes::count), all);
    }
    T total[Components];
    Lanes::template sum<Components>(all, total);
    T* const result = walk.results + std::size_t{points.point(i).id} * Components;
    for (int c = 0; c < Components; ++c) result[c] = walk.accumulate ? result[c] + total[c] : total[c];
  }

  QUADRAT_TILE_INLINE static void sum_point(const tile_planes<Lanes, Components>& planes, const points_type& points,
                                            std::size_t i, int x) {
    const tile_point<T>& point = points.point(i);
    T* const slot = points.slot(i);
    const T weight = points_type::weights(slot, 0)[x - points.plane_of(i)];
    const T* const from = planes.work.scratch + points_type::offset_of(point, planes.stride);
    const int vectors = points_type::vectors_of(planes.walk, point);
    for (int m = 0; m < vectors; m += points_type::most) {
      sum_some<1>(vectors - m, from + m * Lanes::count, planes.stride, planes.rows,
                  points_type::sums(slot) + m * Lanes::count, weight, points_type::weights(slot, 1));
    }
  }

  QUADRAT_TILE_TARGET static void run(const tile_walk<T>& walk, const tile_work<T>& work) {
    const tile_planes<Lanes, Components> planes(walk, work, 1);
    points_type points(walk, work, work.scratch + planes.size);
    for (std::size_t pass = 0; pass < points.step; ++pass) {
      points.start(pass);
      for (int x = points.plane_of(0);; ++x) {
        for (; points.begin < points.end && points.plane_of(points.begin) + planes.planes <= x; ++points.begin) {
          put(points, points.begin);
        }
        if (points.begin == points.end) {
          if (points.end == points.last) break;
          x = points.plane_of(points.end);
        }
        for (; points.end < points.last && points.plane_of(points.end) == x; ++points.end) {
          points.ask_for(walk.results, points.end);
          points.put_weights(points.end);
        }
        planes.read_from_mesh(x);
        planes.ask_for(walk.mesh_values, x + 1);
        for (std::size_t i = points.begin; i < points.end; ++i) sum_point(planes, points, i, x);
      }
    }
  }
};

}  // namespace

}  // namespace quadrat::detail
