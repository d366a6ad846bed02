// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "parallel/warp_reduce.cuh"
#include "search/nearest/cuda/lane_list.cuh"
#include "search/nearest/cuda/likely_reach.cuh"
#include "search/nearest/cuda/shared.cuh"
#include "search/nearest/cuda/write.cuh"
#include "search/nearest/rows.hpp"

/// The search on a GPU. A warp finds 32 successive rows on the curve, one per lane. It walks the tree once, to
/// the leaves within reach of any of these rows, and each lane tests all points of these leaves. The warp
/// tests a node in one step: each lane compares the box of one child with the box around a quarter of the
/// rows. Above level 0 each lane then compares the child with its own row, so that a crowd between the rows
/// costs little.
///
/// Most time would go to candidates that are near only while few neighbors have been found. So the rows of points are
/// searched first within a distance at which enough neighbors are likely, judging by the density around them. The few
/// rows that are too short are searched again without limit.
///
/// Rows far from each other would lengthen each other's walks without bound: for a distant row, many leaves
/// are nearer than the neighbors found so far. So a warp works in rounds. Each round has one leading row, and
/// takes the rows that are as close to it as neighbors on the curve are there. The other rows wait for a later
/// round.
namespace quadrat::detail {

inline constexpr unsigned nearest_block = 64;
inline constexpr unsigned all_lanes = ~0u;
template <typename T>
inline constexpr T largest_finite = std::numeric_limits<T>::max();

template <typename T, int D>
[[nodiscard]] __device__ vec<T, D> position_of_lane(const vec<T, D>& position, int lane) {
  return make_vec<T, D>([&](int axis) { return __shfl_sync(all_lanes, position[axis], lane); });
}

/// The rows of a warp. All lanes call each function together.
template <typename T, int D, int Capacity, nearest_keys Keys>
class nearest_group {
  using key_type = nearest_key<Keys>;
  using key = typename key_type::type;
  using entry = lane_entry<T, key>;
  using shared_type = nearest_shared<T, D, key>;
  using staged_point = typename shared_type::staged_point;

 public:
  __device__ nearest_group(const nearest_search<T, D>& search, shared_type& shared, const nearest_start<T, D>& start,
                           T squared_reach)
      : search_(search),
        shared_(shared),
        from_(start.from),
        excluded_(key_type::make(search.images, start.self, key_type::image(search.images, vec<int, D>{}))),
        limited_(squared_reach < search.squared_cutoff),
        squared_limit_(limited_ ? squared_reach : search.squared_cutoff) {}

  /// One round: finds the rows of at least one of the lanes that `wait`. Returns whether this lane's row has been
  /// found.
  [[nodiscard]] __device__ bool find(bool wait) {
    begin(wait);
    if constexpr (Keys != nearest_keys::ids) {
      nearest_shells<T, D, nearest_group>(search_.images, low_, high_, *this).visit();
    } else {
      find_in_image(vec<int, D>{});
    }
    if (!member_) return false;
    const bool complete = !limited_ || !is_empty(list_.at(last_place()));
    limited_ = false;
    squared_limit_ = search_.squared_cutoff;
    return complete;
  }

  __device__ void write(std::size_t row, const vec<int, D>& boxes) const {
    write_nearest_row<Keys>(search_, list_, row, boxes);
  }

  /// Nodes and leaves that have been tested.
  [[nodiscard]] __device__ std::uint32_t visits() const { return visits_; }

  // For nearest_shells.
  [[nodiscard]] __device__ bool in_reach(T squared) const { return __any_sync(all_lanes, reaches(squared, 0)); }
  __device__ void find_in_image(const vec<int, D>& shift) {
    translation_ = image_translation(search_.images.shape, shift);
    image_ = key_type::image(search_.images, shift);
    walk();
  }

 private:
  [[nodiscard]] static __device__ int lane() { return static_cast<int>(threadIdx.x % 32); }
  /// Whether something with this distance and this smallest key can be among the nearest of this lane's row.
  [[nodiscard]] __device__ bool reaches(T squared, key least) const {
    return squared < bound_ || (squared == bound_ && least < bound_key_);
  }
  [[nodiscard]] __device__ bool is_empty(const entry& e) const { return is_vacant(e, squared_limit_); }
  [[nodiscard]] __device__ int last_place() const { return static_cast<int>(search_.sink.k) - 1; }
  /// The offset from this lane's point. Without images, no translation is added.
  [[nodiscard]] __device__ T offset_to(T to, int axis) const {
    if constexpr (Keys == nearest_keys::ids) return to - from_[axis];
    return image_offset(from_[axis], to, translation_[axis]);
  }

