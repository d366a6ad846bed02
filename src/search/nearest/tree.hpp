// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// A bounding-volume hierarchy over points in the order of a Hilbert curve (a packed R-tree: I. Kamel, C. Faloutsos,
/// "On packing R-trees", 1993): eight successive points are a leaf, eight successive leaves or nodes are a node. It is
/// always balanced and its boxes are tight, whatever the distribution of the points.
namespace quadrat::detail {

/// Points in a leaf, and children of a node.
inline constexpr std::size_t nearest_width = 8;
/// Enough for 2^31 points.
inline constexpr int most_nearest_levels = 10;

template <typename T>
inline constexpr T nearest_infinity = std::numeric_limits<T>::infinity();

/// Wrapped positions and ids of eight points. Unused places at the end of the last leaf are infinitely far away.
template <typename T, int D>
struct alignas(32) nearest_leaf {
  T at[D][nearest_width];
  particle_id id[nearest_width];

  [[nodiscard]] QUADRAT_HD vec<T, D> position(std::size_t place) const {
    return make_vec<T, D>([&](int axis) { return at[axis][place]; });
  }
};

/// The bounding boxes and smallest ids of eight children. The boxes of children that do not exist begin at infinity.
template <typename T, int D>
struct alignas(32) nearest_node {
  T low[D][nearest_width];
  T high[D][nearest_width];
  particle_id least[nearest_width];
};

/// Level 0 has nodes of leaves; the highest level has one node.
template <typename T, int D>
struct nearest_tree {
  const nearest_leaf<T, D>* leaves;
  const nearest_node<T, D>* nodes;
  std::size_t first_node[most_nearest_levels];  ///< of each level
  int levels;                                   ///< 0 if there are no points
  std::size_t points;

  [[nodiscard]] QUADRAT_HD const nearest_node<T, D>& node(int level, std::size_t index) const {
    return nodes[first_node[level] + index];
  }
};

/// The separation from a row's position to an image of a point, as in neighbor_search. It is monotonic in `to` also in
/// floating point, so the value at a face of a box bounds those of the points inside.
template <typename T>
[[nodiscard]] QUADRAT_HD T image_offset(T from, T to, T translation) {
  return (to - from) + translation;
}

/// a + b * c, rounded as everywhere in this search: bounds and distances must agree in every bit. Always fused on a
/// GPU, where the compiler would fuse in some places only; never on a CPU.
template <typename T>
[[nodiscard]] QUADRAT_HD T sum_with_product(T a, T b, T c) {
#if defined(__CUDA_ARCH__)
  return std::fma(b, c, a);
#else
  return a + b * c;
#endif
}

/// The squared length of a separation.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD T squared_separation(const vec<T, D>& r) {
  T sum = r[0] * r[0];
  for (int axis = 1; axis < D; ++axis) sum = sum_with_product(sum, r[axis], r[axis]);
  return sum;
}

/// One component of the shortest separation from positions between two bounds to positions between `low` and `high`.
template <typename T>
[[nodiscard]] QUADRAT_HD T offset_between(T first, T last, T low, T high, T translation) {
  const T above = image_offset(last, low, translation);
  const T below = -image_offset(first, high, translation);
  const T largest = above > below ? above : below;
  return largest > T(0) ? largest : T(0);
}

/// The squared distance from a box of positions to the box of a child: never more than that between points inside.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD T squared_distance_to(const nearest_node<T, D>& node, std::size_t child,
                                               const vec<T, D>& first, const vec<T, D>& last,
                                               const vec<T, D>& translation) {
  return squared_separation(make_vec<T, D>([&](int axis) {
    return offset_between(first[axis], last[axis], node.low[axis][child], node.high[axis][child], translation[axis]);
  }));
}

/// The same for all children, side by side for vector units.
template <typename T, int D>
QUADRAT_HD void squared_distances_to(const nearest_node<T, D>& node, const vec<T, D>& first, const vec<T, D>& last,
                                     const vec<T, D>& translation, T (&squared)[nearest_width]) {
  QUADRAT_UNROLL
  for (int axis = 0; axis < D; ++axis) {
    QUADRAT_UNROLL
    for (std::size_t child = 0; child < nearest_width; ++child) {
      const T length =
          offset_between(first[axis], last[axis], node.low[axis][child], node.high[axis][child], translation[axis]);
      squared[child] = axis == 0 ? length * length : sum_with_product(squared[child], length, length);
    }
  }
}

