// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "quadrat/cells/keys.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/lattice/system.hpp"
#include "search/rounding.hpp"

namespace quadrat::detail {

/// The range of cells that a search visits, unwrapped along periodic axes.
template <int D>
struct cluster_reach {
  cell_range<D> range;
  /// Rounding is so large that all cells are within reach; indices are then those of images.
  bool by_images;
};

/// Cells of about the cutoff, and the buckets that store their points. Coordinates are fractions of the box in
/// units of cells, in double precision, which is exact enough for float positions at any distance.
///
/// If there are few cells, each has its bucket. If there would be many more cells than points, they share buckets by
/// hashing, so that points along a line or anywhere else spread over all of them. Blocks of `block` cells along the
/// first axis stay together, so that rows of cells remain rows of buckets. There is a table of buckets for each parity
/// of the block and each remainder by 4 of the other indices: cells that a search meets, at most 4 along each axis of
/// an image, never share a bucket.
template <typename T, int D>
struct cluster_cells {
  static constexpr std::uint32_t block = 32;
  static constexpr std::uint32_t tables = D == 2 ? 8 : 32;
  /// Along an endless axis, all points beyond this many cells from the box have the same coordinate.
  static constexpr double far = 0x1p44;
  /// Indices along an endless axis repeat after this many cells.
  static constexpr double period = 0x1p30;

  lattice<T, D> shape;
  vec<double, D> rate;      ///< cells per fraction; per length if the lattice is orthorhombic
  vec<double, D> margin;    ///< in cells: how far linked points are at most from a point in the box, rounding included
  vec<double, D> rounding;  ///< in cells per cell: of the coordinates of a point and of separations
  vec<double, D> allowed;   ///< in cells: the rounding that `margin` includes
  vec<int, D> cells;        ///< in the box
  vec<bool, D> endless;     ///< open axes along which points may be anywhere
  std::uint32_t first_bucket;  ///< of several systems each has its own buckets
  std::uint32_t buckets;
  std::uint32_t table;  ///< blocks begin at one of this many buckets of a table; 0: each cell has its bucket

  [[nodiscard]] QUADRAT_HD vec<double, D> coordinates(const vec<T, D>& wrapped) const {
    const vec<double, D> offset = cast<double>(wrapped) - cast<double>(shape.origin);
    vec<double, D> at{};
    for (int axis = 0; axis < D; ++axis) {
      const double along = shape.orthorhombic ? offset[axis] : dot(cast<double>(shape.inverse[axis]), offset);
      at[axis] = along * rate[axis];
      if (!(at[axis] < far)) at[axis] = far;
      if (!(at[axis] > -far)) at[axis] = -far;
    }
    return at;
  }
  /// The largest term in the sum that gives a coordinate, in cells. It bounds the rounding.
  [[nodiscard]] QUADRAT_HD double size_of(const vec<T, D>& wrapped, int axis) const {
    double sum = 0;
    for (int k = 0; k < D; ++k) {
      const double offset = static_cast<double>(wrapped[k]) - static_cast<double>(shape.origin[k]);
      const double share = shape.orthorhombic ? (k == axis ? 1.0 : 0.0) : static_cast<double>(shape.inverse[axis][k]);
      sum += std::fabs(share * offset);
    }
    return sum * rate[axis];
  }
  /// Whether the coordinates of a point are exact to 1/1024 of a cell.
  [[nodiscard]] QUADRAT_HD bool is_exact(const vec<T, D>& wrapped) const {
    bool exact = true;
    for (int axis = 0; axis < D; ++axis) exact = exact && size_of(wrapped, axis) < far / 64;
    return exact;
  }

  /// The index of the cell along an axis. A point outside, by rounding, is in the nearest cell.
  [[nodiscard]] QUADRAT_HD int index_of(double at, int axis) const {
    if (endless[axis]) return floor_of(at - period_of(at));
    return clamped(at, axis);
  }
  /// The place in the cell along an axis: from 0 to 1, within rounding.
  [[nodiscard]] QUADRAT_HD double place_of(double at, int axis) const {
    return at - (endless[axis] ? std::floor(at) : index_of(at, axis));
  }
  /// `Several`: the cells may be those of one of several systems, in its own buckets or in a single one.
  template <bool Several = false>
  [[nodiscard]] QUADRAT_HD std::uint32_t bucket_at(const vec<double, D>& at) const {
    if (Several && buckets == 1) return first_bucket;
    vec<int, D> cell{};
    for (int axis = 0; axis < D; ++axis) cell[axis] = index_of(at[axis], axis);
    return (Several ? first_bucket : 0) + bucket_of(cell);
  }