  __device__ void begin(bool wait) {
    choose_members(wait);
    list_.fill(entry::make(squared_limit_, 0));  // nothing at this distance comes before
    count_ = 0;
    bound_members();
    set_bound();
  }

  /// The boxes around the members of each quarter, and around all. A quarter without members has an empty box.
  __device__ void bound_members() {
    for (int axis = 0; axis < D; ++axis) {
      T low = member_ ? from_[axis] : nearest_infinity<T>, high = member_ ? from_[axis] : -nearest_infinity<T>;
      for (int step = 1; step < 32; step *= 2) {
        if (step == static_cast<int>(nearest_width)) {
          quarter_low_[axis] = low;
          quarter_high_[axis] = high;
        }
        const T other_low = __shfl_xor_sync(all_lanes, low, step), other_high = __shfl_xor_sync(all_lanes, high, step);
        low = other_low < low ? other_low : low;
        high = other_high > high ? other_high : high;
      }
      low_[axis] = low;
      high_[axis] = high;
    }
  }

  /// The leading row is the one in the middle of the warp, or the first that waits. Members are close to it, compared
  /// with the distance between neighbors on the curve, which must be similar for all members.
  __device__ void choose_members(bool wait) {
    constexpr T nearness = T(4), likeness = T(1) / 16;
    const unsigned waiting = __ballot_sync(all_lanes, wait);
    leader_lane_ = (waiting >> 16 & 1) != 0 ? 16 : __ffs(static_cast<int>(waiting)) - 1;
    leader_ = position_of_lane(from_, leader_lane_);
    from_leader_ = squared_norm(from_ - leader_);
    const T half = squared_norm(position_of_lane(from_, lane() ^ 4) - from_);
    const T leaf = squared_norm(position_of_lane(from_, lane() ^ 8) - from_);
    const T spacing = half > leaf ? half : leaf;
    const T of_leader = __shfl_sync(all_lanes, spacing, leader_lane_);
    const bool leader_limited = __shfl_sync(all_lanes, limited_ ? 1 : 0, leader_lane_) != 0;
    member_ = wait && limited_ == leader_limited && from_leader_ <= nearness * nearness * of_leader &&
              spacing >= likeness * likeness * of_leader;
    member_ = member_ || lane() == leader_lane_;
    led_ = leader_limited;  // nothing is far away then
  }

  /// Once the leading row has enough neighbors, members must be close to it compared with their distance.
  __device__ void choose_again() {
    constexpr T nearness = T(4);
    const entry last = list_.entry[Capacity - 1];
    const bool full = lane() == leader_lane_ && !is_empty(last);
    led_ = __any_sync(all_lanes, full);
    if (!led_) return;
    const T squared = __shfl_sync(all_lanes, last.squared(), leader_lane_);
    member_ = member_ && (from_leader_ <= nearness * nearness * squared || lane() == leader_lane_);
    if (!member_) count_ = 0;
    bound_members();
  }

  __device__ void set_bound() {
    const entry last = list_.at(last_place());
    constexpr T most = largest_finite<T>;
    bound_ = member_ ? (last.squared() < most ? last.squared() : most) : T(-1);
    bound_key_ = last.squared() < most ? last.key() : static_cast<key>(~key{0});
    quarter_bound_ = bound_;
    quarter_key_ = bound_key_;
    for (int step = 1; step < static_cast<int>(nearest_width); step *= 2) {
      const T other = __shfl_xor_sync(all_lanes, quarter_bound_, step);
      const key other_key = __shfl_xor_sync(all_lanes, quarter_key_, step);
      const bool farther = other > quarter_bound_ || (other == quarter_bound_ && other_key > quarter_key_);
      quarter_bound_ = farther ? other : quarter_bound_;
      quarter_key_ = farther ? other_key : quarter_key_;
    }
  }

  /// Merges up to a batch of each lane's candidates.
  __device__ void merge_batch() {
    const int taken = count_ < lane_batch ? count_ : lane_batch;
    count_ -= taken;
    entry batch[lane_batch];
#pragma unroll
    for (int k = 0; k < lane_batch; ++k) {
      const entry found = shared_.queue[count_ + k][lane()];  // inside the queue, maybe not a candidate of this lane
      const bool valid = k < taken && found.key() != excluded_;
      batch[k] = valid ? found : entry::make(nearest_infinity<T>, static_cast<key>(~key{0}));
    }
    sort_batch(batch);
    list_.merge(batch);
    if (!led_) choose_again();
    set_bound();
  }

