// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/tiles/cpu/planes.hpp"
#include "mesh/tiles/cpu/rows.hpp"

// Included once by the source of each instruction set, like the header above.

namespace quadrat::detail {

namespace {

template <typename Lanes, int Components>
struct tile_spreading {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using points_type = tile_points<Lanes, Components>;

  /// A footprint is added row by row in aligned vectors: the processor can then forward the stores of the previous
  /// point to the loads, and no access crosses a cache line. Adds `Vectors` of each row from `first` on.
  template <int Vectors>
  QUADRAT_TILE_INLINE static void add(const tile_planes<Lanes, Components>& planes, const points_type& points,
                                      T* const* plane, int first) {
    const T* values = planes.walk.values;
    for (int p = 0; p < points.count; ++p) {
      const vector value = Lanes::template fill_repeated<Components>(values + std::size_t{points.id[p]} * Components);
      const T* row = points.row(p) + first * Lanes::count;
      vector along[Vectors];
      QUADRAT_TILE_UNROLL
      for (int m = 0; m < Vectors; ++m) along[m] = Lanes::multiply(Lanes::load(row + m * Lanes::count), value);
      for (int a = 0; a < planes.planes; ++a) {
        const vector weight = Lanes::fill(points.weights(p, 0)[a]);
        vector part[Vectors];
        QUADRAT_TILE_UNROLL
        for (int m = 0; m < Vectors; ++m) part[m] = Lanes::multiply(along[m], weight);
        T* to = plane[a] + points.at[p] + first * Lanes::count;
        for (int b = 0; b < planes.rows; ++b, to += planes.stride) {
          const vector of_row = Lanes::fill(points.weights(p, 1)[b]);
          QUADRAT_TILE_UNROLL
          for (int m = 0; m < Vectors; ++m) {
            T* here = to + m * Lanes::count;
            Lanes::store(here, Lanes::fused(part[m], of_row, Lanes::load(here)));
          }
        }
      }
    }
  }

  /// Selects the loops for the number of vectors that rows have from `first` on, `Vectors` or more.
  template <int Vectors>
  QUADRAT_TILE_INLINE static void add_batch(const tile_planes<Lanes, Components>& planes, const points_type& points,
                                            T* const* plane, int first) {
    if constexpr (Vectors < points_type::most) {
      if (points.vectors - first > Vectors) return add_batch<Vectors + 1>(planes, points, plane, first);
    }
    add<Vectors>(planes, points, plane, first);
  }

  /// The most points of one plane before the buffer is added to the mesh: long sums lose precision, and adding the
  /// buffer costs little compared with this many footprints.
  [[nodiscard]] QUADRAT_TILE_INLINE static int most_sums(const tile_walk<T>& walk, const tile_work<T>& work) {
    return 16 * walk.shape->width[0] * work.rows * work.row / walk.shape->footprint_size();
  }

  QUADRAT_TILE_TARGET static void run(const tile_walk<T>& walk, const tile_work<T>& work) {
    if (by_rows(walk)) {
      return walk.shape->first_axis == 1 ? row_spreading<Lanes, Components, 2>::run(walk, work)
                                         : row_spreading<Lanes, Components, 1>::run(walk, work);
    }
    if (by_planes(walk, work, Components)) return plane_spreading<Lanes, Components>::run(walk, work);
    const tile_planes<Lanes, Components> planes(walk, work, walk.shape->width[0]);
    const int limit = most_sums(walk, work);
    points_type points;
    points.memory = planes.batch_memory();
    int x = work.begin[0] + walk.points[work.first].along(0);
    int sums = 0;
    for (std::size_t i = work.first; i < work.last; i += static_cast<std::size_t>(points.count)) {
      const int next = work.begin[0] + walk.points[i].along(0);
      if (next > x) sums = 0;
      for (int done = x; done < next && done < x + planes.planes; ++done) planes.add_to_mesh(done);
      if (next > x) planes.ask_for(walk.mesh, next);
      x = next;
      if (sums > limit) {
        for (int a = 0; a < planes.planes; ++a) planes.add_to_mesh(x + a);
        sums = 0;
      }
      points.take(walk, work, i);
      points.ask_for(walk.values, Components, walk, work);
      sums += points.count;
      points.template compute_weights<false>(walk);
      T* plane[mesh_window<T>::most_width];
      for (int a = 0; a < planes.planes; ++a) plane[a] = planes.plane(x + a);
      for (int part = 0; part < points.vectors; part += points_type::most) add_batch<1>(planes, points, plane, part);
    }
    for (int a = 0; a < planes.planes; ++a) planes.add_to_mesh(x + a);
  }
};

template <typename Lanes, int Components>
struct tile_interpolation {
  using T = typename Lanes::value;
  using vector = typename Lanes::vector;
  using points_type = tile_points<Lanes, Components>;

