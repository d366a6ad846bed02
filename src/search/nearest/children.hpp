// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "search/nearest/tree.hpp"

/// Finds the children of a node that can hold a neighbor, by a CPU's vector instructions.
namespace quadrat::detail {

/// The positions whose neighbors are searched for, and the translation of the current image.
template <typename T, int D>
struct nearest_target {
  vec<T, D> first, last, middle;  ///< of the box around the positions
  vec<T, D> translation;
  T at[D][nearest_width];  ///< the positions
  T worst[nearest_width];  ///< the squared distance of the last neighbor of each position; -1 for unused ones
};

/// Children in order: the likeliest first, as nearest_walk has them.
template <typename T>
struct likely_children {
  alignas(64) T squared[nearest_width];  ///< by child: the squared distance to its box
  std::uint8_t child[nearest_width];
};

/// Finds the children whose squared distance from some position is finite and not above its `worst`. (A box around
/// positions of different scales may be near everything.) Returns their number. Distances equal those of
/// squared_distance_to bit by bit.
template <typename T, int D>
using likely_children_function = unsigned (*)(const nearest_node<T, D>& node, const nearest_target<T, D>& target,
                                              likely_children<T>& result);

/// The variants that this CPU can run, fastest first.
template <typename T, int D>
[[nodiscard]] std::vector<likely_children_function<T, D>> likely_children_functions();

}  // namespace quadrat::detail