  /// Tests the leaves within reach. The long merge code occurs only once, because copies would not fit the instruction
  /// cache.
  __device__ void walk() {
    if (search_.tree.levels == 0) return;
    const int top = search_.tree.levels - 1;
    level_ = top;
    children_ = 0;
    leaves_ = 0;
    if (top == 0) enter_leaves(0);
    if (top > 0) enter(top, 0);
    unsigned staged = 0;
    for (unsigned tested = 0;;) {
      if (tested == staged) {
        staged = stage_leaves();
        tested = 0;
      }
      const bool more = tested < staged;
      if (more) test_leaf(shared_.points[tested++]);
      const int kept = more ? shared_type::most - static_cast<int>(nearest_width) : 0;
      while (__any_sync(all_lanes, count_ > kept)) merge_batch();
      if (!more) return;
    }
  }

  /// Loads the next leaves within reach, a point with each lane. Returns their number, 0 after the last.
  [[nodiscard]] __device__ unsigned stage_leaves() {
    const unsigned slot = static_cast<unsigned>(lane()) / nearest_width,
                   place = static_cast<unsigned>(lane()) % nearest_width;
    unsigned count = 0;
    std::size_t own = 0;
    for (; count < shared_type::leaves && (leaves_ != 0 || next_node()); ++count) {
      if (slot == count) own = node_ * nearest_width + static_cast<unsigned>(__ffs(static_cast<int>(leaves_)) - 1);
      leaves_ &= leaves_ - 1;
    }
    visits_ += count;
    __syncwarp();
    if (slot < count) {
      const nearest_leaf<T, D>& leaf = search_.tree.leaves[own];
      shared_.points[slot][place] = {leaf.position(place), leaf.id[place]};
    }
    __syncwarp();
    return count;
  }

  /// Goes to the next node of level 0 with leaves within reach: depth first, nodes near the leading row first. Returns
  /// false after the last.
  [[nodiscard]] __device__ bool next_node() {
    const nearest_tree<T, D>& tree = search_.tree;
    for (;;) {
      while (children_ == 0) {
        if (++level_ >= tree.levels) return false;
        children_ = __shfl_sync(all_lanes, pending_, level_);
        index_ /= nearest_width;
      }
      const std::size_t child = (children_ & 15) - 1;
      children_ >>= 4;
      const std::size_t below = index_ * nearest_width + child;
      if (!accepts(tree.node(level_, index_), child)) continue;
      if (level_ == 1) {
        enter_leaves(below);
        if (leaves_ != 0) return true;
      } else {
        if (lane() == level_) pending_ = children_;
        enter(level_ - 1, below);
      }
    }
  }

  /// Continues with the leaves of a node of level 0.
  __device__ void enter_leaves(std::size_t node) {
    ++visits_;
    node_ = node;
    leaves_ = near_children(search_.tree.node(0, node));
  }

  /// Continues with the children of a node above level 0.
  __device__ void enter(int level, std::size_t index) {
    level_ = level;
    index_ = index;
    children_ = likely_children(search_.tree.node(level, index));
  }

  /// The children whose box is within reach of the members of a quarter, a bit each. A lane for each child and quarter.
  [[nodiscard]] __device__ unsigned near_children(const nearest_node<T, D>& node) const {
    const auto child = static_cast<unsigned>(lane()) % static_cast<unsigned>(nearest_width);
    const T squared = squared_distance_to(node, child, quarter_low_, quarter_high_, translation_);
    const bool near =
        squared < quarter_bound_ ||
        (squared == quarter_bound_ && key_type::make(search_.images, node.least[child], image_) < quarter_key_);
    unsigned some = __ballot_sync(all_lanes, near);
    some |= some >> 2 * nearest_width;
    some |= some >> nearest_width;
    return some & 0xffu;
  }

