// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "mesh/plan_details.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "spectral/transform.hpp"

namespace quadrat::detail {

/// Three axes, as in transform_shape.
struct mesh_extents {
  int axis[3];

  [[nodiscard]] double size() const { return static_cast<double>(axis[0]) * axis[1] * axis[2]; }
};

/// The meshes of all systems.
struct stacked_meshes {
  mesh_extents one;
  mesh_stack stack;
  int first_axis;  ///< along which they follow one another

  /// Mesh points per index along that axis.
  [[nodiscard]] std::size_t layer() const { return static_cast<std::size_t>(one.size()) / along(); }
  [[nodiscard]] std::size_t along() const { return static_cast<std::size_t>(one.axis[first_axis]); }
  /// Mesh points from one mesh to the next.
  [[nodiscard]] std::size_t apart() const { return static_cast<std::size_t>(stack.spacing) * layer(); }
  /// All mesh points, including those between meshes.
  [[nodiscard]] double size() const {
    return stack.systems == 1 ? one.size() : stack.systems * static_cast<double>(apart());
  }
};

/// The modes of a transform, on three axes.
struct nufft_problem {
  int dimension;
  int modes[3];
  double period[3];  ///< by axis of the points
  bool real;
  int systems;
  double most_points = static_cast<double>(max_count);  ///< of the mesh

  /// Modes that are stored along an axis.
  [[nodiscard]] int stored(int axis) const { return real && axis == 2 ? modes[2] / 2 + 1 : modes[axis]; }
  /// The stored modes of all systems.
  [[nodiscard]] std::size_t stored_size() const;
  /// Whether meshes are possible with this oversampling and windows this wide.
  [[nodiscard]] bool fits(double oversampling, int width) const;
  [[nodiscard]] mesh_extents mesh(double oversampling) const;
  /// The least number of mesh points per mode of that mesh, over the axes.
  [[nodiscard]] double mesh_ratio(double oversampling) const;
  [[nodiscard]] stacked_meshes meshes(double oversampling, int width) const;
  [[nodiscard]] transform_shape transform(const mesh_extents& extent) const;
  /// The message about numbers of modes that need too large a mesh.
  [[nodiscard]] std::string too_large() const;
};

/// Throws argument_error for numbers of modes below 1, and for invalid options.
template <int D>
[[nodiscard]] nufft_problem nufft_problem_of(const vec<int, D>& modes, const nufft_options& options);

[[nodiscard]] double checked_tolerance(double tolerance);
/// Throws argument_error for an invalid number of vectors or sign. `usual`: the sign that 0 stands for.
[[nodiscard]] int checked_sign(const nufft_call& call, int usual);

}  // namespace quadrat::detail
