// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::detail {

/// Meshes of several systems, one after another along the first axis, `spacing` mesh points apart: at least the extent
/// of a mesh plus the overhang of a footprint. Footprints do not wrap around along this axis; the caller adds or copies
/// the overhang.
struct mesh_stack {
  int systems = 1;
  int spacing = 0;
};

/// An open axis of a mesh that is a part of a longer one: mesh point 0 is mesh point `first` of `cells`, which lie over
/// `length` from `lower` on. Places of points are then those on the longer mesh, to the last digit.
struct part_of_axis {
  int cells = 0;  ///< 0: not a part
  int first = 0;  ///< may be negative
  double lower = 0, length = 0;
};
struct part_of_mesh {
  part_of_axis axis[3];  ///< of the points
};

/// The way in which a single_mesh compute unit joins its sums.
enum class unit_reduction { shuffle, shared_memory };

/// Settings of a plan, beyond its options, for modules above and for comparisons of the paper's methods.
struct plan_details {
  mesh_stack stack{};
  bool real = false;  ///< whether only real values are spread and interpolated
  part_of_mesh part{};
  int compute_unit = 0;  ///< single_mesh: threads per mesh point, 1, 2, 4, ... 32; 0: the paper's rule
  unit_reduction reduction = unit_reduction::shuffle;  ///< single_mesh
  int group_size = 64;                                 ///< group_mesh: mesh points of a group, 1 to 1024
};

}  // namespace quadrat::detail
