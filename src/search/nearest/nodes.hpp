// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "search/nearest/order.hpp"
#include "search/nearest/tree.hpp"

/// Leaves and nodes of a tree, from points in their order.
namespace quadrat::detail {

/// Copies one point into its leaf, or fills an unused place.
template <typename T, int D>
struct fill_nearest_leaves {
  const particle_id* ids;
  const vec<T, D>* wrapped;
  std::size_t count;
  nearest_leaf<T, D>* leaves;

  QUADRAT_HD void operator()(std::size_t i) const {
    nearest_leaf<T, D>& leaf = leaves[i / nearest_width];
    const std::size_t place = i % nearest_width;
    const bool used = i < count;
    const vec<T, D> point = used ? wrapped[ids[i]] : vec<T, D>::filled(nearest_infinity<T>);
    for (int axis = 0; axis < D; ++axis) leaf.at[axis][place] = point[axis];
    leaf.id[place] = used ? ids[i] : no_particle;
  }
};

/// A child's box and smallest id: an element of a node.
template <typename T, int D>
QUADRAT_HD void store_nearest_child(nearest_node<T, D>& node, std::size_t place, const nearest_bounds<T, D>& box,
                                    particle_id least) {
  for (int axis = 0; axis < D; ++axis) {
    node.low[axis][place] = box.low[axis];
    node.high[axis][place] = box.high[axis];
  }
  node.least[place] = least;
}

/// A child of a node of level 0, or an unused place of one.
template <typename T, int D>
struct bound_nearest_leaves {
  const nearest_leaf<T, D>* leaves;
  std::size_t count;  ///< of points
  nearest_node<T, D>* nodes;

  QUADRAT_HD void operator()(std::size_t child) const {
    nearest_bounds<T, D> box = nearest_bounds<T, D>::none();
    particle_id least = no_particle;
    for (std::size_t place = 0; place < nearest_width && child * nearest_width + place < count; ++place) {
      const nearest_leaf<T, D>& leaf = leaves[child];
      box.add({leaf.position(place), leaf.position(place)});
      least = leaf.id[place] < least ? leaf.id[place] : least;
    }
    store_nearest_child(nodes[child / nearest_width], child % nearest_width, box, least);
  }
};

/// The same for a higher level.
template <typename T, int D>
struct bound_nearest_nodes {
  const nearest_node<T, D>* below;
  std::size_t count;  ///< of nodes below
  nearest_node<T, D>* nodes;

  QUADRAT_HD void operator()(std::size_t child) const {
    nearest_bounds<T, D> box = nearest_bounds<T, D>::none();
    particle_id least = no_particle;
    for (std::size_t place = 0; place < nearest_width && child < count; ++place) {
      const nearest_node<T, D>& node = below[child];
      box.add({make_vec<T, D>([&](int axis) { return node.low[axis][place]; }),
               make_vec<T, D>([&](int axis) { return node.high[axis][place]; })});
      least = node.least[place] < least ? node.least[place] : least;
    }
    store_nearest_child(nodes[child / nearest_width], child % nearest_width, box, least);
  }
};

}  // namespace quadrat::detail
