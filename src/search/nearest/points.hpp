// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/finite.hpp"
#include "core/point_checks.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"
#include "search/nearest/halves.hpp"
#include "search/nearest/images.hpp"
#include "search/nearest/nodes.hpp"
#include "search/nearest/order.hpp"
#include "search/nearest/tree.hpp"

namespace quadrat::detail {

/// The two buffers of key-value pairs of a sort.
template <typename Context, typename Key>
struct nearest_pairs {
  array<Key, Context> keys[2];
  array<std::uint32_t, Context> values[2];

  void resize(const Context& context, std::size_t count) {
    for (int copy = 0; copy < 2; ++copy) {
      keys[copy].resize_discarding(context, count);
      values[copy].resize_discarding(context, count);
    }
  }
  [[nodiscard]] sort_buffers<Key> buffers() {
    return {{keys[0].data(), keys[1].data()}, {values[0].data(), values[1].data()}};
  }
  [[nodiscard]] std::size_t bytes() const {
    return keys[0].bytes() + keys[1].bytes() + values[0].bytes() + values[1].bytes();
  }
};

/// The first element at fault, as `index << 8 | kind`; all ones if there is none.
struct nearest_faults {
  std::uint64_t point = ~std::uint64_t{0};
  std::uint64_t query = ~std::uint64_t{0};
  [[nodiscard]] bool operator==(const nearest_faults&) const = default;
};

/// A copy of points, wrapped and in their order, with the tree over them. Owns the words that the device writes and the
/// host reads: faults of points and of queries.
template <typename Context, typename T, int D>
class nearest_points {
 public:
  using bounds_type = nearest_bounds<T, D>;

  nearest_points(const Context& context, const nearest_images<T, D>& images, bool keeps_boxes)
      : context_(context), images_(images), keeps_boxes_(keeps_boxes && images.any()), control_(context, words) {
    images_.bounds = bounds();
    clear_faults(fault_word);
    clear_faults(query_fault_word);
  }

  /// Throws data_error for the first point at fault. Synchronizes.
  void build(const points_view<T, D>& points);
  /// Leaves errors to first_faults(). Uses the kind of order that the last build chose, in its memory. Throws
  /// argument_error, before anything changes, for more points than in that build.
  void build_async(const points_view<T, D>& points);

  [[nodiscard]] const nearest_tree<T, D>& tree() const { return tree_; }
  [[nodiscard]] const nearest_images<T, D>& images() const { return images_; }
  /// By point: boxes from the wrapped to the caller's position; nullptr if not needed.
  [[nodiscard]] const vec<int, D>* boxes() const { return keeps_boxes_ ? boxes_.data() : nullptr; }
  /// An order in which successive queries are near each other. Reports invalid queries. Asynchronous.
  [[nodiscard]] const std::uint32_t* enqueue_query_order(const points_view<T, D>& queries);
  void forget_queries() { clear_faults(query_fault_word); }
  /// The first invalid point, and the first invalid query since forget_queries, as `index << 8 | kind`; all ones if
  /// there is none. Synchronizes.
  [[nodiscard]] nearest_faults first_faults() {
    const std::uint64_t* const read = read_control();
    return {read[fault_word], read[query_fault_word]};
  }
  /// The message about invalid point i of an array: "point 3 at (...) ...". Synchronizes.
  [[nodiscard]] std::string complaint(const points_view<T, D>& points, const char* what, std::size_t i) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// The bounding box of the points, in the context's memory.
  [[nodiscard]] bounds_type* bounds() { return reinterpret_cast<bounds_type*>(control_.data() + bounds_word); }

  enum word : std::size_t {
    fault_word,
    needed_word,
    crowded_word,
    query_fault_word,
    query_needed_word,
    query_unused_word,
    bounds_word,
    words = bounds_word + (sizeof(bounds_type) + 7) / 8
  };

  [[nodiscard]] fault_flag faults(word first) { return {control_.data() + first, control_.data() + first + 1}; }
  /// Also clears the word after the faults.
  void clear_faults(word first) {
    fill_bytes(context_, control_.data() + first, 0xff, sizeof(std::uint64_t));
    fill_bytes(context_, control_.data() + first + 1, 0, 2 * sizeof(std::uint64_t));
  }
  void enqueue_order(const points_view<T, D>& points);
  void enqueue_halves();
  void enqueue_division(std::size_t half, const array<particle_id, Context>& from, array<particle_id, Context>& to);
  void enqueue_tree();
  [[nodiscard]] const std::uint64_t* read_control() { return mirror_.read(context_, control_.data(), words); }

