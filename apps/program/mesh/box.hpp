// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "program/box_options.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::program {

/// The box of a mesh, of which the first `dimension` components count.
struct mesh_box {
  vec<double, 3> origin{};
  vec<double, 3> length{1, 1, 1};
  vec<bool, 3> periodic{true, true, true};
  std::string source;    ///< "--box", "Lattice" or "unit box"
  bool assumed = false;  ///< nobody gave it
};

/// The box that the command line gives, else the one that came with the points, else 1 along each axis. Throws
/// argument_error, which names the option, where that cannot be.
[[nodiscard]] mesh_box choose_mesh_box(const box_options& given, const particle_file& particles);

}  // namespace quadrat::program
