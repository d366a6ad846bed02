// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "search/sweeps/lanes.hpp"
#include "search/sweeps/sweeps.hpp"

namespace quadrat::detail {

/// The most points searched together: adjacent slots, at most a cutoff long along a row of cells.
inline constexpr std::uint32_t sweeps_block_points = 16;

template <typename T, int D>
struct sweeps_block {
  std::uint32_t first;
  std::uint32_t last;  ///< one past the last slot
  vec<T, D> lower;     ///< smallest coordinates of the points, in cells; along folded axes, within the stored cells
  vec<T, D> upper;     ///< largest
  vec<T, D> slack;     ///< largest slack of the points
  vec<int, D> repeat;  ///< of the points near the ends of the stored cells: the same for all of these
};

/// The candidates within reach of a block, in one or more chunks. Candidates of one image form a segment, which begins
/// at a whole step; unused lanes are infinitely far away.
template <typename T, int D>
class sweeps_chunk {
 public:
  struct segment {
    std::size_t first, last;
    vec<int, D> shift;
    vec<T, D> translation;
  };

  sweeps_chunk(const sweeps_search<T, D>& what) : what_(what) {}

  void begin(const search_system<T, D>& system, const sweeps_block<T, D>& block) {
    system_ = &system;
    block_ = block;
    clear();
  }

  /// Adds the slots of a range; calls flush() whenever the chunk is full.
  template <typename F>
  void add(std::uint32_t slot, std::uint32_t end, const vec<int, D>& shift, F&& flush) {
    while (slot < end) {
      if (segments_ == 0 || !(segment_[segments_ - 1].shift == shift)) {
        close();
        if (size_ < lanes_a_chunk) segment_[segments_++] = {size_, size_, shift, system_->shape.translation(shift)};
      }
      if (size_ >= lanes_a_chunk) {
        flush();
        clear();
        continue;
      }
      const auto room = static_cast<std::uint32_t>(lanes_a_chunk - size_);
      const std::uint32_t count = std::min(end - slot, room);
      if (slot <= block_.first && block_.first < slot + count) note_block(slot, count, shift);
      if (slot > block_.first && slot < block_.last) note_block(slot, count, shift);
      copy(slot, count);
      slot += count;
    }
  }

  /// Pads the last segment.
  void close() {
    if (segments_ == 0) return;
    const std::size_t end = (size_ + lanes_a_step - 1) / lanes_a_step * lanes_a_step;
    for (int axis = 0; axis < D; ++axis) {
      for (std::size_t k = size_; k < end; ++k) lanes_.position[axis][k] = std::numeric_limits<T>::infinity();
    }
    segment_[segments_ - 1].last = size_ = end;
  }

  [[nodiscard]] std::size_t segments() const { return segments_; }
  [[nodiscard]] const segment& operator[](std::size_t k) const { return segment_[k]; }
  [[nodiscard]] const candidate_lanes<T, D>& lanes() const { return lanes_; }
  [[nodiscard]] const particle_id* ids() const { return ids_; }
  [[nodiscard]] vec<T, D> position(std::size_t lane) const {
    return make_vec<T, D>([&](int axis) { return lanes_.position[axis][lane]; });
  }
  /// The lane of a point of the block; lanes_a_chunk if it is not in this chunk.
  [[nodiscard]] std::size_t lane_of(std::uint32_t slot) const {
    return slot >= own_first_ && slot < own_last_ ? own_lane_ + (slot - own_first_) : lanes_a_chunk;
  }

 private:
  void clear() {
    size_ = segments_ = 0;
    own_first_ = own_last_ = 0;
  }
  void note_block(std::uint32_t slot, std::uint32_t count, const vec<int, D>& shift) {
    for (int axis = 0; axis < D; ++axis) {
      if (shift[axis] != 0) return;
    }
    own_first_ = std::max(slot, block_.first);
    own_last_ = std::min(slot + count, block_.last);
    own_lane_ = size_ + (own_first_ - slot);
  }
  /// In whole steps: there is room after the last slot and the last lane.
  void copy(std::uint32_t slot, std::uint32_t count) {
    for (int axis = 0; axis < D; ++axis) {
      const T* from = what_.coordinates + static_cast<std::size_t>(axis) * what_.stride + slot;
      T* to = lanes_.position[axis] + size_;
      for (std::uint32_t k = 0; k < count; k += lanes_a_step) std::memcpy(to + k, from + k, lanes_a_step * sizeof(T));
    }
    for (std::uint32_t k = 0; k < count; k += lanes_a_step) {
      std::memcpy(ids_ + size_ + k, what_.ids + slot + k, lanes_a_step * sizeof(particle_id));
    }
    size_ += count;
    segment_[segments_ - 1].last = size_;
  }

