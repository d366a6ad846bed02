// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/parallel/for_each.hpp"
#include "search/clusters/parts.hpp"

/// A tree of bounding boxes over the slots: a box of level k is around 8^k slots. It needs no links, and a search walks
/// it without a stack.
namespace quadrat::detail {

template <typename T, int D>
struct bounding_box {
  vec<T, D> low, high;

  QUADRAT_HD void include(const bounding_box& other) {
    for (int axis = 0; axis < D; ++axis) {
      low[axis] = other.low[axis] < low[axis] ? other.low[axis] : low[axis];
      high[axis] = other.high[axis] > high[axis] ? other.high[axis] : high[axis];
    }
  }
};

/// The relation of a box to the cutoff around a point: outside, undecided, or inside.
enum class box_place { far, near, inside };

template <typename T, int D>
struct box_tree {
  static constexpr int bits = 3;
  static constexpr int most_levels = 10;  // 8^10 slots and more

  const bounding_box<T, D>* boxes;
  int levels;                          ///< 0: there is no tree
  std::size_t first[most_levels + 1];  ///< box of each level, from level 1

  [[nodiscard]] QUADRAT_HD static std::uint32_t width(int level) { return 1u << bits * level; }
  [[nodiscard]] QUADRAT_HD const bounding_box<T, D>& at(int level, std::uint32_t slot) const {
    return boxes[first[level] + (slot >> bits * level)];
  }
  /// The largest level with a box that begins at this slot.
  [[nodiscard]] QUADRAT_HD int level_of(std::uint32_t slot) const {
    int level = 0;
    while (level < levels && slot % width(level + 1) == 0) ++level;
    return level;
  }

  /// inside: all points of the box are linked to the point; far: none is; near: not known. Separations are monotonic in
  /// the position, in floating point too; the margin is for compilers that contract sums of squares in different ways.
  [[nodiscard]] QUADRAT_HD static box_place place(const bounding_box<T, D>& box, const vec<T, D>& point,
                                                  const vec<T, D>& translation, T squared_cutoff) {
    constexpr T margin = sizeof(T) == 4 ? T(2e-6) : T(4e-15);
    vec<T, D> least{}, most{};
    for (int axis = 0; axis < D; ++axis) {
      const T low = (box.low[axis] - point[axis]) + translation[axis];
      const T high = (box.high[axis] - point[axis]) + translation[axis];
      least[axis] = low > T(0) ? low : (high < T(0) ? -high : T(0));
      most[axis] = -low > high ? -low : high;
    }
    if (squared_norm(least) > squared_cutoff * (T(1) + margin)) return box_place::far;
    return squared_norm(most) < squared_cutoff * (T(1) - margin) ? box_place::inside : box_place::near;
  }
};

/// Index: box of the first level.
template <typename T, int D>
struct bound_points {
  const cluster_point<T, D>* points;
  std::size_t count;
  bounding_box<T, D>* boxes;

  QUADRAT_HD void operator()(std::size_t b) const {
    const std::size_t begin = b << box_tree<T, D>::bits, end = (b + 1) << box_tree<T, D>::bits;
    bounding_box<T, D> box{points[begin].position, points[begin].position};
    for (std::size_t k = begin + 1; k < end && k < count; ++k) box.include({points[k].position, points[k].position});
    boxes[b] = box;
  }
};

/// Index: box of a further level.
template <typename T, int D>
struct bound_boxes {
  const bounding_box<T, D>* parts;
  std::size_t count;
  bounding_box<T, D>* boxes;

  QUADRAT_HD void operator()(std::size_t b) const {
    const std::size_t begin = b << box_tree<T, D>::bits, end = (b + 1) << box_tree<T, D>::bits;
    bounding_box<T, D> box = parts[begin];
    for (std::size_t k = begin + 1; k < end && k < count; ++k) box.include(parts[k]);
    boxes[b] = box;
  }
};

/// Builds the tree in `memory`, or, without points, makes room for it only. Asynchronous.
template <typename Context, typename T, int D>
[[nodiscard]] box_tree<T, D> make_box_tree(const Context& context, const cluster_point<T, D>* points, std::size_t count,
                                           array<bounding_box<T, D>, Context>& memory) {
  constexpr int bits = box_tree<T, D>::bits;
  box_tree<T, D> tree{};
  std::size_t counts[box_tree<T, D>::most_levels + 1] = {count};
  std::size_t total = 0;
  while (counts[tree.levels] > 1 && tree.levels < box_tree<T, D>::most_levels) {
    const std::size_t boxes = (counts[tree.levels] + (1u << bits) - 1) >> bits;
    ++tree.levels;
    tree.first[tree.levels] = total;
    counts[tree.levels] = boxes;
    total += boxes;
  }
  memory.resize_discarding(context, total);
  bounding_box<T, D>* const boxes = memory.data();
  tree.boxes = boxes;
  for (int level = 1; points != nullptr && level <= tree.levels; ++level) {
    bounding_box<T, D>* const to = boxes + tree.first[level];
    if (level == 1) {
      for_each(context, "search.clusters.bound_points", counts[1], bound_points<T, D>{points, count, to});
    } else {
      for_each(context, "search.clusters.bound_boxes", counts[level],
               bound_boxes<T, D>{boxes + tree.first[level - 1], counts[level - 1], to});
    }
  }
  return tree;
}

}  // namespace quadrat::detail