/// The squared distance from a position to the farthest corner of a child's box.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD T squared_distance_to_corner(const nearest_node<T, D>& node, std::size_t child,
                                                      const vec<T, D>& from, const vec<T, D>& translation) {
  return squared_separation(make_vec<T, D>([&](int axis) {
    const T low = std::fabs(image_offset(from[axis], node.low[axis][child], translation[axis]));
    const T high = std::fabs(image_offset(from[axis], node.high[axis][child], translation[axis]));
    return low > high ? low : high;
  }));
}

/// The leaf reached by descending to the nearest child of each node.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD std::uint32_t leaf_towards(const nearest_tree<T, D>& tree, const vec<T, D>& position) {
  std::uint32_t index = 0;
  for (int level = tree.levels - 1; level >= 0; --level) {
    const nearest_node<T, D>& node = tree.node(level, index);
    T squared[nearest_width];
    squared_distances_to(node, position, position, vec<T, D>{}, squared);
    std::uint32_t nearest = 0;
    for (std::uint32_t child = 1; child < nearest_width; ++child) {
      if (squared[child] < squared[nearest]) nearest = child;
    }
    index = index * static_cast<std::uint32_t>(nearest_width) + nearest;
  }
  return index;
}

/// Calls visitor.leaf(index) for the leaves that can hold a neighbor, the likely ones first.
/// `accepts(squared distance, smallest id)` says which boxes can, and may become stricter after any leaf. The searched
/// positions lie between `first` and `last`.
template <typename T, int D, typename Visitor>
class nearest_walk {
 public:
  QUADRAT_HD nearest_walk(const nearest_tree<T, D>& tree, const vec<T, D>& first, const vec<T, D>& last,
                          const vec<T, D>& translation, Visitor& visitor)
      : tree_(tree),
        first_(first),
        last_(last),
        middle_(make_vec<T, D>([&](int axis) { return first[axis] + (last[axis] - first[axis]) / 2; })),
        translation_(translation),
        visitor_(visitor) {}

  QUADRAT_HD void visit() {
    std::uint32_t pending[most_nearest_levels];  // children still to be visited, of the nodes above
    int level = tree_.levels - 1;
    std::size_t index = 0;
    std::uint32_t children = likely_children(tree_.node(level, index));
    for (;;) {
      while (children == 0) {
        if (++level == tree_.levels) return;
        children = pending[level];
        index /= nearest_width;
      }
      const std::size_t child = (children & 15) - 1;
      children >>= 4;
      if (!accepts(tree_.node(level, index), child)) continue;
      const std::size_t below = index * nearest_width + child;
      if (level == 0) {
        visitor_.leaf(below);
      } else {
        pending[level] = children;
        --level;
        index = below;
        children = likely_children(tree_.node(level, index));
      }
    }
  }

 private:
  /// The children that can hold a neighbor, likeliest first, four bits each: the child's number plus 1. The likeliest
  /// child is the nearest one. Among several that contain the position, it is the one whose farthest corner is nearest,
  /// so that large boxes of leaves with a stray point come last.
  [[nodiscard]] QUADRAT_HD std::uint32_t likely_children(const nearest_node<T, D>& node) {
    visitor_.node();
    T squared[nearest_width], farthest[nearest_width];
    squared_distances_to(node, first_, last_, translation_, squared);
    bool accepted[nearest_width];
    QUADRAT_UNROLL
    for (std::size_t child = 0; child < nearest_width; ++child) {
      accepted[child] = visitor_.accepts(squared[child], node.least[child]);
      farthest[child] =
          accepted[child] ? squared_distance_to_corner(node, child, middle_, translation_) : nearest_infinity<T>;
    }
    std::uint32_t children = 0;
    QUADRAT_UNROLL
    for (std::size_t child = 0; child < nearest_width; ++child) {
      if (!accepted[child]) continue;
      unsigned rank = 0;
      QUADRAT_UNROLL
      for (std::size_t other = 0; other < nearest_width; ++other) {
        const bool as_far = farthest[other] < farthest[child] || (farthest[other] == farthest[child] && other < child);
        const bool before = squared[other] < squared[child] || (squared[other] == squared[child] && as_far);
        rank += accepted[other] && before ? 1 : 0;
      }
      children |= static_cast<std::uint32_t>(child + 1) << 4 * rank;
    }
    return children;
  }

  [[nodiscard]] QUADRAT_HD bool accepts(const nearest_node<T, D>& node, std::size_t child) const {
    return visitor_.accepts(squared_distance_to(node, child, first_, last_, translation_), node.least[child]);
  }

  const nearest_tree<T, D>& tree_;
  vec<T, D> first_, last_, middle_;
  vec<T, D> translation_;
  Visitor& visitor_;
};

}  // namespace quadrat::detail