  const sweeps_search<T, D>& what_;
  const search_system<T, D>* system_ = nullptr;
  sweeps_block<T, D> block_{};
  std::size_t size_ = 0;
  std::size_t segments_ = 0;
  std::uint32_t own_first_ = 0, own_last_ = 0;
  std::size_t own_lane_ = 0;
  candidate_lanes<T, D> lanes_;
  particle_id ids_[lanes_a_chunk + ids_beyond];
  segment segment_[lanes_a_chunk / lanes_a_step];
};

/// The ranges of slots that can hold candidates within reach of a block: rows of cells, trimmed to the sphere at their
/// least distance. For an orthorhombic box in which no point has two images within reach. Rounded so that no pair is
/// lost.
template <typename T, int D>
class sweeps_rows {
 public:
  sweeps_rows(const search_system<T, D>& system, const std::uint32_t* offsets, const sweeps_block<T, D>& block, T reach)
      : system_(system), offsets_(offsets), block_(block) {
    // Covers the rounding of a squared distance and of the expressions here.
    squared_reach_ = reach * reach * (T(1) + 32 * std::numeric_limits<T>::epsilon());
    for (int axis = 1; axis < D; ++axis) {
      range_[axis] = along(axis, reach * system.cells_per_length[axis] + block.slack[axis]);
    }
  }

  /// Calls f(first slot, one past the last slot, S).
  template <typename F>
  void for_each(F&& f) const {
    vec<int, D> shift{};
    if constexpr (D == 2) {
      plane(0, squared_reach_, shift, f);
    } else {
      for (int z = range_[2].first; z <= range_[2].last; ++z) {
        const cell_id home = home_of(z, 2, shift);
        plane(home * static_cast<cell_id>(system_.cells[1]), squared_reach_ - squared_gap(z, 2), shift, f);
      }
    }
  }

 private:
  struct indices {
    int first = 0;
    int last = 0;
  };

  /// Only invalid points, already reported, reach farther than the neighboring repeats of the stored cells.
  [[nodiscard]] indices along(int axis, T margin) const {
    const int n = system_.cells[axis];
    if (system_.repeats[axis] == 0) {
      const T half = (block_.upper[axis] - block_.lower[axis]) / 2;
      const T middle = block_.lower[axis] + half;
      // One more for the rounding of the middle.
      return {system_.first_of_stored(middle, margin + half + T(1), axis),
              system_.last_of_stored(middle, margin + half + T(1), axis)};
    }
    const int images = system_.shape.periodic[axis] ? 1 : 0;
    return {std::max(search_system<T, D>::unwrapped_index(block_.lower[axis] - margin), -images * n),
            std::min(search_system<T, D>::unwrapped_index(block_.upper[axis] + margin), (1 + images) * n - 1)};
  }

  template <typename F>
  void plane(cell_id first_row, T rest, vec<int, D>& shift, F&& f) const {
    for (int y = range_[1].first; y <= range_[1].last; ++y) {
      const T left = rest - squared_gap(y, 1);
      if (!(left > T(0))) continue;
      const cell_id row = first_row + home_of(y, 1, shift);
      const indices x = along(0, std::sqrt(left) * system_.cells_per_length[0] + block_.slack[0]);
      const int n = system_.cells[0];
      const cell_id begin = system_.first_cell + row * static_cast<cell_id>(n);
      for (int index = x.first; index <= x.last;) {
        const int length = index < 0 ? -1 : (index >= n ? 1 : 0);
        const int home = length * n;
        shift[0] = system_.image_of_repeat(block_.repeat[0] + length, 0);
        const int last = std::min(x.last, home + n - 1);
        const std::uint32_t slot = offsets_[begin + static_cast<cell_id>(index - home)];
        const std::uint32_t end = offsets_[begin + static_cast<cell_id>(last - home) + 1];
        if (slot < end) f(slot, end, shift);
        index = last + 1;
      }
    }
  }

  [[nodiscard]] cell_id home_of(int index, int axis, vec<int, D>& shift) const {
    const int length = index < 0 ? -1 : (index >= system_.cells[axis] ? 1 : 0);
    shift[axis] = system_.image_of_repeat(block_.repeat[axis] + length, axis);
    return static_cast<cell_id>(index - length * system_.cells[axis]);
  }

  /// A lower bound on the squared distance along an axis from the block to a layer of cells.
  [[nodiscard]] T squared_gap(int index, int axis) const {
    const T below = static_cast<T>(index) - block_.upper[axis];
    const T above = block_.lower[axis] - static_cast<T>(index + 1);
    T cells = std::max(below, above);
    if (system_.repeats[axis] == 0) {
      // Where all stored cells are in the range, another repeat of the layer may be nearer.
      const T n = static_cast<T>(system_.cells[axis]);
      cells = std::min(cells, n - T(1) - (block_.upper[axis] - block_.lower[axis]) - std::max(cells, T(0)));
    }
    const T gap = std::max(cells - block_.slack[axis], T(0)) * system_.edge[axis];
    return gap * gap;
  }

  const search_system<T, D>& system_;
  const std::uint32_t* offsets_;
  const sweeps_block<T, D>& block_;
  T squared_reach_;
  indices range_[D];
};

}  // namespace quadrat::detail
