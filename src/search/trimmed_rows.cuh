// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/search/lattice/row_range.hpp"
#include "search/search.hpp"

namespace quadrat::detail {

/// The boxes that the rows of a walk are made for: `folded` serves all.
enum class row_kind { open, periodic, folded };

/// The rows of cells around a point, in an orthorhombic box in which no point has two images within reach. Everything
/// is rounded so that no pair is lost.
template <typename T, int D, row_kind Kind>
class row_walk {
  static constexpr bool periodic_kind = Kind != row_kind::open;
  static constexpr bool folded_kind = Kind == row_kind::folded;

 public:
  __device__ row_walk(const search_system<T, D>& system, const std::uint32_t* offsets, const vec<T, D>& point, T reach)
      : system_(system), offsets_(offsets) {
    squared_reach_ = reach * reach * rounded_up<T>;
    for (int axis = 0; axis < D; ++axis) {
      at_[axis] = system.coordinate(point, axis);
      if constexpr (folded_kind) {
        slack_[axis] = system.slack_at(at_[axis], axis);
        repeat_[axis] = 0;
        if (system.repeats[axis] != 1) at_[axis] = system.folded(at_[axis], axis, repeat_[axis]);
      }
      // Cells at the end of an open axis may hold points from beyond, if the caller allows them: from the end on,
      // distances to them can only have been longer. Along periodic axes only points are outside that are refused.
      at_[axis] = min(max(at_[axis], T(0)), static_cast<T>(system.cells[axis]));
      if (axis == 0) continue;
      const index_range range = within(reach * system.cells_per_length[axis] + slack(axis), axis);
      first_[axis] = range.first;
      last_[axis] = range.last;
      if (wraps(axis)) continue;
      first_[axis] = max(first_[axis], 0);
      last_[axis] = min(last_[axis], system.cells[axis] - 1);
    }
  }

  /// Calls f(range) for each range that is not empty.
  template <typename F>
  __device__ void for_each(F&& f) const {
    for_each_in_layers(first_layer(), last_layer(), f);
  }
  /// The same in layers of cells along the third axis.
  template <typename F>
  __device__ void for_each_in_layers(int first, int last, F&& f) const {
    for (int z = first; z <= last; ++z) {
      const T rest = D == 3 ? squared_reach_ - squared_gap(z, D - 1) : squared_reach_;
      for (int y = first_[1]; y <= last_[1]; ++y) {
        const T left = rest - squared_gap(y, 1);
        if (!(left > T(0))) continue;
        const index_range x = within(root(left) * system_.cells_per_length[0] + slack(0), 0);
        const bool around = first_axis_images() != 0;
        const int last_image = around && x.last >= system_.cells[0] ? 1 : 0;
        for (int image = around && x.first < 0 ? -1 : 0; image <= last_image; ++image) {
          const row_range<D> range = part_of_row(y, z, image, x.first, x.last);
          if (range.first < range.last) f(range);
        }
      }
    }
  }
  [[nodiscard]] __device__ int first_layer() const { return D == 3 ? first_[D - 1] : 0; }
  [[nodiscard]] __device__ int last_layer() const { return D == 3 ? last_[D - 1] : 0; }

  /// Random access: ranges 0 to count() - 1, some of them empty.
  [[nodiscard]] __device__ std::uint32_t count() const {
    const int rows = max(last_[1] - first_[1] + 1, 0);
    const int layers = D == 3 ? max(last_[D - 1] - first_[D - 1] + 1, 0) : 1;
    return static_cast<std::uint32_t>((2 * first_axis_images() + 1) * rows * layers);
  }
  [[nodiscard]] __device__ row_range<D> range(std::uint32_t which) const {
    auto number = static_cast<int>(which);
    const int images = first_axis_images();
    const int image = number % (2 * images + 1) - images;
    number /= 2 * images + 1;
    const int rows = last_[1] - first_[1] + 1;
    const int y = first_[1] + number % rows;
    const int z = D == 3 ? first_[D - 1] + number / rows : 0;
    const T rest = D == 3 ? squared_reach_ - squared_gap(z, D - 1) : squared_reach_;
    const T left = rest - squared_gap(y, 1);
    if (!(left > T(0))) return {0, 0, {}};
    const index_range x = within(root(left) * system_.cells_per_length[0] + slack(0), 0);
    return part_of_row(y, z, image, x.first, x.last);
  }

