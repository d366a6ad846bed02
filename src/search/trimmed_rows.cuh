// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/search/lattice/row_range.hpp"
#include "search/search.hpp"

namespace quadrat::detail {

/// The boxes that the rows of a walk are made for: `folded` serves all.
enum class row_kind { open, periodic, folded };

/// The rows of cells around a point, in an orthorhombic box in which no point has two images within reach. Rounding
/// never loses a pair.
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
      if constexpr (folded_kind) slack_[axis] = system.slack_at(at_[axis], axis);
      const T margin = reach * system.cells_per_length[axis] + slack(axis);
      if constexpr (folded_kind) {
        if (is_endless(axis)) range_.home += system.strides[axis] * system.take_index(at_[axis]);
        range_.all = range_.all || margin > system.distinct[axis];
      }
      // The outermost cells of an open axis may hold points from beyond it. Clamping a position to the end only
      // shortens its distance to them. Along periodic axes only invalid points are outside.
      if (!is_endless(axis)) at_[axis] = min(max(at_[axis], T(0)), static_cast<T>(system.cells[axis]));
      if (!folded_kind && axis == 0) continue;
      const index_range range = within(margin, axis);
      range_.first[axis] = range.first;
      range_.last[axis] = range.last;
      if (wraps(axis) || is_endless(axis)) continue;
      range_.first[axis] = max(range_.first[axis], 0);
      range_.last[axis] = min(range_.last[axis], system.cells[axis] - 1);
    }
    if constexpr (folded_kind) {
      if (range_.all) system.take_all(range_);
      turns_ = system.turns(range_) ? 2 : 1;
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
    for (int z = first; z <= last; z += step(D - 1)) {
      const T rest = D == 3 ? squared_reach_ - squared_gap(z, D - 1) : squared_reach_;
      for (int y = range_.first[1]; y <= range_.last[1]; y += step(1)) {
        const T left = rest - squared_gap(y, 1);
        if (!(left > T(0))) continue;
        const index_range x = row_within(left);
        const bool around = first_axis_images() != 0;
        const int last_image = around && x.last >= system_.cells[0] ? 1 : 0;
        for (int image = around && x.first < 0 ? -1 : 0; image <= last_image; ++image) {
          for (int turn = 0; turn < turns(); ++turn) {
            const row_range<D> range = part_of_row(y, z, image, turn, x.first, x.last);
            if (range.first < range.last) f(range);
          }
        }
      }
    }
  }
  [[nodiscard]] __device__ int first_layer() const { return D == 3 ? range_.first[D - 1] : 0; }
  [[nodiscard]] __device__ int last_layer() const { return D == 3 ? range_.last[D - 1] : 0; }

  /// Random access: ranges 0 to count() - 1, some of them empty.
  [[nodiscard]] __device__ std::uint32_t count() const {
    const int layers = D == 3 ? rows(D - 1) : 1;
    return static_cast<std::uint32_t>((2 * first_axis_images() + 1) * turns() * rows(1) * layers);
  }
  [[nodiscard]] __device__ row_range<D> range(std::uint32_t which) const {
    auto number = static_cast<int>(which);
    const int turn = number % turns();
    number /= turns();
    const int images = first_axis_images();
    const int image = number % (2 * images + 1) - images;
    number /= 2 * images + 1;
    const int y = range_.first[1] + number % rows(1) * step(1);
    const int z = D == 3 ? range_.first[D - 1] + number / rows(1) * step(D - 1) : 0;
    const T rest = D == 3 ? squared_reach_ - squared_gap(z, D - 1) : squared_reach_;
    const T left = rest - squared_gap(y, 1);
    if (!(left > T(0))) return {0, 0, {}};
    const index_range x = row_within(left);
    return part_of_row(y, z, image, turn, x.first, x.last);
  }

 private:
  struct nothing {};
  struct index_range {
    int first;
    int last;
  };

  /// Whether images of the box follow along an axis.
  [[nodiscard]] __device__ bool wraps(int axis) const { return periodic_kind && system_.shape.periodic[axis]; }
  [[nodiscard]] __device__ bool is_endless(int axis) const { return folded_kind && system_.cells[axis] == 0; }
  [[nodiscard]] __device__ bool takes_all() const { return folded_kind && range_.all; }
  [[nodiscard]] __device__ int turns() const { return folded_kind ? turns_ : 1; }
  [[nodiscard]] __device__ int step(int axis) const { return folded_kind ? system_.step(range_.all, axis) : 1; }
  [[nodiscard]] __device__ int rows(int axis) const {
    const int length = range_.last[axis] - range_.first[axis];
    return length < 0 ? 0 : length / step(axis) + 1;
  }
  [[nodiscard]] __device__ int first_axis_images() const { return wraps(0) ? 1 : 0; }

  [[nodiscard]] __device__ T slack(int axis) const {
    if constexpr (folded_kind) return slack_[axis];
    return system_.slack[axis];
  }

  /// Unwrapped indices of the cells within a margin.
  [[nodiscard]] __device__ index_range within(T margin, int axis) const {
    return {floor_to_int(at_[axis] - margin), floor_to_int(at_[axis] + margin)};
  }
  [[nodiscard]] __device__ index_range row_within(T squared) const {
    if (takes_all()) return {range_.first[0], range_.last[0]};
    return within(root(squared) * system_.cells_per_length[0] + slack(0), 0);
  }

  /// A lower bound on the squared distance along an axis from the point to a layer of cells.
  [[nodiscard]] __device__ T squared_gap(int index, int axis) const {
    if (takes_all()) return T(0);
    const T below = static_cast<T>(index) - at_[axis];
    const T gap = max(max(below, T(-1) - below) - slack(axis), T(0)) * system_.edge[axis];
    return gap * gap;
  }

  [[nodiscard]] __device__ row_range<D> part_of_row(int y, int z, int image, int turn, int first, int last) const {
    row_range<D> range{0, 0, {}};
    if (!is_endless(0)) {
      const int n = system_.cells[0];
      if (takes_all() && first - image * n > 0) return range;
      first = max(first - image * n, 0);
      last = takes_all() ? last - image * n : min(last - image * n, n - 1);
    }
    if (first > last) return range;
    range.shift[0] = image;
    cell_id begin = number(y, 1, range.shift) + static_cast<cell_id>(first);
    if constexpr (D == 3) begin += number(z, D - 1, range.shift);
    cell_id end = static_cast<cell_id>(last - first);
    if constexpr (folded_kind) {
      begin = (range_.home + begin) & system_.mask;
      end = takes_all() ? system_.count : begin + end + 1;
      if (takes_all()) begin = 0;
      if (turn == 1 && end <= system_.count) return range;
      if (turn == 1) begin = 0, end -= system_.count;
      end = min(end, system_.count);
    } else {
      end += begin + 1;
    }
    range.first = offsets_[system_.first_cell + begin];
    range.last = offsets_[system_.first_cell + end];
    return range;
  }

  /// The contribution of an index to the number of a cell; sets the image.
  [[nodiscard]] __device__ cell_id number(int index, int axis, vec<int, D>& shift) const {
    if (wraps(axis)) {
      shift[axis] = index < 0 ? -1 : (index >= system_.cells[axis] ? 1 : 0);
      index -= shift[axis] * system_.cells[axis];
    }
    return static_cast<cell_id>(index) * system_.strides[axis];
  }

  const search_system<T, D>& system_;
  const std::uint32_t* offsets_;
  T squared_reach_;
  vec<T, D> at_;
  stored_range<D> range_{};
  int turns_ = 1;  // parts of a row in an image: it may wrap to the first stored cells
  std::conditional_t<folded_kind, vec<T, D>, nothing> slack_;  // at the point
};

}  // namespace quadrat::detail