  /// Calls f(first bucket, last bucket, S) for the cells that can hold an image of a point linked to a wrapped point;
  /// S is the image. Allows for rounding. Inlined at every level: left to choose, GCC passes f's variables through
  /// memory, and finding links takes a fifth more instructions.
  template <bool Several = false, typename F>
  [[gnu::always_inline]] QUADRAT_HD void for_each_run(const vec<T, D>& point, F&& f) const {
    const cluster_reach<D> around = reach(point, Several && buckets == 1);
    const std::uint32_t before = Several ? first_bucket : 0;
    vec<int, D> shift{}, cell{};
    // The first index of the image that contains an index.
    const auto home = [&](int index, int axis) {
      if (!shape.periodic[axis]) return 0;
      const int length = around.by_images ? 1 : cells[axis];
      shift[axis] = floor_division(index, length);
      return shift[axis] * length;
    };
    const auto row = [&] {
      for (int x = around.range.first[0]; x <= around.range.last[0];) {
        const int begin = home(x, 0);
        cell[0] = x - begin;
        const int stretch = around.by_images ? 1 : together(cell[0]);
        const int last = around.range.last[0] < x + stretch ? around.range.last[0] : x + stretch - 1;
        const std::uint32_t first = around.by_images ? 0 : bucket_of(cell);
        const std::uint32_t end = around.by_images ? buckets - 1 : first + static_cast<std::uint32_t>(last - x);
        f(before + first, before + end, shift);
        x = last + 1;
      }
    };
    const auto along = [&](int axis, auto&& body) {
      for (int index = around.range.first[axis]; index <= around.range.last[axis]; ++index) {
        cell[axis] = index - home(index, axis);
        body();
      }
    };
    if constexpr (D == 2) {
      along(1, row);
    } else {
      along(2, [&] { along(1, row); });
    }
  }

 private:
  [[nodiscard]] QUADRAT_HD static int floor_of(double at) { return static_cast<int>(std::floor(at)); }
  /// Exact.
  [[nodiscard]] QUADRAT_HD static double period_of(double at) { return std::floor(at / period) * period; }
  [[nodiscard]] QUADRAT_HD int clamped(double at, int axis) const {
    return !(at > 0) ? 0 : (at < cells[axis] ? floor_of(at) : cells[axis] - 1);
  }

  [[nodiscard]] QUADRAT_HD cluster_reach<D> reach(const vec<T, D>& point, bool by_images) const {
    cluster_reach<D> around{};
    around.by_images = by_images;
    vec<double, D> at = coordinates(point), distance = margin;
    for (int axis = 0; axis < D && !shape.orthorhombic; ++axis) {
      const double more = rounding[axis] * (size_of(point, axis) + cells[axis]) - allowed[axis];
      if (more > 0) distance[axis] += more;
      around.by_images = around.by_images || !(more <= 0.2);
    }
    for (int axis = 0; axis < D; ++axis) {
      if (endless[axis]) at[axis] -= period_of(at[axis]);
      const double first = at[axis] - distance[axis], last = at[axis] + distance[axis];
      if (around.by_images) {
        // Positions more boxes away consist of rounding error only.
        constexpr double most = 1000;
        if (!shape.periodic[axis]) continue;
        around.range.first[axis] = floor_of(std::fmax(first / cells[axis], -most));
        around.range.last[axis] = floor_of(std::fmin(last / cells[axis], most));
      } else if (shape.periodic[axis] || endless[axis]) {
        around.range.first[axis] = floor_of(first);
        around.range.last[axis] = floor_of(last);
      } else {
        around.range.first[axis] = clamped(first, axis);
        around.range.last[axis] = clamped(last, axis);
      }
    }
    return around;
  }

  /// The number of cells, from this one on along the first axis, that are in one image and in successive buckets.
  [[nodiscard]] QUADRAT_HD int together(int x) const {
    constexpr int most = 1 << 30;
    const int of_image = shape.periodic[0] ? cells[0] - x : most;
    const int of_block = table > 0 ? static_cast<int>(block - static_cast<std::uint32_t>(x) % block) : most;
    return of_image < of_block ? of_image : of_block;
  }

