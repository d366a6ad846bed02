// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "search/nearest/cuda/lane_list.cuh"
#include "search/nearest/cuda/likely_reach.cuh"
#include "search/nearest/rows.hpp"

/// The search on a GPU. A warp finds 32 rows that are successive on the curve, a lane for each: it walks the tree once,
/// to the leaves that are within reach of any of them, and each lane tests all points of these leaves.
///
/// Most of the time would be spent on candidates that are near only as long as little has been found. So the rows of
/// points are searched first within a distance at which enough neighbors are likely, by the density around them; the
/// few that are too short are searched again without limit.
///
/// Rows that are not close to each other would make each other's walks longer without end: where a row is far away,
/// many leaves are nearer than what it has found so far. So a warp works in rounds. Each is around one leading row, and
/// takes the rows that are as close to it as neighbors on the curve are there. The others wait for a round of their
/// own.
namespace quadrat::detail {

inline constexpr unsigned nearest_block = 64;
inline constexpr unsigned all_lanes = ~0u;
template <typename T>
inline constexpr T largest_finite = std::numeric_limits<T>::max();

/// Candidates that lanes keep in shared memory until they are merged. Lanes find them in different leaves, and a batch
/// costs as much for one as for all: 16 would take twice as many batches.
template <typename T, typename Key>
struct lane_queues {
  static constexpr int most = 32;
  T squared[most][32];
  Key key[most][32];
};

[[nodiscard]] __device__ inline float warp_maximum(float value) {  // of values that are not negative, or -1
  const int bits = __reduce_max_sync(all_lanes, __float_as_int(value));
  return __int_as_float(bits);
}
[[nodiscard]] __device__ inline double warp_maximum(double value) {
  for (int step = 16; step > 0; step /= 2) value = fmax(value, __shfl_xor_sync(all_lanes, value, step));
  return value;
}

template <typename T, int D>
[[nodiscard]] __device__ vec<T, D> position_of_lane(const vec<T, D>& position, int lane) {
  return make_vec<T, D>([&](int axis) { return __shfl_sync(all_lanes, position[axis], lane); });
}

/// The rows of a warp. All lanes call every function together.
template <typename T, int D, int Capacity, bool Images>
class nearest_group {
  using key_type = nearest_key<Images>;
  using key = typename key_type::type;
  using entry = lane_entry<T, key>;

 public:
  __device__ nearest_group(const nearest_search<T, D>& search, lane_queues<T, key>& queues,
                           const nearest_start<T, D>& start, T squared_reach)
      : search_(search),
        queues_(queues),
        from_(start.from),
        excluded_(key_type::make(start.self, packed_shift(vec<int, D>{}))),
        limited_(squared_reach < search.squared_cutoff),
        squared_limit_(limited_ ? squared_reach : search.squared_cutoff) {}

