// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "program/box_options.hpp"
#include "program/particle_file.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/vec.hpp"

namespace quadrat::program {

/// The box of a search, of which the first `dimension` vectors and components count. In one dimension the second vector
/// spans an open axis, since searches are for 2 and 3 dimensions.
struct search_box {
  vec<double, 3> origin{};
  vec<vec<double, 3>, 3> vectors{};
  vec<bool, 3> periodic{};
  bool accept_outside = false;  ///< whether points may lie outside of open axes
  std::string source;           ///< "--box", "Lattice" or "bounding box"
  std::string place;            ///< the same for messages: "--box", "atoms.xyz:2: Lattice"
};

/// The box that the command line gives, else the one that came with the points, else the one around them. Throws
/// argument_error, which names the option, where that cannot be. No side that is chosen here is shorter than the
/// cutoff.
[[nodiscard]] search_box choose_box(const box_options& given, const particle_file& particles, double cutoff);

/// What --json prints of the box: source, origin, vectors, periodic.
[[nodiscard]] nlohmann::ordered_json as_json(const search_box& box, int dimension);

/// "2 x 2 x 2 (--box), periodic along xyz", with the vectors of a box that is not orthorhombic.
[[nodiscard]] std::string as_text(const search_box& box, int dimension);

/// The box as the library takes it. Throws argument_error that says where the box came from.
template <typename T, int D>
[[nodiscard]] lattice<T, D> lattice_of(const search_box& box) {
  const auto leading = [](const vec<double, 3>& v) {
    return make_vec<T, D>([&](int axis) { return static_cast<T>(v[axis]); });
  };
  try {
    return make_lattice(leading(box.origin),
                        make_vec<vec<T, D>, D>([&](int axis) { return leading(box.vectors[axis]); }),
                        make_vec<bool, D>([&](int axis) { return box.periodic[axis]; }));
  } catch (const argument_error& problem) {
    throw argument_error(message(box.place, ": ", problem.what()));
  }
}

}  // namespace quadrat::program