  Context context_;
  nearest_images<T, D> images_;
  bool keeps_boxes_;
  std::size_t count_ = 0;
  std::size_t room_ = 0;  // points that build_async can take
  array<std::uint64_t, Context> control_;
  host_mirror<Context> mirror_;
  array<vec<T, D>, Context> wrapped_;  // by id
  array<vec<int, D>, Context> boxes_;  // by id
  nearest_pairs<Context, std::uint32_t> pairs_;
  const particle_id* ids_ = nullptr;  // in their order, until the tree has them
  bool crowded_ = false;
  // For crowds (order of halves):
  nearest_pairs<Context, decltype(ordered_bits(T()))> axis_pairs_;
  array<particle_id, Context> lists_[2];
  array<std::uint8_t, Context> upper_;
  array<std::uint32_t, Context> upper_counts_;

  array<nearest_leaf<T, D>, Context> leaves_;
  array<nearest_node<T, D>, Context> nodes_;
  nearest_tree<T, D> tree_{};
  workspace<Context> scratch_;
};

template <typename Context, typename T, int D>
void nearest_points<Context, T, D>::build(const points_view<T, D>& points) {
  require_points(points, "points");
  count_ = points.count;
  tree_ = {};
  enqueue_order(points);
  const std::uint64_t* const read = read_control();
  if (read[fault_word] != ~std::uint64_t{0}) {
    const std::uint64_t i = read[fault_word] >> 8;
    throw data_error(complaint(points, "point ", i), i);
  }
  crowded_ = is_crowded(read[crowded_word], count_);
  if (crowded_) enqueue_halves();
  enqueue_tree();
  room_ = crowded_ ? count_ : std::max(room_, count_);
}

template <typename Context, typename T, int D>
void nearest_points<Context, T, D>::build_async(const points_view<T, D>& points) {
  require_points(points, "points");
  require(points.count <= room_, "there are ", points.count, " points, and build_async has memory for ", room_,
          "; call build first, which makes room for more");
  count_ = points.count;
  tree_ = {};
  enqueue_order(points);
  if (crowded_) enqueue_halves();
  enqueue_tree();
}

template <typename Context, typename T, int D>
void nearest_points<Context, T, D>::enqueue_order(const points_view<T, D>& points) {
  wrapped_.resize_discarding(context_, count_);
  if (keeps_boxes_) boxes_.resize_discarding(context_, count_);
  pairs_.resize(context_, count_);
  clear_faults(fault_word);
  for_each(context_, "nearest.wrap", count_,
           wrap_nearest_points<T, D>{points, images_.shape, wrapped_.data(), keeps_boxes_ ? boxes_.data() : nullptr,
                                     faults(fault_word)});
  reduce_into(context_, "nearest.bounds", count_, nearest_bounds_of_point<T, D>{wrapped_.data()}, join_nearest_bounds{},
              bounds_type::none(), bounds(), scratch_);
  for_each(context_, "nearest.keys", count_,
           key_nearest_points<T, D>{wrapped_.data(), bounds(), pairs_.keys[0].data()});
  const int copy =
      sort_pairs(context_, pairs_.buffers(), count_, D * nearest_curve_bits<D>, scratch_, sort_values::index);
  ids_ = pairs_.values[copy].data();
  reduce_into(context_, "nearest.crowds", count_,
              mark_nearest_crowds<T, D>{pairs_.keys[copy].data(), ids_, wrapped_.data()}, plus_operation{},
              std::uint64_t{0}, control_.data() + crowded_word, scratch_);
}

template <typename Context, typename T, int D>
void nearest_points<Context, T, D>::enqueue_halves() {
  for (auto& lists : lists_) lists.resize_discarding(context_, D * count_);
  upper_.resize_discarding(context_, count_);
  upper_counts_.resize_discarding(context_, D * count_);
  axis_pairs_.resize(context_, count_);
  for (int axis = 0; axis < D; ++axis) {
    for_each(context_, "nearest.axis_keys", count_,
             key_nearest_axis<T, D>{wrapped_.data(), axis, axis_pairs_.keys[0].data()});
    const int copy = sort_pairs(context_, axis_pairs_.buffers(), count_, 8 * sizeof(T), scratch_, sort_values::index);
    copy_bytes(context_, axis_pairs_.values[copy].data(), lists_[0].data() + static_cast<std::size_t>(axis) * count_,
               count_ * sizeof(particle_id));
  }
  std::size_t half = nearest_width;
  while (2 * half < count_) half *= 2;
  int from = 0;
  for (; half >= nearest_width; half /= 2, from = 1 - from) enqueue_division(half, lists_[from], lists_[1 - from]);
  ids_ = lists_[from].data();
}

/// Divides blocks into halves of this size.
template <typename Context, typename T, int D>
void nearest_points<Context, T, D>::enqueue_division(std::size_t half, const array<particle_id, Context>& from,
                                                     array<particle_id, Context>& to) {
  const nearest_blocks<T, D> blocks{wrapped_.data(), from.data(), count_, half};
  std::uint32_t* const counts = upper_counts_.data();
  for_each(context_, "nearest.upper_halves", count_, mark_upper_halves<T, D>{blocks, upper_.data()});
  for_each(context_, "nearest.upper_counts", D * count_, count_upper_halves{from.data(), upper_.data(), counts});
  for (std::size_t list = 0; list < D; ++list) {
    exclusive_scan(context_, counts + list * count_, counts + list * count_, count_, scratch_);
  }
  for_each(context_, "nearest.halves", D * count_,
           divide_halves{from.data(), count_, half, upper_.data(), counts, to.data()});
}

template <typename Context, typename T, int D>
const std::uint32_t* nearest_points<Context, T, D>::enqueue_query_order(const points_view<T, D>& queries) {
  pairs_.resize(context_, queries.count);
  for_each(context_, "nearest.query_keys", queries.count,
           key_nearest_queries<T, D>{queries, images_.shape, tree_, crowded_ ? nullptr : bounds(),
                                     pairs_.keys[0].data(), faults(query_fault_word)});
  const int copy =
      sort_pairs(context_, pairs_.buffers(), queries.count, D * nearest_curve_bits<D>, scratch_, sort_values::index);
  return pairs_.values[copy].data();
}

template <typename Context, typename T, int D>
void nearest_points<Context, T, D>::enqueue_tree() {
  tree_.points = count_;
  if (count_ == 0) return;
  constexpr std::size_t width = nearest_width;
  const std::size_t leaf_count = (count_ + width - 1) / width;
  std::size_t node_count = 0;
  std::size_t level_count = leaf_count;
  do {
    level_count = (level_count + width - 1) / width;
    tree_.first_node[tree_.levels++] = node_count;
    node_count += level_count;
  } while (level_count > 1);
  leaves_.resize_discarding(context_, leaf_count);
  nodes_.resize_discarding(context_, node_count);
  tree_.leaves = leaves_.data();
  tree_.nodes = nodes_.data();
  for_each(context_, "nearest.leaves", leaf_count * width,
           fill_nearest_leaves<T, D>{ids_, wrapped_.data(), count_, leaves_.data()});
  level_count = (leaf_count + width - 1) / width;
  for_each(context_, "nearest.nodes", level_count * width,
           bound_nearest_leaves<T, D>{leaves_.data(), count_, nodes_.data()});
  for (int level = 1; level < tree_.levels; ++level) {
    const std::size_t below = level_count;
    level_count = (below + width - 1) / width;
    for_each(context_, "nearest.nodes", level_count * width,
             bound_nearest_nodes<T, D>{nodes_.data() + tree_.first_node[level - 1], below,
                                       nodes_.data() + tree_.first_node[level]});
  }
}

template <typename Context, typename T, int D>
std::string nearest_points<Context, T, D>::complaint(const points_view<T, D>& points, const char* what,
                                                     std::size_t i) const {
  const vec<T, D> point = point_to_host(context_, points, i);
  const std::string text = message(what, i, " at ", vector_text(point));
  if (!is_finite(point)) return text + " has a coordinate that is not finite";
  constexpr int most = lattice<T, D>::most_boxes;
  for (int axis = 0; axis < D; ++axis) {
    const T fraction = images_.shape.fraction(point, axis);
    if (!images_.shape.periodic[axis] || std::fabs(fraction) <= T(most)) continue;
    return message(text, " is ", fraction, " periods away along axis ", axis, "; at most ", most, " are possible");
  }
  return text + " was not finite or too far outside of its box when it was searched for";
}

template <typename Context, typename T, int D>
std::size_t nearest_points<Context, T, D>::bytes() const {
  return control_.bytes() + wrapped_.bytes() + boxes_.bytes() + pairs_.bytes() + axis_pairs_.bytes() +
         lists_[0].bytes() + lists_[1].bytes() + upper_.bytes() + upper_counts_.bytes() + leaves_.bytes() +
         nodes_.bytes() + scratch_.bytes();
}

}  // namespace quadrat::detail
