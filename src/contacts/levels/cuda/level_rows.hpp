// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "contacts/levels/cuda/warp_search.hpp"
#include "quadrat/core/cell_index.hpp"
#include "quadrat/core/macros.hpp"

namespace quadrat::detail {

/// An upper bound on the square root.
template <typename T>
[[nodiscard]] QUADRAT_HD T root_above(T x) {
  if constexpr (sizeof(T) == 4) {
#if defined(__CUDA_ARCH__)
    return x * rsqrtf(x) * 1.000001f;
#else
    return std::sqrt(x) * 1.000001f;
#endif
  } else {
    return std::sqrt(x) * (1 + 1e-15);
  }
}
template <typename T>
[[nodiscard]] QUADRAT_HD T lesser(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
[[nodiscard]] QUADRAT_HD T greater(T a, T b) {
  return a < b ? b : a;
}

/// The rows of cells of one level within a sphere, one after another. Rounded so that no body whose center lies in the
/// sphere is missed; bodies outside along open axes are in the cells at the ends.
template <typename T, bool Repeats>
class level_rows {
 public:
  /// `first` above 0 is for pairs within the level. Only slots from there on count, so that each pair is found from one
  /// body. Rows before the body's row are then skipped, unless a wrapped axis has so few cells that "before" is
  /// ambiguous, or `far` is set: some body is so far along an endless axis that rounding spans cells.
  QUADRAT_HD level_rows(const warp_level<T>& shape, const vec<T, 3>& center, T reach, std::uint32_t first, bool far)
      : first_slot_(first), ordered_(!Repeats || (shape.ordered && !far)) {
    constexpr T up = sizeof(T) == 4 ? T(1 + 4e-6) : T(1 + 8e-15);
    squared_reach_ = reach * reach * up;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int axis = 0; axis < 3; ++axis) {
      at_[axis] = shape.cells.coordinate(center, axis);
      if (!around(shape, axis)) at_[axis] = lesser(greater(at_[axis], T(0)), static_cast<T>(shape.cells.cells[axis]));
    }
    if (Repeats && !(shape.cells.repeats == vec<int, 3>::filled(1))) fold(shape);
    limit(shape, reach, 1, first_y_, last_y_);
    limit(shape, reach, 2, z_, last_z_);
    y_ = first_y_;
    if (first > 0 && ordered_) {
      y_ = own_index(shape, at_[1], 1);
      z_ = own_index(shape, at_[2], 2);
    }
  }

  [[nodiscard]] QUADRAT_HD bool done() const { return z_ > last_z_; }

  /// The slots of the next row; none if the sphere misses it. Must not be called when done.
  QUADRAT_HD void next(const warp_level<T>& shape, const std::uint32_t* offsets, std::uint32_t& begin,
                       std::uint32_t& end) {
    begin = end = 0;
    const T left = squared_reach_ - squared_gap(shape, z_, 2) - squared_gap(shape, y_, 1);
    if (left > T(0)) {
      const T margin = margin_of(shape, root_above(left), 0);
      part_of_row(shape, offsets, floor_to_int(at_[0] - margin), floor_to_int(at_[0] + margin), begin, end);
      begin = greater(begin, first_slot_);
      if (Repeats && (flags_ & second_part) != 0) return;
    }
    if (ordered_) first_slot_ = 0;
    if (++y_ <= last_y_) return;
    y_ = first_y_;
    ++z_;
  }

 private:
  static constexpr int first_bit = 1, last_bit = 8, whole_rows = 64, second_part = 128;  // see flags_

  [[nodiscard]] QUADRAT_HD static bool around(const warp_level<T>& shape, int axis) {
    return Repeats && shape.around[axis];
  }
  /// Moves coordinates into the stored cells, as ring_cells::cell_of does.
  QUADRAT_HD void fold(const warp_level<T>& shape) {
    const ring_cells<T>& cells = shape.cells;
    vec<int, 3> repeat{};
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int axis = 0; axis < 3; ++axis) {
      if (cells.repeats[axis] == 1) continue;
      far_slack_ = greater(far_slack_, cells.slack_at(at_[axis], axis) - cells.slack[axis]);
      at_[axis] = cells.folded(at_[axis], axis, repeat[axis]);
      flags_ |= (repeat[axis] == 0 ? first_bit : 0) << axis;
      flags_ |= (repeat[axis] + 1 == cells.repeats[axis] ? last_bit : 0) << axis;
    }
    if (!shape.rings) return;
    const int index = clamped_index(floor_to_int(at_[0]), cells.cells[0]);
    at_[0] = static_cast<T>(cells.on_ring(index + cells.row_start(repeat))) + (at_[0] - static_cast<T>(index));
  }
  [[nodiscard]] QUADRAT_HD T slack(const warp_level<T>& shape, int axis) const {
    return Repeats ? shape.cells.slack[axis] + far_slack_ : shape.cells.slack[axis];
  }