 private:
  struct nothing {};
  struct index_range {
    int first;
    int last;
  };

  /// Whether the stored cells repeat along an axis, as images of the box or where it is folded.
  [[nodiscard]] __device__ bool wraps(int axis) const {
    if constexpr (folded_kind) return system_.shape.periodic[axis] || system_.repeats[axis] != 1;
    return periodic_kind && system_.shape.periodic[axis];
  }
  [[nodiscard]] __device__ int first_axis_images() const { return wraps(0) ? 1 : 0; }

  [[nodiscard]] __device__ T slack(int axis) const {
    if constexpr (folded_kind) return slack_[axis];
    return system_.slack[axis];
  }

  /// The image of the box of cells that are `length` times the length of the stored cells away from the point's.
  [[nodiscard]] __device__ int image_of(int length, int axis) const {
    if constexpr (folded_kind) return system_.image_of_repeat(repeat_[axis] + length, axis);
    return length;
  }

  /// Unwrapped indices of the cells within a margin.
  [[nodiscard]] __device__ index_range within(T margin, int axis) const {
    if constexpr (folded_kind) {
      if (system_.repeats[axis] == 0) {
        return {system_.first_of_stored(at_[axis], margin, axis), system_.last_of_stored(at_[axis], margin, axis)};
      }
    }
    return {floor_to_int(at_[axis] - margin), floor_to_int(at_[axis] + margin)};
  }

  /// A lower bound on the squared distance along an axis from the point to a layer of cells.
  [[nodiscard]] __device__ T squared_gap(int index, int axis) const {
    const T below = static_cast<T>(index) - at_[axis];
    T cells = max(below, T(-1) - below);
    if constexpr (folded_kind) {
      // Where all stored cells are in the range, another repeat of the layer may be nearer.
      const T n = static_cast<T>(system_.cells[axis]);
      if (system_.repeats[axis] == 0) cells = min(cells, n - T(1) - max(cells, T(0)));
    }
    const T gap = max(cells - slack(axis), T(0)) * system_.edge[axis];
    return gap * gap;
  }

  [[nodiscard]] __device__ row_range<D> part_of_row(int y, int z, int image, int first, int last) const {
    row_range<D> range{0, 0, {}};
    const int n = system_.cells[0];
    first = max(first - image * n, 0);
    last = min(last - image * n, n - 1);
    if (first > last) return range;
    range.shift[0] = image_of(image, 0);
    cell_id begin = home(z, D - 1, range.shift);
    if constexpr (D == 3) begin = begin * static_cast<cell_id>(system_.cells[1]) + home(y, 1, range.shift);
    if constexpr (D == 2) begin = home(y, 1, range.shift);
    begin = system_.first_cell + begin * static_cast<cell_id>(n);
    range.first = offsets_[begin + static_cast<cell_id>(first)];
    range.last = offsets_[begin + static_cast<cell_id>(last) + 1];
    return range;
  }

  [[nodiscard]] __device__ cell_id home(int index, int axis, vec<int, D>& shift) const {
    if (wraps(axis)) {
      const int image = index < 0 ? -1 : (index >= system_.cells[axis] ? 1 : 0);
      index -= image * system_.cells[axis];
      shift[axis] = image_of(image, axis);
    }
    return static_cast<cell_id>(index);
  }

  const search_system<T, D>& system_;
  const std::uint32_t* offsets_;
  T squared_reach_;
  vec<T, D> at_;
  vec<int, D> first_;
  vec<int, D> last_;
  std::conditional_t<folded_kind, vec<T, D>, nothing> slack_;     // at the point
  std::conditional_t<folded_kind, vec<int, D>, nothing> repeat_;  // that the point lies in
};

}  // namespace quadrat::detail
