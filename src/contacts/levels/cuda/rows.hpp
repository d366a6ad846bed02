// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "contacts/levels/cuda/search.hpp"
#include "quadrat/core/macros.hpp"

namespace quadrat::detail {

/// The greatest integer not above a number; saturates.
template <typename T>
[[nodiscard]] QUADRAT_HD int floor_of(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) {
    return __float2int_rd(x);
  } else {
    return __double2int_rd(x);
  }
#else
  return static_cast<int>(std::fmin(std::fmax(std::floor(static_cast<double>(x)), -2147483647.0), 2147483647.0));
#endif
}
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
  /// `first` above 0 is for pairs within the level: only slots from there on count, so that each pair is found from one
  /// of its bodies. Rows before the body's row are then left out, unless an axis that goes around has so few cells that
  /// "before" is ambiguous, or `far`: some body is so far along a folded axis that rounding spans cells.
  QUADRAT_HD level_rows(const warp_level<T>& shape, const vec<T, 3>& center, T reach, std::uint32_t first, bool far)
      : first_slot_(first), ordered_(!Repeats || (shape.ordered && !far)) {
    constexpr T up = sizeof(T) == 4 ? T(1 + 4e-6) : T(1 + 8e-15);
    squared_reach_ = reach * reach * up;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int axis = 0; axis < 3; ++axis) {
      at_[axis] = (center[axis] - shape.lower[axis]) * shape.inverse_edge[axis];
      if (Repeats && shape.folded[axis]) fold(shape, axis);
      if (!around(shape, axis)) at_[axis] = lesser(greater(at_[axis], T(0)), static_cast<T>(shape.cells[axis]));
    }
    limit(shape, reach, 1, first_y_, last_y_);
    limit(shape, reach, 2, z_, last_z_);
    y_ = first_y_;
    if (first > 0 && ordered_) {
      y_ = own_index(shape, 1);
      z_ = own_index(shape, 2);
    }
  }

  [[nodiscard]] QUADRAT_HD bool done() const { return z_ > last_z_; }

  /// The slots of the next row; none if the sphere misses it. Must not be called when done.
  QUADRAT_HD void next(const warp_level<T>& shape, const std::uint32_t* offsets, std::uint32_t& begin,
                       std::uint32_t& end) {
    begin = end = 0;
    const T left = squared_reach_ - squared_gap(shape, z_, 2) - squared_gap(shape, y_, 1);
    if (left > T(0)) {
      const T margin = root_above(left) * shape.inverse_edge[0] + slack(shape, 0);
      part_of_row(shape, offsets, floor_of(at_[0] - margin), floor_of(at_[0] + margin), begin, end);
      begin = greater(begin, first_slot_);
      if (Repeats && second_part_) return;
    }
    if (ordered_) first_slot_ = 0;
    if (++y_ <= last_y_) return;
    y_ = first_y_;
    ++z_;
  }

 private:
  [[nodiscard]] QUADRAT_HD static bool around(const warp_level<T>& shape, int axis) {
    return Repeats && shape.repeats[axis];
  }
  /// Moves a coordinate into the stored cells, as level_grids::cell_of does.
  QUADRAT_HD void fold(const warp_level<T>& shape, int axis) {
    far_slack_ = greater(far_slack_, far_slack(at_[axis]));
    at_[axis] = folded_coordinate(at_[axis], shape.cells[axis]);
  }
  [[nodiscard]] QUADRAT_HD T slack(const warp_level<T>& shape, int axis) const {
    return Repeats ? shape.slack[axis] + far_slack_ : shape.slack[axis];
  }

  /// The index of the body's cell, as in level_grids::cell_of, but unwrapped.
  [[nodiscard]] QUADRAT_HD int own_index(const warp_level<T>& shape, int axis) const {
    const int index = floor_of(at_[axis]);
    const bool unwrapped = around(shape, axis) && !shape.folded[axis];
    return unwrapped ? index : lesser(index, shape.cells[axis] - 1);
  }

  /// Unwrapped cells along an axis; if they go all the way around, each cell once.
  QUADRAT_HD void limit(const warp_level<T>& shape, T reach, int axis, int& from, int& to) const {
    const T margin = reach * shape.inverse_edge[axis] + slack(shape, axis);
    const int first = floor_of(at_[axis] - margin);
    const int last = floor_of(at_[axis] + margin);
    const int n = shape.cells[axis];
    const bool all = last - first >= n - 1;
    from = around(shape, axis) ? (all ? 0 : first) : greater(first, 0);
    to = around(shape, axis) ? (all ? n - 1 : last) : lesser(last, n - 1);
  }

  /// A lower bound on the squared distance along an axis from the center to a layer of cells.
  [[nodiscard]] QUADRAT_HD T squared_gap(const warp_level<T>& shape, int index, int axis) const {
    const T below = static_cast<T>(index) - at_[axis];
    T gap = greater(greater(below, T(-1) - below) - slack(shape, axis), T(0));
    if (around(shape, axis)) {
      // To the nearest image of the layer, which is unknown if indices go all the way around.
      gap = lesser(gap, greater(static_cast<T>(shape.cells[axis]) - gap - T(1) - 4 * slack(shape, axis), T(0)));
    }
    gap *= shape.edge[axis];
    return gap * gap;
  }

  QUADRAT_HD void part_of_row(const warp_level<T>& shape, const std::uint32_t* offsets, int first, int last,
                              std::uint32_t& begin, std::uint32_t& end) {
    const int n = shape.cells[0];
    if (around(shape, 0)) {
      if (last - first >= n - 1) {
        first = 0;
        last = n - 1;
      } else if (first < 0 || last >= n) {
        // Two parts: inside the box, then beyond the face, wrapped.
        const bool lower = first < 0;
        second_part_ = !second_part_;
        if (second_part_) {
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
    const cell_id row =
        shape.first_cell +
        (home(shape, z_, 2) * static_cast<cell_id>(shape.cells[1]) + home(shape, y_, 1)) * static_cast<cell_id>(n);
    begin = offsets[row + static_cast<cell_id>(first)];
    end = offsets[row + static_cast<cell_id>(last) + 1];
  }

  [[nodiscard]] QUADRAT_HD static cell_id home(const warp_level<T>& shape, int index, int axis) {
    if (Repeats && index < 0) index += shape.cells[axis];
    if (Repeats && index >= shape.cells[axis]) index -= shape.cells[axis];
    return static_cast<cell_id>(index);
  }

  std::uint32_t first_slot_;
  bool ordered_;  ///< no row can come both before and after another: the same for all bodies
  T squared_reach_;
  T far_slack_ = T(0);  ///< of a position far along a folded axis, in cells
  vec<T, 3> at_;
  int first_y_, last_y_, last_z_;
  int y_, z_;
  bool second_part_ = false;  ///< of a row across a periodic face is next
};

}  // namespace quadrat::detail
