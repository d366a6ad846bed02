// SPDX-License-Identifier: BSD-3-Clause
#include "search/nearest/batch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "search/nearest/children.hpp"
#include "search/nearest/insert.hpp"
#include "search/sweeps/lanes.hpp"

namespace quadrat::detail {

namespace {

/// Candidates tested together: enough to amortize the calls, and few enough to shrink the reach early.
constexpr std::size_t nearest_batch_candidates = most_nearest_candidates;

/// Floats without images have short keys.
template <typename T, nearest_keys Keys>
using nearest_list_of =
    std::conditional_t<std::is_same_v<T, float> && Keys != nearest_keys::wide, packed_nearest_list, nearest_list>;

template <typename T, int D, nearest_keys Keys>
struct nearest_functions {
  test_lanes_function<T, D> test;
  insert_nearest_function<nearest_list_of<T, Keys>> insert;
  likely_children_function<T, D> children;
};

/// The rows of the points of one leaf.
template <typename T, int D, nearest_keys Keys>
class nearest_batch {
  using key_type = nearest_key<Keys>;
  using key = typename key_type::type;

 public:
  nearest_batch(const nearest_search<T, D>& search, const nearest_functions<T, D, Keys>& functions)
      : search_(search), k_(search.sink.k), groups_(nearest_groups(k_)), functions_(functions) {}

  void find(std::size_t leaf) {
    begin(leaf);
    if constexpr (Keys != nearest_keys::ids) {
      nearest_shells<T, D, nearest_batch>(search_.images, low_, high_, *this).visit();
    } else {
      find_in_image(vec<int, D>{});
    }
    write(leaf);
    if (search_.visits != nullptr) search_.visits[leaf] = visits_;
  }

  // For nearest_shells.
  [[nodiscard]] bool in_reach(T squared) const { return reaches(squared, 0); }
  void find_in_image(const vec<int, D>& shift) {
    target_.translation = image_translation(search_.images.shape, shift);
    image_ = key_type::image(search_.images, shift);
    home_ = shift == vec<int, D>{};
    walk();
    flush();
  }

 private:
  /// Like nearest_walk: depth first, likely children first. A child's distance is computed once.
  void walk() {
    const nearest_tree<T, D>& tree = search_.tree;
    struct visited_node {
      std::size_t index;
      unsigned next, count;
      likely_children<T> children;
    } path[most_nearest_levels];
    const auto enter = [&](int level, std::size_t index) {
      visited_node& here = path[level];
      ++visits_;
      here.index = index;
      here.next = 0;
      here.count = functions_.children(tree.node(level, index), target_, here.children);
    };
    enter(tree.levels - 1, 0);
    for (int level = tree.levels - 1; level < tree.levels;) {
      visited_node& here = path[level];
      if (here.next == here.count) {
        ++level;
        continue;
      }
      const std::size_t child = here.children.child[here.next++];
      // Closer neighbors may have been found since the walk entered the node.
      const particle_id least = tree.node(level, here.index).least[child];
      if (!reaches(here.children.squared[child], key_type::make(search_.images, least, image_))) continue;
      const std::size_t below = here.index * nearest_width + child;
      if (level == 0) {
        collect(below);
      } else {
        enter(--level, below);
      }
    }
  }

  void collect(std::size_t index) {
    const nearest_leaf<T, D>& leaf = search_.tree.leaves[index];
    ++visits_;
    for (int axis = 0; axis < D; ++axis) {
      std::copy_n(leaf.at[axis], nearest_width, candidates_.position[axis] + size_);
    }
    std::copy_n(leaf.id, nearest_width, ids_ + size_);
    size_ += nearest_width;
    if (size_ >= enough_) flush();
  }

  void begin(std::size_t leaf) {
    const nearest_leaf<T, D>& points = search_.tree.leaves[leaf];
    count_ = std::min(nearest_width, search_.tree.points - leaf * nearest_width);
    low_ = high_ = points.position(0);
    for (std::size_t q = 0; q < count_; ++q) {
      from_[q] = points.position(q);
      self_[q] = search_.include_self ? no_particle : points.id[q];
      rows_[q].clear(groups_, search_.squared_cutoff);
      for (int axis = 0; axis < D; ++axis) {
        low_[axis] = std::min(low_[axis], from_[q][axis]);
        high_[axis] = std::max(high_[axis], from_[q][axis]);
        target_.at[axis][q] = from_[q][axis];
      }
    }
    target_.first = low_;
    target_.last = high_;
    target_.middle = make_vec<T, D>([&](int axis) { return low_[axis] + (high_[axis] - low_[axis]) / 2; });
    // The first batch is small. It gives a reach that saves inserting most others.
    enough_ = std::min(groups_ * nearest_group + nearest_width, nearest_batch_candidates);
    find_worst();
  }

