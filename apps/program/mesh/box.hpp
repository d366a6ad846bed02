// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "program/box_options.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::program {

/// The box of a mesh. Only the first `dimension` components are used.
struct mesh_box {
  vec<double, 3> origin{};
  vec<double, 3> length{1, 1, 1};
  vec<bool, 3> periodic{true, true, true};
  std::string source;    ///< "--box", "Lattice" or "unit box"
  bool assumed = false;  ///< true if neither the user nor the file gave it
};

/// The box of the command line, else the one of the points' file, else the unit box. Throws argument_error that names
/// the option if that is impossible.
[[nodiscard]] mesh_box choose_mesh_box(const box_options& given, const particle_file& particles);

}  // namespace quadrat::program