  /// The same, four bits each: the number and 1, in the order of their distance from the leading row.
  [[nodiscard]] __device__ std::uint32_t likely_children(const nearest_node<T, D>& node) {
    ++visits_;
    const auto child = static_cast<unsigned>(lane()) % static_cast<unsigned>(nearest_width);
    const unsigned some = near_children(node);
    const T from_leader = squared_distance_to(node, child, leader_, leader_, translation_);
    unsigned rank = 0;
#pragma unroll
    for (unsigned other = 0; other < nearest_width; ++other) {
      const T of_other = __shfl_sync(all_lanes, from_leader, static_cast<int>(other));
      const bool before = of_other < from_leader || (of_other == from_leader && other < child);
      rank += (some >> other & 1) != 0 && before ? 1 : 0;
    }
    return warp_or((some >> child & 1) != 0 ? (child + 1) << 4 * rank : 0u);
  }

  /// Whether a child's box is within reach of any member.
  [[nodiscard]] __device__ bool accepts(const nearest_node<T, D>& node, std::size_t child) const {
    const T squared = squared_distance_to(node, child, from_, from_, translation_);
    return __any_sync(all_lanes, reaches(squared, key_type::make(search_.images, node.least[child], image_)));
  }

  /// Adds the points of a leaf that are within reach to the queue. It loads half a leaf at a time, because the compiler
  /// does not move loads before stores.
  __device__ void test_leaf(const staged_point (&points)[nearest_width]) {
    constexpr std::size_t half = nearest_width / 2;
#pragma unroll
    for (std::size_t first = 0; first < nearest_width; first += half) {
      staged_point to[half];
#pragma unroll
      for (std::size_t k = 0; k < half; ++k) to[k] = points[first + k];
#pragma unroll
      for (std::size_t k = 0; k < half; ++k) {
        const T squared = squared_separation(make_vec<T, D>([&](int axis) { return offset_to(to[k].at[axis], axis); }));
        if (squared <= bound_) {
          shared_.queue[count_][lane()] = entry::make(squared, key_type::make(search_.images, to[k].id, image_));
          ++count_;
        }
      }
    }
  }

  const nearest_search<T, D>& search_;
  shared_type& shared_;
  vec<T, D> from_;
  key excluded_;
  bool limited_;
  T squared_limit_;
  // The state of the round.
  bool member_ = false;
  bool led_ = false;  // whether members have been chosen by the leading row's neighbors
  int leader_lane_ = 0;
  int count_ = 0;  // of candidates in the queue
  T from_leader_{};
  vec<T, D> leader_{};
  vec<T, D> low_{}, high_{};  // around the members
  T bound_{};                 // the distance of neighbor k; -1 if this lane is not a member
  key bound_key_{};
  // For the members among eight lanes: their bounding box, and the largest distance that one of them searches.
  vec<T, D> quarter_low_{}, quarter_high_{};
  T quarter_bound_{};
  key quarter_key_{};
  // The image that is being searched.
  vec<T, D> translation_{};
  std::uint32_t image_ = 0;  // in keys
  // The position of the walk: children of a node above level 0, and leaves of a node of level 0.
  int level_ = 0;
  std::size_t index_ = 0;
  std::uint32_t children_ = 0;
  std::uint32_t pending_ = 0;  // lane k: children still to be visited of the node above at level k
  std::size_t node_ = 0;
  unsigned leaves_ = 0;  // leaves of the node still to be tested, a bit each
  std::uint32_t visits_ = 0;
  lane_list<entry, Capacity> list_;
};

template <int Capacity, nearest_keys Keys, typename T, int D>
__global__ void __launch_bounds__(nearest_block)
    find_nearest_groups(const __grid_constant__ nearest_search<T, D> search, std::size_t rows) {
  using key = typename nearest_key<Keys>::type;
  __shared__ nearest_shared<T, D, key> shared[nearest_block / 32];
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * nearest_block + threadIdx.x;
  if (i - threadIdx.x % 32 >= rows) return;  // the whole warp
  const std::size_t own = i < rows ? i : rows - 1;
  const nearest_start<T, D> start(search, own);
  nearest_group<T, D, Capacity, Keys> group(search, shared[threadIdx.x / 32], start, squared_likely_reach(search, own));
  if (i < rows && !start.possible) {
    for (std::size_t place = 0; place < search.sink.k; ++place)
      search.sink.store_nothing(start.row * search.sink.k + place);
  }
  bool wait = i < rows && start.possible;
  while (__any_sync(all_lanes, wait)) {
    const bool found = group.find(wait);
    if (found) group.write(start.row, start.boxes);
    wait = wait && !found;
  }
  if (search.visits != nullptr && threadIdx.x % 32 == 0) search.visits[i / 32] = group.visits();
}

}  // namespace quadrat::detail