  [[nodiscard]] QUADRAT_HD std::uint32_t bucket_of(const vec<int, D>& cell) const {
    if (table == 0) {
      int number = 0;
      for (int axis = D - 1; axis >= 0; --axis) number = number * cells[axis] + cell[axis];
      return static_cast<std::uint32_t>(number);
    }
    constexpr std::uint32_t indices = 1u << 30;
    constexpr std::uint64_t factors[] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u};
    const std::uint32_t along = static_cast<std::uint32_t>(cell[0]) % indices;
    std::uint32_t number = along / block % 2;
    std::uint64_t key = along / block * factors[0];
    for (int axis = 1; axis < D; ++axis) {
      const std::uint32_t index = static_cast<std::uint32_t>(cell[axis]) % indices;
      number = number * 4 + index % 4;
      key += index * factors[axis];
    }
    const std::uint64_t place = (hashed_keys::hash(key) >> 32) * table >> 32;
    return number * (table + block) + static_cast<std::uint32_t>(place) + along % block;
  }
};

/// Host: puts all points of a system into one bucket, which is searched by images.
template <typename T, int D>
void put_into_one_bucket(cluster_cells<T, D>& cells) {
  cells.buckets = 1;
  cells.table = 0;
}

/// Host: a bound on the sum of the absolute terms of a fraction, for points in the box.
template <typename T, int D>
[[nodiscard]] double size_in_box(const lattice<T, D>& shape, int axis) {
  if (shape.orthorhombic) return 1;
  double size = 0;
  for (int k = 0; k < D; ++k) {
    for (int m = 0; m < D; ++m) size += std::fabs(static_cast<double>(shape.inverse[axis][k] * shape.vectors[m][k]));
  }
  return size;
}

/// Host: cells for a number of points. Throws argument_error for a box that loses positions to rounding.
template <typename T, int D>
[[nodiscard]] cluster_cells<T, D> make_cluster_cells(const lattice<T, D>& shape, T cutoff, bool accept_outside,
                                                     std::size_t count) {
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  using made = cluster_cells<T, D>;
  made result{};
  result.shape = shape;
  const vec<double, D> bound = rounding_in_box(shape, cutoff, 0);
  bool any_periodic = false;
  for (int axis = 0; axis < D; ++axis) any_periodic = any_periodic || shape.periodic[axis];
  double total = 1;
  for (int axis = 0; axis < D; ++axis) {
    result.endless[axis] = accept_outside && !shape.periodic[axis];
    // Differences of positions are exact enough; the translation to an image rounds.
    const bool translates = shape.orthorhombic ? shape.periodic[axis] : any_periodic;
    result.rounding[axis] = (translates ? bound[axis] : 0) + 0x1p-50;
    const double allowed = result.rounding[axis] * (size_in_box(shape, axis) + 1);
    const double height = static_cast<double>(shape.height(axis));
    const double reach = static_cast<double>(cutoff) / height * (1 + 16 * epsilon) + allowed;
    // Coordinates in the box are rounded by far less than `spare`, those of points anywhere by half of it.
    const double spare = result.endless[axis] ? 0x1p-5 : 0x1p-10;
    double number = (1 - spare / 2) / reach;
    // In small boxes, choose cells a little too short over cells much too long: two parts along an axis then suffice.
    if (!result.endless[axis]) {
      number = std::clamp(std::floor(std::fmin(1.25, 1 + 0.9 * reach) / reach), 1.0, made::period);
    }
    result.rate[axis] = shape.orthorhombic ? number / static_cast<double>(shape.vectors[axis][axis]) : number;
    result.margin[axis] = reach * number + spare / 2;
    result.allowed[axis] = allowed * number;
    result.cells[axis] = static_cast<int>(std::clamp(number, 1.0, made::period));
    total = result.endless[axis] ? std::numeric_limits<double>::infinity() : total * number;
  }
  const double most = std::fmin(64 + 4 * static_cast<double>(count), 0x1p31);
  const bool hashed = !(total <= most);
  if (hashed) result.table = static_cast<std::uint32_t>(most / made::tables) + made::block;
  result.buckets = hashed ? made::tables * (result.table + made::block) : static_cast<std::uint32_t>(total);
  return result;
}

}  // namespace quadrat::detail