  /// A distance in cells; if cells repeat, limited to all cells plus one, so that numbers of cells fit an int.
  [[nodiscard]] QUADRAT_HD T margin_of(const warp_level<T>& shape, T distance, int axis) const {
    const T margin = distance * shape.cells.cells_per_length[axis] + slack(shape, axis);
    return Repeats ? lesser(margin, static_cast<T>(shape.cells.cells[axis]) + T(1)) : margin;
  }

  /// The index of the body's cell along y or z, as in ring_cells::cell_of.
  [[nodiscard]] QUADRAT_HD static int own_index(const warp_level<T>& shape, T at, int axis) {
    return clamped_index(floor_to_int(at), shape.cells.cells[axis]);
  }

  /// Unwrapped cells along an axis; if they span the whole axis, each cell once.
  QUADRAT_HD void limit(const warp_level<T>& shape, T reach, int axis, int& from, int& to) {
    const T margin = margin_of(shape, reach, axis);
    const int first = floor_to_int(at_[axis] - margin);
    const int last = floor_to_int(at_[axis] + margin);
    const int n = shape.cells.cells[axis];
    const bool all = Repeats && last - first >= n - 1;
    if (all && shape.cells.repeats[axis] != 1) flags_ |= whole_rows;
    from = around(shape, axis) ? (all ? 0 : first) : greater(first, 0);
    to = around(shape, axis) ? (all ? n - 1 : last) : lesser(last, n - 1);
  }

  /// A lower bound on the squared distance along an axis from the center to a layer of cells.
  [[nodiscard]] QUADRAT_HD T squared_gap(const warp_level<T>& shape, int index, int axis) const {
    const T below = static_cast<T>(index) - at_[axis];
    T gap = greater(greater(below, T(-1) - below) - slack(shape, axis), T(0));
    if (around(shape, axis)) {
      // The gap to the nearest image of the layer, which is unknown if indices span the whole axis.
      gap = lesser(gap, greater(static_cast<T>(shape.cells.cells[axis]) - gap - T(1) - 4 * slack(shape, axis), T(0)));
    }
    gap *= shape.cells.edge[axis];
    return gap * gap;
  }

  QUADRAT_HD void part_of_row(const warp_level<T>& shape, const std::uint32_t* offsets, int first, int last,
                              std::uint32_t& begin, std::uint32_t& end) {
    const int n = shape.cells.cells[0];
    if (around(shape, 0)) {
      if (shape.rings) move(shape, first, last);
      if ((flags_ & whole_rows) != 0 || last - first >= n - 1) {
        first = 0;
        last = n - 1;
      } else if (first < 0 || last >= n) {
        // Two parts: inside the box, then beyond the face, wrapped.
        const bool lower = first < 0;
        flags_ ^= second_part;
        if ((flags_ & second_part) != 0) {
          first = greater(first, 0);
          last = lesser(last, n - 1);
        } else {
          first = lower ? first + n : 0;
          last = lower ? n - 1 : last - n;
        }
      }
    } else {
      first = greater(first, 0);
      last = lesser(last, n - 1);
    }
    if (first > last) return;
    cell_id row = static_cast<cell_id>(home(shape, z_, 2)) * static_cast<cell_id>(shape.cells.cells[1]);
    row = shape.cells.first_cell + (row + static_cast<cell_id>(home(shape, y_, 1))) * static_cast<cell_id>(n);
    begin = offsets[row + static_cast<cell_id>(first)];
    end = offsets[row + static_cast<cell_id>(last) + 1];
  }

  /// Moves the cells of a row to their places on the ring, in the frame of the body's row; the first one is inside or
  /// left of it.
  QUADRAT_HD void move(const warp_level<T>& shape, int& first, int& last) const {
    const int n = shape.cells.cells[0];
    int place = first + step(shape, y_, 1);
    if (place >= n) place -= n;
    place += step(shape, z_, 2);
    if (place >= n) place -= n;
    last += place - first;
    first = place;
  }
  [[nodiscard]] QUADRAT_HD int step(const warp_level<T>& shape, int index, int axis) const {
    const row_steps& steps = shape.steps[axis];
    if (index < 0) return (flags_ & first_bit << axis) != 0 ? steps.back_of_first : steps.back;
    if (index < shape.cells.cells[axis]) return 0;
    return (flags_ & last_bit << axis) != 0 ? steps.forth_of_last : steps.forth;
  }

  [[nodiscard]] QUADRAT_HD static int home(const warp_level<T>& shape, int index, int axis) {
    if (Repeats && index < 0) index += shape.cells.cells[axis];
    if (Repeats && index >= shape.cells.cells[axis]) index -= shape.cells.cells[axis];
    return index;
  }

  std::uint32_t first_slot_;
  bool ordered_;  ///< no row can be both before and after another; the same for all bodies
  T squared_reach_;
  T far_slack_ = T(0);  ///< of a position far along an axis without end, in cells
  vec<T, 3> at_;
  int first_y_, last_y_, last_z_;
  int y_, z_;
  /// Flags in one register: for each axis, shifted by it, whether the body is in the first and in the last repeat of
  /// the stored cells; whether rows of several repeats are within reach, so that all their cells can be; and whether
  /// the second part of a row, across a periodic face or the end of a ring, is next.
  int flags_ = 0;
};

}  // namespace quadrat::detail