  QUADRAT_TILE_INLINE static void put(bool accumulate, T* result, const T* sum, T scale) {
    for (int c = 0; c < Components; ++c) result[c] = accumulate ? result[c] + scale * sum[c] : scale * sum[c];
  }

  /// The contribution of `Vectors` vectors of each row, from vector `first` on.
  template <int Vectors>
  QUADRAT_TILE_INLINE static void values(const tile_planes<Lanes, Components>& planes, const points_type& points,
                                         const T* const* plane, int first) {
    for (int p = 0; p < points.count; ++p) {
      vector sum[Vectors];
      QUADRAT_TILE_UNROLL
      for (int m = 0; m < Vectors; ++m) sum[m] = Lanes::zero();
      for (int a = 0; a < planes.planes; ++a) {
        vector part[Vectors];
        QUADRAT_TILE_UNROLL
        for (int m = 0; m < Vectors; ++m) part[m] = Lanes::zero();
        const T* from = plane[a] + points.at[p] + first * Lanes::count;
        for (int b = 0; b < planes.rows; ++b, from += planes.stride) {
          const vector of_row = Lanes::fill(points.weights(p, 1)[b]);
          QUADRAT_TILE_UNROLL
          for (int m = 0; m < Vectors; ++m)
            part[m] = Lanes::fused(Lanes::load(from + m * Lanes::count), of_row, part[m]);
        }
        const vector weight = Lanes::fill(points.weights(p, 0)[a]);
        QUADRAT_TILE_UNROLL
        for (int m = 0; m < Vectors; ++m) sum[m] = Lanes::fused(part[m], weight, sum[m]);
      }
      T total[Components];
      along_row<Vectors>(sum, points.row(p) + first * Lanes::count, total);
      put(planes.walk.accumulate || first > 0, planes.walk.results + std::size_t{points.id[p]} * Components, total,
          T(1));
    }
  }

  /// Weights of zero exclude values outside the footprint, even if they are not finite.
  template <int Vectors>
  QUADRAT_TILE_INLINE static void along_row(const vector* sum, const T* row, T* total) {
    vector all = Lanes::zero();
    QUADRAT_TILE_UNROLL
    for (int m = 0; m < Vectors; ++m)
      all = Lanes::fused_where_not_zero(Lanes::load(row + m * Lanes::count), sum[m], all);
    Lanes::template sum<Components>(all, total);
  }

  /// Sums over axes 0 and 1 of values, and of their derivatives along each of the two.
  template <int Vectors>
  struct gradient_sums {
    vector value[Vectors], x[Vectors], y[Vectors];
  };

  template <int Vectors>
  QUADRAT_TILE_INLINE static void add_plane(const tile_planes<Lanes, Components>& planes, const T* from,
                                            const T* weights, const T* slopes, vector* part, vector* part_y) {
    QUADRAT_TILE_UNROLL
    for (int m = 0; m < Vectors; ++m) part[m] = part_y[m] = Lanes::zero();
    QUADRAT_TILE_UNROLL_ROWS
    for (int b = 0; b < planes.rows; ++b, from += planes.stride) {
      const vector weight = Lanes::fill(weights[b]);
      const vector slope = Lanes::fill(slopes[b]);
      QUADRAT_TILE_UNROLL
      for (int m = 0; m < Vectors; ++m) {
        const vector here = Lanes::load(from + m * Lanes::count);
        part[m] = Lanes::fused(here, weight, part[m]);
        part_y[m] = Lanes::fused(here, slope, part_y[m]);
      }
    }
  }

  template <int Vectors>
  QUADRAT_TILE_INLINE static void gradients(const tile_planes<Lanes, Components>& planes, const points_type& points,
                                            const T* const* plane, int first) {
    for (int p = 0; p < points.count; ++p) {
      gradient_sums<Vectors> sums;
      QUADRAT_TILE_UNROLL
      for (int m = 0; m < Vectors; ++m) sums.value[m] = sums.x[m] = sums.y[m] = Lanes::zero();
      for (int a = 0; a < planes.planes; ++a) {
        vector part[Vectors], part_y[Vectors];
        add_plane<Vectors>(planes, plane[a] + points.at[p] + first * Lanes::count, points.weights(p, 1),
                           points.slopes(p, 1), part, part_y);
        const vector weight = Lanes::fill(points.weights(p, 0)[a]);
        const vector slope = Lanes::fill(points.slopes(p, 0)[a]);
        QUADRAT_TILE_UNROLL
        for (int m = 0; m < Vectors; ++m) {
          sums.value[m] = Lanes::fused(part[m], weight, sums.value[m]);
          sums.x[m] = Lanes::fused(part[m], slope, sums.x[m]);
          sums.y[m] = Lanes::fused(part_y[m], weight, sums.y[m]);
        }
      }
      put_gradient<Vectors>(planes.walk, points, p, first, sums);
    }
  }