  /// One round: searches for the rows of some of the lanes that `wait`, at least one. Returns whether this lane's row
  /// has been found.
  [[nodiscard]] __device__ bool find(bool wait) {
    begin(wait);
    if constexpr (Images) {
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
    const nearest_sink<T, D>& sink = search_.sink;
#pragma unroll
    for (int place = 0; place < Capacity; ++place) {
      if (static_cast<std::size_t>(place) >= sink.k) break;
      const std::size_t at = row * sink.k + static_cast<std::size_t>(place);
      const entry& found = list_.entry[place];
      if (found.key() == 0 && !(found.squared() < search_.squared_cutoff)) {
        sink.store_nothing(at);
        continue;
      }
      vec<int, D> shift{};
      if constexpr (Images) shift = unpacked_shift<D>(static_cast<std::uint32_t>(found.key()));
      sink.store(at, key_type::id(found.key()), found.squared(), shift, boxes);
    }
  }

  /// Nodes and leaves that have been tested.
  [[nodiscard]] __device__ std::uint32_t visits() const { return visits_; }

  // For nearest_shells.
  [[nodiscard]] __device__ bool in_reach(T squared) const { return __any_sync(all_lanes, reaches(squared, 0)); }
  __device__ void find_in_image(const vec<int, D>& shift) {
    translation_ = image_translation(search_.images.shape, shift);
    shift_ = packed_shift(shift);
    walk();
  }

 private:
  [[nodiscard]] static __device__ int lane() { return static_cast<int>(threadIdx.x % 32); }
  /// Whether something with this distance and this smallest key can be among the nearest of this lane's row.
  [[nodiscard]] __device__ bool reaches(T squared, key least) const {
    return squared < bound_ || (squared == bound_ && least < bound_key_);
  }
  [[nodiscard]] __device__ bool is_empty(const entry& e) const {
    return e.key() == 0 && !(e.squared() < squared_limit_);
  }
  [[nodiscard]] __device__ int last_place() const { return static_cast<int>(search_.sink.k) - 1; }
  /// From this lane's point; nothing is added where there are no images.
  [[nodiscard]] __device__ T offset_to(T to, int axis) const {
    if constexpr (!Images) return to - from_[axis];
    return image_offset(from_[axis], to, translation_[axis]);
  }

  __device__ void begin(bool wait) {
    choose_members(wait);
    list_.fill(entry::make(squared_limit_, 0));  // nothing at this distance comes before
    count_ = 0;
    for (int axis = 0; axis < D; ++axis) {
      low_[axis] = member_ ? from_[axis] : leader_[axis];
      high_[axis] = low_[axis];
      for (int step = 16; step > 0; step /= 2) {
        const T low = __shfl_xor_sync(all_lanes, low_[axis], step);
        const T high = __shfl_xor_sync(all_lanes, high_[axis], step);
        low_[axis] = low < low_[axis] ? low : low_[axis];
        high_[axis] = high > high_[axis] ? high : high_[axis];
      }
    }
    set_bound();
  }

  /// The leading row is the one in the middle of the warp, or the first that waits. Members are close to it, as
  /// compared with the distance between rows that are near on the curve, which must be about the same for all.
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

  /// Once the leading row has enough neighbors, members must be close to it as compared with these.
  __device__ void choose_again() {
    constexpr T nearness = T(4);
    const entry last = list_.entry[Capacity - 1];
    const bool full = lane() == leader_lane_ && !is_empty(last);
    led_ = __any_sync(all_lanes, full);
    if (!led_) return;
    const T squared = __shfl_sync(all_lanes, last.squared(), leader_lane_);
    member_ = member_ && (from_leader_ <= nearness * nearness * squared || lane() == leader_lane_);
    if (!member_) count_ = 0;
  }

  __device__ void set_bound() {
    const entry last = list_.at(last_place());
    constexpr T most = largest_finite<T>;
    bound_ = member_ ? (last.squared() < most ? last.squared() : most) : T(-1);
    bound_key_ = last.squared() < most ? last.key() : static_cast<key>(~key{0});
    largest_bound_ = warp_maximum(bound_);
  }

  /// Merges up to a batch of each lane's candidates.
  __device__ void merge_batch() {
    const int taken = count_ < lane_batch ? count_ : lane_batch;
    count_ -= taken;
    entry batch[lane_batch];
#pragma unroll
    for (int k = 0; k < lane_batch; ++k) {
      batch[k] = entry::make(nearest_infinity<T>, static_cast<key>(~key{0}));
      if (k >= taken) continue;
      const key found = queues_.key[count_ + k][lane()];
      if (found != excluded_) batch[k] = entry::make(queues_.squared[count_ + k][lane()], found);
    }
    sort_batch(batch);
    list_.merge(batch);
    if (!led_) choose_again();
    set_bound();
  }

  /// Tests the leaves within reach. The code that merges is in one place, and long: more copies of it would not fit the
  /// instruction cache.
  __device__ void walk() {
    if (search_.tree.levels == 0) return;
    const int top = search_.tree.levels - 1;
    level_ = top;
    children_ = 0;
    node_ = 0;
    next_ = top == 0 ? 0 : nearest_width;
    if (top > 0) enter(top, 0);
    for (;;) {
      const nearest_leaf<T, D>* const leaf = next_leaf();
      if (leaf != nullptr) test_leaf(*leaf);
      const int kept = leaf != nullptr ? lane_queues<T, key>::most - static_cast<int>(nearest_width) : 0;
      while (__any_sync(all_lanes, count_ > kept)) merge_batch();
      if (leaf == nullptr) return;
    }
  }

  /// The next leaf within reach of a member, or nullptr. Depth first, the nodes that are near the leading row first,
  /// and the leaves of a node as they are stored.
  [[nodiscard]] __device__ const nearest_leaf<T, D>* next_leaf() {
    const nearest_tree<T, D>& tree = search_.tree;
    for (;;) {
      while (next_ < nearest_width) {
        const unsigned child = next_++;
        if (accepts(tree.node(0, node_), child)) return tree.leaves + node_ * nearest_width + child;
      }
      while (children_ == 0) {
        if (++level_ >= tree.levels) return nullptr;
        children_ = __shfl_sync(all_lanes, pending_, level_);
        index_ /= nearest_width;
      }
      const std::size_t child = (children_ & 15) - 1;
      children_ >>= 4;
      if (!accepts(tree.node(level_, index_), child)) continue;
      const std::size_t below = index_ * nearest_width + child;
      if (level_ == 1) {
        node_ = below;
        next_ = 0;
        ++visits_;
      } else {
        if (lane() == level_) pending_ = children_;
        enter(level_ - 1, below);
      }
    }
  }

  /// Goes on with the children of a node above level 0.
  __device__ void enter(int level, std::size_t index) {
    level_ = level;
    index_ = index;
    children_ = likely_children(search_.tree.node(level, index));
  }

  /// The children whose box is within reach of the box around the members, four bits each: the number and 1, in the
  /// order of their distance from the leading row. A lane for each child.
  [[nodiscard]] __device__ std::uint32_t likely_children(const nearest_node<T, D>& node) {
    ++visits_;
    const auto child = static_cast<unsigned>(lane()) % static_cast<unsigned>(nearest_width);
    const T squared = squared_distance_to(node, child, low_, high_, translation_);
    const T from_leader = squared_distance_to(node, child, leader_, leader_, translation_);
    const bool accepted = squared <= largest_bound_;
    const unsigned some = __ballot_sync(all_lanes, accepted);
    unsigned rank = 0;
#pragma unroll
    for (unsigned other = 0; other < nearest_width; ++other) {
      const T of_other = __shfl_sync(all_lanes, from_leader, static_cast<int>(other));
      const bool before = of_other < from_leader || (of_other == from_leader && other < child);
      rank += (some >> other & 1) != 0 && before ? 1 : 0;
    }
    return __reduce_or_sync(all_lanes, accepted ? (child + 1) << 4 * rank : 0u);
  }

  /// Whether a child's box is within reach of any member.
  [[nodiscard]] __device__ bool accepts(const nearest_node<T, D>& node, std::size_t child) const {
    const T squared = squared_distance_to(node, child, from_, from_, translation_);
    return __any_sync(all_lanes, reaches(squared, key_type::make(node.least[child], shift_)));
  }

  __device__ void test_leaf(const nearest_leaf<T, D>& in_memory) {
    ++visits_;
    const nearest_leaf<T, D> leaf = in_memory;
#pragma unroll
    for (std::size_t place = 0; place < nearest_width; ++place) {
      const T squared =
          squared_separation(make_vec<T, D>([&](int axis) { return offset_to(leaf.at[axis][place], axis); }));
      if (squared <= bound_) {
        queues_.squared[count_][lane()] = squared;
        queues_.key[count_][lane()] = key_type::make(leaf.id[place], shift_);
        ++count_;
      }
    }
  }

  const nearest_search<T, D>& search_;
  lane_queues<T, key>& queues_;
  vec<T, D> from_;
  key excluded_;
  bool limited_;
  T squared_limit_;
  // The round.
  bool member_ = false;
  bool led_ = false;  // whether members have been chosen by what the leading row has found
  int leader_lane_ = 0;
  int count_ = 0;  // of candidates in the queue
  T from_leader_{};
  vec<T, D> leader_{};
  vec<T, D> low_{}, high_{};  // around the members
  T bound_{};                 // the distance of neighbor k; -1 if this lane is not a member
  key bound_key_{};
  T largest_bound_{};  // of all lanes
  // The image that is being searched.
  vec<T, D> translation_{};
  std::uint32_t shift_ = 0;
  // Where the walk is: at children of a node above level 0, and at leaves of one of level 0.
  int level_ = 0;
  std::size_t index_ = 0;
  std::uint32_t children_ = 0;
  std::uint32_t pending_ = 0;  // lane k: children still to be visited of the node above at level k
  std::size_t node_ = 0;
  unsigned next_ = nearest_width;
  std::uint32_t visits_ = 0;
  lane_list<entry, Capacity> list_;
};

template <int Capacity, bool Images, typename T, int D>
__global__ void __launch_bounds__(nearest_block)
    find_nearest_groups(const __grid_constant__ nearest_search<T, D> search, std::size_t rows) {
  using key = typename nearest_key<Images>::type;
  __shared__ lane_queues<T, key> queues[nearest_block / 32];
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * nearest_block + threadIdx.x;
  if (i - threadIdx.x % 32 >= rows) return;  // the whole warp
  const std::size_t own = i < rows ? i : rows - 1;
  const nearest_start<T, D> start(search, own);
  nearest_group<T, D, Capacity, Images> group(search, queues[threadIdx.x / 32], start,
                                              squared_likely_reach(search, own));
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
