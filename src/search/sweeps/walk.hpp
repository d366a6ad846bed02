// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "quadrat/search/lattice/cuboid_grid.hpp"
#include "search/sweeps/lanes.hpp"
#include "search/sweeps/sweeps.hpp"

namespace quadrat::detail {

/// The most points searched together: adjacent slots, at most a cutoff long along a row of cells.
inline constexpr std::uint32_t sweeps_block_points = 32;

template <typename T, int D>
struct sweeps_block {
  std::uint32_t first;
  std::uint32_t last;  ///< one past the last slot
  std::uint32_t level;
  std::uint32_t system;
  const lattice<T, D>* shape;  ///< of the box
};

/// The bounds of a block in the cells of a layer.
template <typename T, int D>
struct sweeps_target {
  cuboid_bounds<T, D> bounds;  ///< of the points
  image_range<D> images;       ///< the S of neighbors
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

  /// `picker`: for candidates with radii, or nullptr.
  sweeps_chunk(const sweeps_search<T, D>& what, pick_lanes_function<T, D> picker)
      : what_(what), pick_(what.slots.boxes == nullptr ? picker : nullptr) {}

  void begin(const sweeps_block<T, D>& block) {
    block_ = block;
    clear();
    if (pick_ != nullptr) find_reach();
  }