  /// The value of point p, if it is wanted, and its derivatives along the axes that exist.
  template <int Vectors>
  QUADRAT_TILE_INLINE static void put_gradient(const tile_walk<T>& walk, const points_type& points, int p, int first,
                                               const gradient_sums<Vectors>& sums) {
    const T* row = points.row(p) + first * Lanes::count;
    const bool add = walk.accumulate || first > 0;
    const std::size_t id{points.id[p]};
    T total[Components];
    if (walk.results != nullptr) {
      along_row<Vectors>(sums.value, row, total);
      put(add, walk.results + id * Components, total, T(1));
    }
    T* to = walk.gradients + (id + 1) * static_cast<std::size_t>((3 - walk.shape->first_axis) * Components);
    along_row<Vectors>(sums.value, points.slope_row(p) + first * Lanes::count, total);
    put(add, to - Components, total, walk.scale[2]);
    if (walk.shape->first_axis > 1) return;
    along_row<Vectors>(sums.y, row, total);
    put(add, to - 2 * Components, total, walk.scale[1]);
    if (walk.shape->first_axis > 0) return;
    along_row<Vectors>(sums.x, row, total);
    put(add, to - 3 * Components, total, walk.scale[0]);
  }

  template <bool Gradient>
  QUADRAT_TILE_TARGET static void run(const tile_walk<T>& walk, const tile_work<T>& work) {
    if constexpr (!Gradient) {
      if (by_rows(walk)) {
        return walk.shape->first_axis == 1 ? row_interpolation<Lanes, Components, 2>::run(walk, work)
                                           : row_interpolation<Lanes, Components, 1>::run(walk, work);
      }
      if (by_planes(walk, work, Components)) return plane_interpolation<Lanes, Components>::run(walk, work);
    }
    const tile_planes<Lanes, Components> planes(walk, work, walk.shape->width[0]);
    points_type points;
    points.memory = planes.batch_memory();
    const auto axes = static_cast<std::size_t>(3 - walk.shape->first_axis);
    int read = work.begin[0];
    for (std::size_t i = work.first; i < work.last; i += static_cast<std::size_t>(points.count)) {
      const int x = work.begin[0] + walk.points[i].along(0);
      if (read < x) read = x;
      if (read < x + planes.planes) {
        for (; read < x + planes.planes; ++read) planes.read_from_mesh(read);
        planes.ask_for(walk.mesh_values, read);
      }
      points.take(walk, work, i);
      if (Gradient) points.ask_for(walk.gradients, axes * Components, walk, work);
      if (!Gradient || walk.results != nullptr) points.ask_for(walk.results, Components, walk, work);
      points.template compute_weights<Gradient>(walk);
      const T* plane[mesh_window<T>::most_width];
      for (int a = 0; a < planes.planes; ++a) plane[a] = planes.plane(x + a);
      for (int part = 0; part < points.vectors; part += points_type::most) {
        interpolate_batch<Gradient, 1>(planes, points, plane, part);
      }
    }
  }

  template <bool Gradient, int Vectors>
  QUADRAT_TILE_INLINE static void interpolate_batch(const tile_planes<Lanes, Components>& planes,
                                                    const points_type& points, const T* const* plane, int first) {
    if constexpr (Vectors < points_type::most) {
      if (points.vectors - first > Vectors) {
        return interpolate_batch<Gradient, Vectors + 1>(planes, points, plane, first);
      }
    }
    if constexpr (Gradient) {
      gradients<Vectors>(planes, points, plane, first);
    } else {
      values<Vectors>(planes, points, plane, first);
    }
  }
};

template <typename Lanes>
[[nodiscard]] tile_functions<typename Lanes::value> make_tile_functions() {
  tile_functions<typename Lanes::value> functions{};
  functions.lanes = Lanes::count;
  functions.find_tiles = tile_placing<Lanes>::find_tiles;
  functions.store = tile_placing<Lanes>::store;
  functions.place = tile_placing<Lanes>::place;
  functions.spread[0] = tile_spreading<Lanes, 1>::run;
  functions.spread[1] = tile_spreading<Lanes, 2>::run;
  functions.interpolate[0] = tile_interpolation<Lanes, 1>::template run<false>;
  functions.interpolate[1] = tile_interpolation<Lanes, 2>::template run<false>;
  functions.interpolate_gradient[0] = tile_interpolation<Lanes, 1>::template run<true>;
  functions.interpolate_gradient[1] = tile_interpolation<Lanes, 2>::template run<true>;
  return functions;
}

}  // namespace

}  // namespace quadrat::detail