  /// Finds the farthest k-th neighbor of all rows.
  void find_worst() {
    worst_ = squared(0, k_ - 1);
    worst_key_ = found(0, k_ - 1);
    for (std::size_t q = 0; q < nearest_width; ++q) target_.worst[q] = q < count_ ? squared(q, k_ - 1) : T(-1);
    for (std::size_t q = 1; q < count_; ++q) {
      if (reaches(squared(q, k_ - 1), found(q, k_ - 1))) continue;
      worst_ = squared(q, k_ - 1);
      worst_key_ = found(q, k_ - 1);
    }
  }
  [[nodiscard]] T squared(std::size_t q, std::size_t place) const { return static_cast<T>(rows_[q].squared_at(place)); }
  [[nodiscard]] key found(std::size_t q, std::size_t place) const { return static_cast<key>(rows_[q].key_at(place)); }
  [[nodiscard]] bool reaches(T squared, key least) const {
    return squared < worst_ || (squared == worst_ && least < worst_key_);
  }

  void flush() {
    if (size_ == 0) return;
    for (std::size_t q = 0; q < count_; ++q) test_all(q);
    size_ = 0;
    enough_ = nearest_batch_candidates;
    find_worst();
  }

  /// Tests all candidates against one point, and inserts those no farther than its last neighbor.
  void test_all(std::size_t q) {
    const T limit = std::nextafter(squared(q, k_ - 1), std::numeric_limits<T>::infinity());
    std::uint64_t words[nearest_batch_candidates / 64];
    if (functions_.test(candidates_, 0, size_, from_[q], target_.translation, limit, words) == 0) return;
    typename nearest_list_of<T, Keys>::candidates near;
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < size_; begin += 64) {
      for (std::uint64_t word = words[begin / 64]; word != 0; word &= word - 1) {
        const std::size_t lane = begin + static_cast<std::size_t>(std::countr_zero(word));
        const T distance = squared_separation(make_vec<T, D>([&](int axis) {
          return image_offset(from_[q][axis], candidates_.position[axis][lane], target_.translation[axis]);
        }));
        near.put(count, distance, key_type::make(search_.images, ids_[lane], image_));
        count += home_ && ids_[lane] == self_[q] ? 0 : 1;
      }
    }
    functions_.insert(near, count, rows_[q], groups_);
  }

  void write(std::size_t leaf) const {
    const nearest_sink<T, D>& sink = search_.sink;
    for (std::size_t q = 0; q < count_; ++q) {
      const std::size_t row = search_.tree.leaves[leaf].id[q];
      const vec<int, D> boxes = sink.boxes != nullptr ? sink.boxes[row] : vec<int, D>{};
      for (std::size_t place = 0; place < k_; ++place) {
        const key found_key = found(q, place);
        if (found_key == 0 && !(squared(q, place) < search_.squared_cutoff)) {
          sink.store_nothing(row * k_ + place);
          continue;
        }
        sink.store(row * k_ + place, key_type::id(search_.images, found_key), squared(q, place),
                   key_type::shift(search_.images, found_key), boxes);
      }
    }
  }

  candidate_lanes<T, D> candidates_;
  nearest_list_of<T, Keys> rows_[nearest_width];
  const nearest_search<T, D>& search_;
  std::size_t k_;
  std::size_t groups_;
  nearest_functions<T, D, Keys> functions_;
  std::size_t count_ = 0;  // of points
  std::size_t size_ = 0;   // of candidates
  std::size_t enough_ = nearest_batch_candidates;
  key worst_key_ = 0;
  T worst_ = T(0);
  vec<T, D> low_{}, high_{};
  nearest_target<T, D> target_{};
  vec<T, D> from_[nearest_width];
  particle_id self_[nearest_width];
  particle_id ids_[nearest_batch_candidates];
  std::uint32_t visits_ = 0;  // of nodes and leaves
  std::uint32_t image_ = 0;   // in keys
  bool home_ = false;
};

/// Every eighth index does one leaf. With one index per row, small sets also use all threads.
template <typename T, int D, nearest_keys Keys>
struct find_nearest_leaf {
  nearest_search<T, D> search;
  nearest_functions<T, D, Keys> functions;

  void operator()(std::size_t row) const {
    if (row % nearest_width == 0) nearest_batch<T, D, Keys>(search, functions).find(row / nearest_width);
  }
};

template <nearest_keys Keys, typename T, int D>
void find_leaves(const cpu_context& context, const nearest_search<T, D>& search) {
  static const nearest_functions<T, D, Keys> functions{test_lanes_functions<T, D>().front(),
                                                       insert_nearest_functions<nearest_list_of<T, Keys>>().front(),
                                                       likely_children_functions<T, D>().front()};
  for_each(context, "nearest.leaves_of_rows", search.tree.points, find_nearest_leaf<T, D, Keys>{search, functions});
}

}  // namespace

template <typename T, int D>
void find_nearest_rows_by_leaves(const cpu_context& context, const nearest_search<T, D>& search) {
  switch (keys_of(search)) {
    case nearest_keys::ids:
      return find_leaves<nearest_keys::ids>(context, search);
    case nearest_keys::numbered:
      return find_leaves<nearest_keys::numbered>(context, search);
    case nearest_keys::wide:
      return find_leaves<nearest_keys::wide>(context, search);
  }
}

template void find_nearest_rows_by_leaves(const cpu_context&, const nearest_search<float, 2>&);
template void find_nearest_rows_by_leaves(const cpu_context&, const nearest_search<float, 3>&);
template void find_nearest_rows_by_leaves(const cpu_context&, const nearest_search<double, 2>&);
template void find_nearest_rows_by_leaves(const cpu_context&, const nearest_search<double, 3>&);

}  // namespace quadrat::detail