  /// Adds the slots of a range; calls flush() whenever the chunk is full.
  template <typename F>
  void add(std::uint32_t slot, std::uint32_t end, const vec<int, D>& shift, F&& flush) {
    while (slot < end) {
      if (segments_ == 0 || !(segment_[segments_ - 1].shift == shift)) {
        close();
        if (size_ < lanes_a_chunk) segment_[segments_++] = {size_, size_, shift, block_.shape->translation(shift)};
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
      pick_ != nullptr ? pick(slot, count) : copy(slot, count);
      slot += count;
    }
  }

  /// Pads the last segment, or drops it if it is empty, because there is room only for segments with candidates.
  void close() {
    if (segments_ == 0) return;
    if (segment_[segments_ - 1].first == size_) {
      --segments_;
      return;
    }
    pad();
    segment_[segments_ - 1].last = size_;
  }

  [[nodiscard]] std::size_t segments() const { return segments_; }
  [[nodiscard]] const segment& operator[](std::size_t k) const { return segment_[k]; }
  [[nodiscard]] const candidate_lanes<T, D>& lanes() const { return lanes_; }
  [[nodiscard]] const particle_id* ids() const { return ids_; }
  /// By lane, if they are kept by slot.
  [[nodiscard]] const vec<int, D>* boxes() const { return boxes_; }
  [[nodiscard]] vec<T, D> position(std::size_t lane) const {
    return make_vec<T, D>([&](int axis) { return lanes_.position[axis][lane]; });
  }
  /// The lane of a point of the block; lanes_a_chunk if it is not in this chunk.
  [[nodiscard]] std::size_t lane_of(std::uint32_t slot) const {
    return slot >= own_first_ && slot < own_last_ ? own_lane_ + (slot - own_first_) : lanes_a_chunk;
  }

 private:
  void pad() {
    const std::size_t end = (size_ + lanes_a_step - 1) / lanes_a_step * lanes_a_step;
    for (int axis = 0; axis < D; ++axis) {
      for (std::size_t k = size_; k < end; ++k) lanes_.position[axis][k] = std::numeric_limits<T>::infinity();
    }
    size_ = end;
  }
  void find_reach() {
    const layer_slots<T, D>& slots = what_.slots;
    for (int axis = 0; axis < D; ++axis) {
      const T* at = slots.coordinates + static_cast<std::size_t>(axis) * slots.stride;
      reach_.lower[axis] = *std::min_element(at + block_.first, at + block_.last);
      reach_.upper[axis] = *std::max_element(at + block_.first, at + block_.last);
    }
    reach_.largest = {*std::max_element(slots.radii + block_.first, slots.radii + block_.last), what_.search.skin};
  }
  void clear() {
    size_ = segments_ = 0;
    own_first_ = own_last_ = 0;
  }
  [[nodiscard]] static bool is_zero(const vec<int, D>& shift) { return shift == vec<int, D>{}; }
  void note_block(std::uint32_t slot, std::uint32_t count, const vec<int, D>& shift) {
    if (!is_zero(shift)) return;
    const std::uint32_t first = std::max(slot, block_.first);
    if (own_first_ == own_last_) {
      own_first_ = first;
      own_lane_ = size_ + (first - slot);
    }
    own_last_ = std::min(slot + count, block_.last);
  }
  /// Copies only the slots within reach of the block, and its own.
  void pick(std::uint32_t slot, std::uint32_t count) {
    const layer_slots<T, D>& slots = what_.slots;
    segment& part = segment_[segments_ - 1];
    const std::uint32_t end = slot + count;
    const bool own = is_zero(part.shift) && slot < block_.last && block_.first < end;
    const slot_run<T> run{slots.coordinates + slot,
                          slots.stride,
                          slots.radii + slot,
                          slots.ids + slot,
                          count,
                          own ? std::max(slot, block_.first) - slot : 0,
                          own ? std::min(end, block_.last) - slot : 0};
    const std::size_t first = size_;
    part.last = size_ = pick_(run, reach_, part.translation, lanes_, ids_, size_);
    if (own && slot <= own_first_) {
      own_lane_ = static_cast<std::size_t>(std::find(ids_ + first, ids_ + size_, slots.ids[own_first_]) - ids_);
    }
  }
  /// Copies whole steps: there is room after the last slot and the last lane.
  void copy(std::uint32_t slot, std::uint32_t count) {
    const layer_slots<T, D>& slots = what_.slots;
    for (int axis = 0; axis < D; ++axis) {
      copy_steps(lanes_.position[axis] + size_,
                 slots.coordinates + static_cast<std::size_t>(axis) * slots.stride + slot, count);
    }
    copy_steps(ids_ + size_, slots.ids + slot, count);
    if (slots.radii != nullptr) copy_steps(lanes_.radius + size_, slots.radii + slot, count);
    if (slots.boxes != nullptr) std::memcpy(boxes_ + size_, slots.boxes + slot, count * sizeof(vec<int, D>));
    size_ += count;
    segment_[segments_ - 1].last = size_;
  }

  template <typename V>
  static void copy_steps(V* to, const V* from, std::uint32_t count) {
    for (std::uint32_t k = 0; k < count; k += lanes_a_step) std::memcpy(to + k, from + k, lanes_a_step * sizeof(V));
  }

  const sweeps_search<T, D>& what_;
  pick_lanes_function<T, D> pick_;
  reach_of_block<T, D> reach_{};
  sweeps_block<T, D> block_{};
  std::size_t size_ = 0;
  std::size_t segments_ = 0;
  std::uint32_t own_first_ = 0, own_last_ = 0;
  std::size_t own_lane_ = 0;
  candidate_lanes<T, D> lanes_;
  particle_id ids_[lanes_a_chunk + ids_beyond];
  vec<int, D> boxes_[lanes_a_chunk];
  segment segment_[lanes_a_chunk / lanes_a_step];
};

/// The ranges of slots that can hold candidates within reach of points: rows of cells, trimmed to the sphere at their
/// least distance. Rounded so that no pair is lost.
template <typename T, int D>
class sweeps_rows {
 public:
  /// `bounds` are bounds of points, or the result of cuboid_grid::seen_from for them.
  sweeps_rows(const search_system<T, D>& cells, const std::uint32_t* offsets, const cuboid_bounds<T, D>& bounds,
              T reach)
      : cells_(cells), offsets_(offsets), lower_(bounds.lower), upper_(bounds.upper), slack_(bounds.slack) {
    // Covers the rounding of a squared distance and of the expressions here.
    squared_reach_ = reach * reach * (T(1) + 32 * std::numeric_limits<T>::epsilon());
    for (int axis = 0; axis < D; ++axis) {
      const T margin = reach * cells.cells_per_length[axis] + slack_[axis], length = upper_[axis] - lower_[axis];
      // Points that are not finite, which the check reports, visit all cells.
      all_ = all_ || !(margin + length / 2 <= cells.distinct[axis]);
      if (cells.cells[axis] == 0) {
        home_ += cells.strides[axis] * cells.take_index(lower_[axis]);
        upper_[axis] = lower_[axis] + length;
      }
      if (axis > 0) range_[axis] = along(axis, margin);
    }
  }

