// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::detail {

/// Meshes of several systems, one after another along the first axis, each `spacing` mesh points from the next: at
/// least the mesh's extent and what a footprint reaches beyond it. A footprint does not wrap around there: what passes
/// the end of a mesh is left to the caller, who adds or copies it.
struct mesh_stack {
  int systems = 1;
  int spacing = 0;
};

/// How a single_mesh compute unit joins its sums.
enum class unit_reduction { shuffle, shared_memory };

/// What modules above ask of a plan besides its options, and what comparisons of the paper's methods vary.
struct plan_details {
  mesh_stack stack{};
  int compute_unit = 0;  ///< single_mesh: threads per mesh point, 1, 2, 4, ... 32; 0: the paper's rule
  unit_reduction reduction = unit_reduction::shuffle;  ///< single_mesh
  int group_size = 64;                                 ///< group_mesh: mesh points of a group, 1 to 1024
};

}  // namespace quadrat::detail
