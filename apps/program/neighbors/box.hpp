// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "program/neighbors/options.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::program {

/// The box of a search, of which the first `dimension` vectors and components count.
struct search_box {
  vec<double, 3> origin{};
  vec<vec<double, 3>, 3> vectors{};
  vec<bool, 3> periodic{};
  bool accept_outside = false;  ///< whether points may lie outside of open axes
  std::string source;           ///< "--box", "Lattice" or "bounding box"
  std::string place;            ///< the same for messages: "--box", "atoms.xyz:2: Lattice"
};

/// The box that the command line gives, else the one that came with the points, else the one around them. Throws
/// argument_error, which names the option, where that cannot be.
[[nodiscard]] search_box choose_box(const neighbors_options& options, const particle_file& particles);

}  // namespace quadrat::program