  /// Calls f(first slot, one past the last slot).
  template <typename F>
  void for_each(F&& f) const {
    if (all_) {
      add(0, cells_.count, f);
    } else if constexpr (D == 2) {
      plane(home_, squared_reach_, f);
    } else {
      for (int z = range_[2].first; z <= range_[2].last; ++z) {
        plane(home_ + static_cast<cell_id>(z) * cells_.strides[2], squared_reach_ - squared_gap(z, 2), f);
      }
    }
  }

 private:
  struct indices {
    int first = 0;
    int last = -1;
  };

  /// Empty if the image of the box is out of reach.
  [[nodiscard]] indices along(int axis, T margin) const {
    const indices range{cell_index(lower_[axis] - margin), cell_index(upper_[axis] + margin)};
    const int cells = cells_.cells[axis];
    if (cells == 0) return range;
    if (lower_[axis] - margin > static_cast<T>(cells) || upper_[axis] + margin < T(0)) return {};
    return {clamped_index(range.first, cells_.cells[axis]), clamped_index(range.last, cells_.cells[axis])};
  }

  template <typename F>
  void plane(cell_id number, T rest, F&& f) const {
    for (int y = range_[1].first; y <= range_[1].last; ++y) {
      const T left = rest - squared_gap(y, 1);
      if (!(left > T(0))) continue;
      const indices x = along(0, std::sqrt(left) * cells_.cells_per_length[0] + slack_[0]);
      if (x.first > x.last) continue;
      const cell_id first = static_cast<cell_id>(x.first) + static_cast<cell_id>(y) * cells_.strides[1];
      const cell_id begin = (number + first) & cells_.mask;
      const cell_id count = static_cast<cell_id>(x.last - x.first) + 1, room = cells_.count - begin;
      // The part beyond the end of the stored cells continues at their beginning.
      add(begin, std::min(count, room), f);
      if (count > room) add(0, count - room, f);
    }
  }
  template <typename F>
  void add(cell_id begin, cell_id count, F&& f) const {
    const std::uint32_t slot = offsets_[cells_.first_cell + begin], last = offsets_[cells_.first_cell + begin + count];
    if (slot < last) f(slot, last);
  }

  /// A lower bound on the squared distance along an axis from the points to a layer of cells.
  [[nodiscard]] T squared_gap(int index, int axis) const {
    const T below = static_cast<T>(index) - upper_[axis];
    const T above = lower_[axis] - static_cast<T>(index + 1);
    const T length = std::max(std::max(below, above) - slack_[axis], T(0)) * cells_.edge[axis];
    return length * length;
  }

  const search_system<T, D>& cells_;
  const std::uint32_t* offsets_;
  vec<T, D> lower_, upper_;  ///< of the points; along axes without end, from the cell `home_` on
  vec<T, D> slack_;
  cell_id home_ = 0;
  bool all_ = false;  ///< the range could hold a stored cell twice, so all of them are in it
  T squared_reach_;
  indices range_[D];
};

/// Calls f(S) for each image of a range.
template <int D, typename F>
void for_each_image(const image_range<D>& range, F&& f) {
  vec<int, D> image = range.first;
  for (int axis = 0; axis < D;) {
    if (axis == 0) f(image);
    if (++image[axis] <= range.last[axis]) {
      axis = 0;
    } else {
      image[axis] = range.first[axis];
      ++axis;
    }
  }
}

/// Calls f(first slot, one past the last slot, S) for all ranges that can hold neighbors of a block's points.
template <typename T, int D, typename F>
void for_each_range(const cuboid_grid<T, D>& grid, const std::uint32_t* offsets, const sweeps_target<T, D>& target,
                    T reach, F&& f) {
  for_each_image(target.images, [&](const vec<int, D>& image) {
    const cuboid_bounds<T, D> bounds = grid.seen_from(image, target.bounds);
    sweeps_rows<T, D>(grid.cells, offsets, bounds, reach).for_each([&](std::uint32_t slot, std::uint32_t end) {
      f(slot, end, image);
    });
  });
}

}  // namespace quadrat::detail
