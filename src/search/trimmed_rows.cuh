// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "search/search.hpp"

namespace quadrat::detail {

[[nodiscard]] __device__ inline int floor_to_int(float x) { return __float2int_rd(x); }
[[nodiscard]] __device__ inline int floor_to_int(double x) { return __double2int_rd(x); }
/// Approximate: callers round up.
[[nodiscard]] __device__ inline float root(float x) { return x * rsqrtf(x); }
[[nodiscard]] __device__ inline double root(double x) { return sqrt(x); }

/// The slots of a row of cells within the sphere around a point, and their image.
template <int D>
struct row_range {
  std::uint32_t first;
  std::uint32_t last;  ///< one past the last slot
  vec<int, D> shift;
};

/// The rows of cells around a point, for an orthorhombic box in which no point has two images within reach. Rounded so
/// that no pair is lost.
template <typename T, int D, bool Periodic>
class row_walk {
 public:
  __device__ row_walk(const search_system<T, D>& system, const std::uint32_t* offsets, const vec<T, D>& point, T reach)
      : system_(system), offsets_(offsets) {
    constexpr T up = sizeof(T) == 4 ? T(1 + 4e-6) : T(1 + 8e-15);
    squared_reach_ = reach * reach * up;
    for (int axis = 0; axis < D; ++axis) {
      at_[axis] = system.coordinate(point, axis);
      // Cells at the end of an open axis may hold points from beyond, if the caller allows them. A point outside is
      // measured from the end, which never increases a gap.
      if (!Periodic || !system.shape.periodic[axis]) {
        at_[axis] = min(max(at_[axis], T(0)), static_cast<T>(system.cells[axis]));
      }
      if (axis == 0) continue;
      const T margin = reach * system.cells_per_length[axis] + system.slack[axis];
      first_[axis] = floor_to_int(at_[axis] - margin);
      last_[axis] = floor_to_int(at_[axis] + margin);
      if (Periodic && system.shape.periodic[axis]) continue;
      first_[axis] = max(first_[axis], 0);
      last_[axis] = min(last_[axis], system.cells[axis] - 1);
    }
  }

  /// Calls f(range) for each range that is not empty.
  template <typename F>
  __device__ void for_each(F&& f) const {
    for (int z = D == 3 ? first_[D - 1] : 0; z <= (D == 3 ? last_[D - 1] : 0); ++z) {
      const T rest = D == 3 ? squared_reach_ - squared_gap(z, D - 1) : squared_reach_;
      for (int y = first_[1]; y <= last_[1]; ++y) {
        const T left = rest - squared_gap(y, 1);
        if (!(left > T(0))) continue;
        const T margin = root(left) * system_.cells_per_length[0] + system_.slack[0];
        const int first = floor_to_int(at_[0] - margin);
        const int last = floor_to_int(at_[0] + margin);
        const bool wraps = first_axis_images() != 0;
        for (int image = wraps && first < 0 ? -1 : 0; image <= (wraps && last >= system_.cells[0] ? 1 : 0); ++image) {
          const row_range<D> range = part_of_row(y, z, image, first, last);
          if (range.first < range.last) f(range);
        }
      }
    }
  }

  /// Random access: ranges 0 to count() - 1, some of them empty.
  [[nodiscard]] __device__ int count() const {
    const int rows = max(last_[1] - first_[1] + 1, 0);
    return (2 * first_axis_images() + 1) * (D == 3 ? rows * max(last_[D - 1] - first_[D - 1] + 1, 0) : rows);
  }
  [[nodiscard]] __device__ row_range<D> range(int number) const {
    const int images = first_axis_images();
    const int image = number % (2 * images + 1) - images;
    number /= 2 * images + 1;
    const int rows = last_[1] - first_[1] + 1;
    const int y = first_[1] + number % rows;
    const int z = D == 3 ? first_[D - 1] + number / rows : 0;
    const T rest = D == 3 ? squared_reach_ - squared_gap(z, D - 1) : squared_reach_;
    const T left = rest - squared_gap(y, 1);
    if (!(left > T(0))) return {0, 0, {}};
    const T margin = root(left) * system_.cells_per_length[0] + system_.slack[0];
    return part_of_row(y, z, image, floor_to_int(at_[0] - margin), floor_to_int(at_[0] + margin));
  }

 private:
  [[nodiscard]] __device__ int first_axis_images() const { return Periodic && system_.shape.periodic[0] ? 1 : 0; }

  /// A lower bound on the squared distance along an axis from the point to a layer of cells.
  [[nodiscard]] __device__ T squared_gap(int index, int axis) const {
    const T below = static_cast<T>(index) - at_[axis];
    const T gap = max(max(below, T(-1) - below) - system_.slack[axis], T(0)) * system_.edge[axis];
    return gap * gap;
  }

  [[nodiscard]] __device__ row_range<D> part_of_row(int y, int z, int image, int first, int last) const {
    row_range<D> range{0, 0, {}};
    const int n = system_.cells[0];
    first = max(first - image * n, 0);
    last = min(last - image * n, n - 1);
    if (first > last) return range;
    range.shift[0] = image;
    cell_id begin = home(z, D - 1, range.shift);
    if constexpr (D == 3) begin = begin * static_cast<cell_id>(system_.cells[1]) + home(y, 1, range.shift);
    if constexpr (D == 2) begin = home(y, 1, range.shift);
    begin = system_.first_cell + begin * static_cast<cell_id>(n);
    range.first = offsets_[begin + static_cast<cell_id>(first)];
    range.last = offsets_[begin + static_cast<cell_id>(last) + 1];
    return range;
  }

  [[nodiscard]] __device__ cell_id home(int index, int axis, vec<int, D>& shift) const {
    if (Periodic && system_.shape.periodic[axis]) {
      shift[axis] = index < 0 ? -1 : (index >= system_.cells[axis] ? 1 : 0);
      index -= shift[axis] * system_.cells[axis];
    }
    return static_cast<cell_id>(index);
  }

  const search_system<T, D>& system_;
  const std::uint32_t* offsets_;
  T squared_reach_;
  vec<T, D> at_;
  vec<int, D> first_;
  vec<int, D> last_;
};

}  // namespace quadrat::detail
